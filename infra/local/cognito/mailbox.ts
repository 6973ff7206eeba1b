import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** What Cognito would send by e-mail. */
interface Mail {
  readonly to: string;
  readonly kind: 'invitation' | 'password_reset';
  /** The temporary password, or the code that lets a new one be set. */
  readonly code: string;
}

export interface Mailbox {
  send(mail: Mail): Promise<void>;
}

/** Writes every message to `mail.log` of a folder, one JSON object a line, where a developer or a test reads it. */
export const createMailbox = (folder: string): Mailbox => ({
  async send(mail) {
    await mkdir(folder, { recursive: true });
    await appendFile(path.join(folder, 'mail.log'), `${JSON.stringify({ at: new Date().toISOString(), ...mail })}\n`, { mode: 0o600 });
  },
});
