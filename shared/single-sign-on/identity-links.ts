import { createHash } from 'node:crypto';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict } from '../http/errors.ts';

const PREFIX = 'identity#';
const SUBJECT = 'subject#';

const identityKey = (provider: string, subject: string): RecordKey => ({
  account: PREFIX + provider,
  record: SUBJECT + createHash('sha256').update(subject).digest('base64url'),
});

const linkKey = (user: string, provider: string): RecordKey => ({ account: user, record: PREFIX + provider });

// Another request was first.
const alreadyLinked = (): Conflict =>
  new Conflict({ code: 'identity_linked', message: 'Another login has just linked this user to the identity provider. Sign in again.' });

/**
 * The identities of users at the identity providers of organizations, in the table `accounts`. An identity is a
 * connection and a subject, and belongs to one user; a user has at most one identity of a connection.
 */
export const createIdentityLinks = (accounts: RecordTable) => ({
  /** Returns the id of the user with an identity. */
  userOf: async (provider: string, subject: string): Promise<string | undefined> => {
    const row = await accounts.get(identityKey(provider, subject));
    return row && String(row.user);
  },

  isLinked: async (user: string, provider: string): Promise<boolean> => (await accounts.get(linkKey(user, provider))) !== undefined,

  /** Links a user to an identity. Both must still be without a link. */
  toLink: (user: string, provider: string, subject: string): Write[] => {
    const key = identityKey(provider, subject);
    return [accounts.toCreate(key, { user }, alreadyLinked), accounts.toCreate(linkKey(user, provider), {}, alreadyLinked)];
  },

  /** Removes the link of an identity to a user, for example one who was deleted. */
  toUnlink: (user: string, provider: string, subject: string): Write[] => [
    accounts.toDelete(identityKey(provider, subject)),
    accounts.toDelete(linkKey(user, provider)),
  ],

  /** At most `limit` links of a connection, to be deleted with it. */
  toUnlinkProvider: async (provider: string, limit: number): Promise<Write[]> => {
    const { rows } = await accounts.page({ account: PREFIX + provider, prefix: SUBJECT }, { limit });
    return rows.flatMap(({ record, user }) => [
      accounts.toDelete({ account: PREFIX + provider, record: String(record) }),
      accounts.toDelete(linkKey(String(user), provider)),
    ]);
  },
});

export type IdentityLinks = ReturnType<typeof createIdentityLinks>;
