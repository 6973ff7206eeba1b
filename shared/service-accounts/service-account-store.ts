import * as z from 'zod';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, PreconditionFailed, ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { placeOfUser } from '../identity/user-directory.ts';
import { type StoredUser, toStoredUser } from '../identity/user-store.ts';
import { createSecretExpiries } from './secret-expiries.ts';

/** A service account: a user without a person, and so without an address in the list of addresses. */
export interface StoredServiceAccount extends StoredUser {
  kind: 'service_account';
  description: string | null;
  /** The id of the user who created it. */
  created_by: string;
}

const Hash = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

const StoredSecret = z.object({
  id: z.string(),
  hash: Hash,
  hint: z.string(),
  created_at: z.int(),
  created_by: z.string(),
  expires_at: z.int(),
  /** The last time that it opened a session, in Unix seconds, and from where. */
  last_use: z.object({ at: z.int(), ip_address: z.string() }).optional(),
  version: z.int(),
});
export type StoredSecret = z.infer<typeof StoredSecret>;

// A second one lets programs change over while the first one still works.
const MAX_SECRETS = 2;
const MAX_SERVICE_ACCOUNTS = 100;

const ID = /^user_[0-9A-Za-z]{18}$/;
const SECRET = 'secret#';
const LISTED = 'service-account#';
const PLATFORM = 'platform';

const listRecordKey = (organization: string | null, id: string): RecordKey => ({ account: organization ?? PLATFORM, record: LISTED + id });
const countRecordKey = (organization: string | null): RecordKey => ({ account: organization ?? PLATFORM, record: 'service-accounts' });
const secretRecordKey = (account: string, secret: string): RecordKey => ({ account, record: SECRET + secret });
const secretCountRecordKey = (account: string): RecordKey => ({ account, record: 'secrets' });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_service_accounts',
    message: `An organization can have at most ${MAX_SERVICE_ACCOUNTS} service accounts. Delete one that is no longer needed.`,
  });

const tooManySecrets = (): Conflict =>
  new Conflict({
    code: 'too_many_secrets',
    message: `A service account can have at most ${MAX_SECRETS} secrets that have not expired. Delete one first.`,
  });

const exists = (id: string) => () => new Error(`${id} already exists.`);

/** Returns the service account of a row; undefined for a person's row, or none. */
export const toServiceAccount = (row: Record<string, unknown> | undefined): StoredServiceAccount | undefined =>
  row?.kind === 'service_account'
    ? {
        ...toStoredUser(row),
        kind: 'service_account',
        description: row.description === null || row.description === undefined ? null : String(row.description),
        created_by: String(row.created_by),
      }
    : undefined;

const isLive = ({ expires_at }: StoredSecret, nowSeconds: number): boolean => expires_at > nowSeconds;

/**
 * Service accounts and their secrets in the table `accounts`. A row has the place of a user's, and what belongs to the
 * account is in the same partition. Lists of users don't have them.
 */
