import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';

/** An email about a notification to one address, at rest. Times are milliseconds since the epoch. */
export const Mail = z.object({
  /** Derived from the notification and the address. */
  id: z.string(),
  organization: z.string(),
  to: z.string(),
  /**
   * The reason why this address gets the email, which must still hold when it is sent: as this user of the
   * organization, or as an address of the billing profile. Absent for support's address.
   */
  reader: z.union([z.literal('billing'), z.object({ user: z.string(), least: z.enum(['member', 'owner']) })]).optional(),
  subject: z.string(),
  text: z.string(),
  /** The address for answers; absent: the sender's. */
  reply_to: z.string().optional(),
  /** `withheld`: when it was due, the recipient could no longer read its subject. */
  state: z.enum(['pending', 'sent', 'failed', 'withheld']),
  /** The number of attempts that were begun. */
  begun: z.int().min(0),
  /** No attempt begins earlier: the last one failed, or another function is sending the email. */
  next_attempt_at: z.int(),
  /** Unix time in seconds. */
  expires_at: z.int(),
  version: z.int().min(1),
});
export type Mail = z.infer<typeof Mail>;

/** The email was created before. */
export class MailExists extends Error {}

export const mailIdOf = (event: string, address: string): string => `${event}#${createHash('sha256').update(address).digest('base64url')}`;

const recordKeyOf = ({ organization, id }: Pick<Mail, 'organization' | 'id'>): RecordKey => ({
  account: organization,
  record: `mail#${id}`,
});

/** Emails in the table `notifications`: one row for each notification and address. */
export const createMailStore = (table: RecordTable) => ({
  find: async (organization: string, id: string): Promise<Mail | undefined> => {
    const row = await table.get(recordKeyOf({ organization, id }));
    return row && Mail.parse(row);
  },

  /** Fails with MailExists. */
  toCreate: (mail: Mail): Write => table.toCreate(recordKeyOf(mail), mail, () => new MailExists()),

  /**
   * Changes attributes of the version that was read.
   * @returns the changed mail; undefined if another change came first
   */
  change: async (mail: Mail, fields: Partial<Mail>): Promise<Mail | undefined> => {
    const isChanged = await table.change(recordKeyOf(mail), mail.version, { set: fields, remove: [] });
    return isChanged ? { ...mail, ...fields, version: mail.version + 1 } : undefined;
  },
});

export type MailStore = ReturnType<typeof createMailStore>;
