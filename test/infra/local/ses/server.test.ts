import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSendEmail, MailRejected } from '../../../../functions/notifications/mail/send-email.ts';
import { createMailbox } from '../../../../infra/local/mail/mailbox.ts';
import { type SesEmulator, startSes } from '../../../../infra/local/ses/server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
let ses: SesEmulator;
beforeAll(async () => {
  ses = await startSes(createMailbox(folder.path));
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_SESV2: ses.url,
  });
});
afterAll(async () => {
  await ses.close();
  await folder[Symbol.asyncDispose]();
});

test('an email is sent through the SDK as plain text, and is in the mail log', async () => {
  await createSendEmail('billing@example.com')({ to: 'a@example.com', subject: 'Invoice issued', text: 'Total: 1 €\n' });
  const log = await readFile(path.join(folder.path, 'mail.log'), 'utf8');
  expect(JSON.parse(log)).toEqual({
    at: expect.any(String),
    to: 'a@example.com',
    kind: 'message',
    from: 'billing@example.com',
    subject: 'Invoice issued',
    text: 'Total: 1 €\n',
  });
});

test('an email to something that is no address is rejected for good', async () => {
  const sent = createSendEmail('billing@example.com')({ to: 'nobody', subject: 'x', text: 'x' });
  await expect(sent).rejects.toBeInstanceOf(MailRejected);
});
