import type { WorkShares } from '../../../shared/database/work-shares.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { waitAfter } from '../back-off.ts';
import { type MessageDependencies, postpone, type QueuedWork, sendMessage } from '../messages.ts';
import { LEASE_MS } from '../organization-shares.ts';
import type { Mail, MailStore } from './mail-store.ts';
import { mayStillRead, type RecipientDependencies } from './recipients.ts';
import { MailRejected, type SendEmail } from './send-email.ts';

export interface MailDependencies extends MessageDependencies {
  mails: MailStore;
  /** Undefined if email is not configured. */
  sendEmail: SendEmail | undefined;
  recipients: RecipientDependencies | undefined;
  shares: WorkShares;
}

interface SendDependencies {
  sendEmail: SendEmail;
  recipients: RecipientDependencies;
}

const sendAgain = (deps: MailDependencies, { organization, id }: Mail, dueAtMs: number): Promise<void> =>
  sendMessage(deps, { organization, mail: id, due_at: dueAtMs });

const retry = async (deps: MailDependencies, claimed: Mail, error: unknown): Promise<void> => {
  const waitMs = error instanceof MailRejected ? undefined : waitAfter(claimed.begun, deps.random());
  const { id, organization } = claimed;
  logError(waitMs === undefined ? 'mail_failed' : 'mail_delayed', error, { mail: id, organization });
  if (waitMs === undefined) {
    await deps.mails.change(claimed, { state: 'failed' });
    return;
  }
  const dueAt = deps.now() + waitMs;
  await deps.mails.change(claimed, { next_attempt_at: dueAt });
  await sendAgain(deps, claimed, dueAt);
};

const send = async (deps: MailDependencies & SendDependencies, mail: Mail, nowMs: number): Promise<void> => {
  const leasedUntil = nowMs + LEASE_MS;
  const claimed = await deps.mails.change(mail, { begun: mail.begun + 1, next_attempt_at: leasedUntil });
  if (!claimed) return sendAgain(deps, mail, leasedUntil);
  const { id, organization } = claimed;
  if (!(await mayStillRead(deps.recipients, claimed))) {
    await deps.mails.change(claimed, { state: 'withheld' });
    logInfo('mail_withheld', { mail: id, organization });
    return;
  }
  try {
    await deps.sendEmail(claimed);
  } catch (error) {
    return retry(deps, claimed, error);
  }
  await deps.mails.change(claimed, { state: 'sent' });
  logInfo('mail_sent', { mail: id, organization });
};

/**
 * Sends a pending email when it is due. After a crash between SES's reply and the change of the row, it is sent twice:
 * email has no idempotency keys.
 */
export const sendMail = async (deps: MailDependencies, message: Extract<QueuedWork, { mail: string }>): Promise<void> => {
  const mail = await deps.mails.find(message.organization, message.mail);
  const { sendEmail, recipients } = deps;
  if (mail?.state !== 'pending' || !sendEmail || !recipients) return;
  const nowMs = deps.now();
  if (mail.next_attempt_at > nowMs) return sendAgain(deps, mail, mail.next_attempt_at);
  const isDone = await deps.shares.use(mail.organization, () => send({ ...deps, sendEmail, recipients }, mail, nowMs));
  if (!isDone) await postpone(deps, message);
};
