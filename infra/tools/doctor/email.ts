import { GetAccountCommand, type SESv2Client } from '@aws-sdk/client-sesv2';
import { ok, type Row, skipped, warning } from './row.ts';

const CHECK = 'email';

/** Reports if SES is still in its sandbox, where each account begins and only verified addresses get email. */
export const emailRow = async (client: SESv2Client, from: string | undefined): Promise<Row> => {
  if (from === undefined)
    return skipped(CHECK, 'notifications.emailFrom is not set', 'Set it if invoices, budgets and tickets are to be emailed.');
  const { ProductionAccessEnabled, SendingEnabled, SendQuota } = await client.send(new GetAccountCommand());
  if (SendingEnabled !== true)
    return warning(CHECK, 'SES does not send for this account', 'Look at the account dashboard of SES in this region for the reason.');
  if (ProductionAccessEnabled !== true)
    return warning(CHECK, 'SES is in its sandbox: only verified addresses get email', 'Request production access in SES, in this region.');
  return ok(CHECK, `up to ${SendQuota?.Max24HourSend ?? 0} a day`);
};
