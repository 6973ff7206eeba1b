import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import type { Mailbox } from '../mail/mailbox.ts';

const MAX_REQUEST_BYTES = 1024 * 1024;
const SEND_EMAIL = '/v2/email/outbound-emails';

export interface SesEmulator {
  url: string;
  close(): Promise<void>;
}

const Text = z.object({ Data: z.string().min(1) });
const SendEmail = z.object({
  FromEmailAddress: z.email(),
  Destination: z.object({ ToAddresses: z.array(z.email()).min(1).max(50) }),
  Content: z.object({ Simple: z.object({ Subject: Text, Body: z.object({ Text }) }) }),
});

interface Answer {
  status: number;
  body: object;
  errorType?: string;
}

/**
 * Starts an emulator of SES with the call SendEmail for plain text
 * (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html). It writes the emails to the mailbox
 * instead of sending them.
 */
export const startSes = async (mailbox: Mailbox): Promise<SesEmulator> => {
  const server = createServer((request, response) => {
    answerTo(mailbox, request).then(
      ({ status, body, errorType }) => {
        const headers = { 'content-type': 'application/json', ...(errorType !== undefined && { 'x-amzn-errortype': errorType }) };
        response.writeHead(status, headers).end(JSON.stringify(body));
      },
      () => response.destroy(),
    );
  });
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

const answerTo = async (mailbox: Mailbox, request: IncomingMessage): Promise<Answer> => {
  const body = await readBody(request, MAX_REQUEST_BYTES);
  if (request.method !== 'POST' || request.url !== SEND_EMAIL)
    return rejection(404, 'NotFoundException', 'The local run supports only SendEmail.');
  const parsed = SendEmail.safeParse(parseJson(body));
  if (!parsed.success) return rejection(400, 'BadRequestException', z.prettifyError(parsed.error));
  const { FromEmailAddress: from, Destination, Content } = parsed.data;
  const { Subject, Body } = Content.Simple;
  for (const to of Destination.ToAddresses) await mailbox.send({ to, kind: 'message', from, subject: Subject.Data, text: Body.Text.Data });
  return { status: 200, body: { MessageId: randomUUID() } };
};

const parseJson = (body: Buffer | undefined): unknown => {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
};

const rejection = (status: number, errorType: string, message: string): Answer => ({ status, errorType, body: { message } });
