import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** An e-mail that Cognito would send. */
interface CodeMail {
  to: string;
  kind: 'invitation' | 'password_reset';
  /** The temporary password, or the code to reset a password. */
  code: string;
}

/** An e-mail that SES would send. */
interface TextMail {
  to: string;
  kind: 'message';
  from: string;
  subject: string;
  text: string;
}

export interface Mailbox {
  send(mail: CodeMail | TextMail): Promise<void>;
}

/** Writes e-mails to `mail.log` in a folder, one JSON object per line, for developers and tests. */
export const createMailbox = (folder: string): Mailbox => ({
  async send(mail) {
    await mkdir(folder, { recursive: true });
    await appendFile(path.join(folder, 'mail.log'), `${JSON.stringify({ at: new Date().toISOString(), ...mail })}\n`, { mode: 0o600 });
  },
});
