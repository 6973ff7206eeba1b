import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

interface CognitoMail {
  to: string;
  kind: 'invitation' | 'password_reset';
  /** The temporary password, or the code to reset a password. */
  code: string;
}

interface SesMail {
  to: string;
  kind: 'message';
  from: string;
  subject: string;
  text: string;
}

export interface Mailbox {
  send(mail: CognitoMail | SesMail): Promise<void>;
}

/** Writes emails to `mail.log` in a folder, one JSON object per line, for developers and tests. */
export const createMailbox = (folder: string): Mailbox => ({
  async send(mail) {
    await mkdir(folder, { recursive: true });
    await appendFile(path.join(folder, 'mail.log'), `${JSON.stringify({ at: new Date().toISOString(), ...mail })}\n`, { mode: 0o600 });
  },
});
