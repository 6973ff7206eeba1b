import { BadRequestException, MessageRejected, SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const MAX_SDK_ATTEMPTS = 2;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

/** SES will never accept this email. */
export class MailRejected extends Error {}

/** Sends a plain-text email. @throws MailRejected; the SDK's errors for temporary failures */
export type SendEmail = (mail: { to: string; subject: string; text: string; reply_to?: string | undefined }) => Promise<void>;

/**
 * SES (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html).
 * @param from an address that SES has verified
 */
export const createSendEmail = (from: string): SendEmail => {
  const client = new SESv2Client({
    maxAttempts: MAX_SDK_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    }),
  });
  const text = (Data: string) => ({ Data, Charset: 'UTF-8' });
  return async (mail) => {
    const email = {
      FromEmailAddress: from,
      Destination: { ToAddresses: [mail.to] },
      ...(mail.reply_to !== undefined && { ReplyToAddresses: [mail.reply_to] }),
      Content: { Simple: { Subject: text(mail.subject), Body: { Text: text(mail.text) } } },
    };
    try {
      await client.send(new SendEmailCommand(email));
    } catch (error) {
      if (error instanceof MessageRejected || error instanceof BadRequestException) throw new MailRejected(error.message, { cause: error });
      throw error;
    }
  };
};
