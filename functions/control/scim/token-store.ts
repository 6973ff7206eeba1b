import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import { sameHash } from '../../../shared/ids/checked-secret.ts';
import { type PresentedScimToken, ScimToken } from './token.ts';

const TOKEN = 'scim-token#';
// Two, so that a token can be replaced without a gap.
const MAX_SCIM_TOKENS = 2;

const recordKeyOf = (identityProvider: string, id: string): RecordKey => ({ account: identityProvider, record: TOKEN + id });
const countKeyOf = (identityProvider: string): RecordKey => ({ account: identityProvider, record: 'scim-tokens' });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_scim_tokens',
    message: `An identity provider can have at most ${MAX_SCIM_TOKENS} SCIM tokens. Delete one that is no longer used first.`,
  });

// Tokens never change, except for their last use.
const VERSION = 1;

// Writes of the last use are at most one in this time.
const USE_SECONDS = 60;

/** SCIM tokens in the table `accounts`, in the partition of their identity provider: only their hashes. */
export const createScimTokenStore = (table: RecordTable) => ({
  /** Returns the organization of a token that a caller sent, if the token is live. */
  find: async ({ identityProvider, id, hash }: PresentedScimToken): Promise<{ organization: string; token: ScimToken } | undefined> => {
    const row = await table.get(recordKeyOf(identityProvider, id));
    if (!row || !sameHash(Buffer.from(String(row.hash), 'hex'), hash)) return undefined;
    return { organization: String(row.organization), token: ScimToken.parse(row) };
  },

  list: async (identityProvider: string): Promise<ScimToken[]> => {
    const { rows } = await table.page({ account: identityProvider, prefix: TOKEN }, { limit: MAX_SCIM_TOKENS });
    return rows.map((row) => ScimToken.parse(row));
  },

  /** Creates a token. Fails with a 409 if there are two. */
  toCreate: (token: ScimToken, organization: string, hash: Buffer): Write[] => [
    table.toCreate(
      recordKeyOf(token.identity_provider, token.id),
      { ...token, organization, hash: hash.toString('hex'), version: VERSION },
      () => new Error('The token exists.'),
    ),
    table.toCount(countKeyOf(token.identity_provider), 1, MAX_SCIM_TOKENS, tooMany),
  ],

  /** Deletes a token. Fails with a 412 if it is gone. */
  toDelete: ({ identity_provider, id }: ScimToken): Write[] => [
    table.toDelete(recordKeyOf(identity_provider, id), VERSION),
    table.toCount(countKeyOf(identity_provider), -1, MAX_SCIM_TOKENS, tooMany),
  ],

  /** Records that a token was used, about once a minute. */
  noteUse: async ({ identity_provider, id, last_used_at }: ScimToken, seconds: number, ipAddress: string): Promise<void> => {
    if (last_used_at !== null && seconds - last_used_at < USE_SECONDS) return;
    const key = recordKeyOf(identity_provider, id);
    await table.set(key, 'last_used_at', seconds);
    await table.set(key, 'last_ip_address', ipAddress);
  },
});

export type ScimTokenStore = ReturnType<typeof createScimTokenStore>;