export const createServiceAccountStore = (table: RecordTable) => {
  const expiries = createSecretExpiries(table);
  const toForgetExpiry = (service_account: string, { id, expires_at }: StoredSecret): Write =>
    expiries.toForget({ service_account, secret: id, expires_at });

  const secretsOf = async (account: string): Promise<StoredSecret[]> => {
    const { rows } = await table.page({ account, prefix: SECRET }, { limit: 2 * MAX_SECRETS });
    return rows.map((row) => StoredSecret.parse(row));
  };

  return {
    /** Returns a service account; undefined if there is none with this id. */
    find: async (id: string): Promise<StoredServiceAccount | undefined> =>
      ID.test(id) ? toServiceAccount(await table.get(placeOfUser(id))) : undefined,

    /** Returns a service account and one of its secrets, with one read. */
    findWithSecret: async (
      id: string,
      secret: string,
    ): Promise<{ account: StoredServiceAccount | undefined; secret: StoredSecret | undefined }> => {
      if (!ID.test(id)) return { account: undefined, secret: undefined };
      const rows = await table.getMany([placeOfUser(id), secretRecordKey(id, secret)]);
      const ofSecret = rows.find(({ record }) => record === SECRET + secret);
      return {
        account: toServiceAccount(rows.find(({ record }) => record === placeOfUser(id).record)),
        secret: ofSecret && StoredSecret.parse(ofSecret),
      };
    },

    /** Lists the service accounts of an organization, or the platform's for null, sorted by id. */
    list: async (organization: string | null, request: PageRequest): Promise<{ accounts: StoredServiceAccount[]; hasMore: boolean }> => {
      const { rows, hasMore } = await table.page({ account: organization ?? PLATFORM, prefix: LISTED }, request);
      const ids = rows.map(({ record }) => String(record).slice(LISTED.length));
      const found = await table.getMany(ids.map(placeOfUser));
      return { accounts: found.map(toServiceAccount).filter((account) => account !== undefined), hasMore };
    },

    toCreate: (account: StoredServiceAccount): Write[] => [
      table.toCreate(placeOfUser(account.id), account, exists(account.id)),
      table.toCreate(listRecordKey(account.organization, account.id), {}, exists(account.id)),
      table.toCount(countRecordKey(account.organization), 1, MAX_SERVICE_ACCOUNTS, tooMany),
    ],

    /** Checks that a service account exists: 404 otherwise. */
    toCheckExists: (id: string): Write =>
      table.toCheck(placeOfUser(id), { kind: 'service_account' }, () => new ResourceNotFound('service account', id)),

    /** Replaces the version that was read: 412 if it has changed since. */
    toReplace: (account: StoredServiceAccount, before: StoredServiceAccount): Write =>
      table.toReplace(placeOfUser(account.id), account, { tokens_valid_from: before.tokens_valid_from }),

    /** Ends the sessions of a service account: tokens that were issued before this time (Unix seconds) are rejected. */
    endSessions: (id: string, seconds: number): Promise<void> => table.set(placeOfUser(id), 'tokens_valid_from', seconds),

    /** Does the same in a transaction: 404 if the service account is gone. */
    toEndSessions: (id: string, seconds: number): Write =>
      table.toSet(placeOfUser(id), 'tokens_valid_from', seconds, () => new ResourceNotFound('service account', id)),

    /** Deletes a service account with its secrets: 412 if one of them is created or deleted at the same time. */
    toDelete: async (account: StoredServiceAccount): Promise<Write[]> => {
      const secrets = await secretsOf(account.id);
      return [
        table.toDelete(placeOfUser(account.id), account.version),
        table.toDelete(listRecordKey(account.organization, account.id)),
        table.toCount(countRecordKey(account.organization), -1, MAX_SERVICE_ACCOUNTS, tooMany),
        ...secrets.flatMap((secret) => [table.toDelete(secretRecordKey(account.id, secret.id)), toForgetExpiry(account.id, secret)]),
        table.toDeleteCount(secretCountRecordKey(account.id), secrets.length, () => new PreconditionFailed()),
      ];
    },

    /** Lists the secrets of a service account, oldest first; expired ones until the next one is created. */
    secretsOf,

    /**
     * Adds a secret, and removes those that have expired. Of two requests at the same time, one can fail.
     * @throws 409 if there are two that have not expired; 412 if the service account has changed since it was read
     */
    toAddSecret: async ({ id: account, version, organization }: StoredServiceAccount, secret: StoredSecret): Promise<Write[]> => {
      const { id, expires_at, created_at } = secret;
      const expired = (await secretsOf(account)).filter((each) => !isLive(each, secret.created_at));
      return [
        table.toCheck(placeOfUser(account), { version }, () => new PreconditionFailed()),
        ...expired.flatMap((each) => [table.toDelete(secretRecordKey(account, each.id), each.version), toForgetExpiry(account, each)]),
        table.toCount(secretCountRecordKey(account), 1 - expired.length, MAX_SECRETS, tooManySecrets),
        table.toCreate(secretRecordKey(account, id), secret, exists(id)),
        // Nobody is notified of what is the platform's.
        ...(organization === null
          ? []
          : expiries.toAnnounce({ organization, service_account: account, secret: id, expires_at }, created_at)),
      ];
    },

    toDeleteSecret: (account: string, secret: StoredSecret): Write[] => [
      table.toDelete(secretRecordKey(account, secret.id), secret.version),
      toForgetExpiry(account, secret),
      table.toCount(secretCountRecordKey(account), -1, MAX_SECRETS, tooManySecrets),
    ],

    /** Notes that a secret opened a session. */
    noteUse: (account: string, secret: string, use: { at: number; ip_address: string }): Promise<void> =>
      table.set(secretRecordKey(account, secret), 'last_use', use),
  };
};

export type ServiceAccountStore = ReturnType<typeof createServiceAccountStore>;
