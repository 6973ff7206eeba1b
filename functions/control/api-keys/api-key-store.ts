import * as z from 'zod';
import { ignoringUnknown } from '../../../shared/database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { PageRequest } from '../../../shared/http/page.ts';
import { ApiKey, type StoredApiKey } from './api-key.ts';
import { createTemporaryKeyStore, seriesOf } from './temporary-key-store.ts';

const KEY = 'key#';
const recordKeyOf = (organization: string, id: string): RecordKey => ({ account: organization, record: KEY + id });
const countRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'keys' });

// Only the repair of lost limiter items reads these rows.
const secretRecordKey = ({ organization, id }: Owned): RecordKey => ({ account: organization, record: `key-secret#${id}` });

type Owned = Pick<StoredApiKey, 'organization' | 'id'>;

const Hash = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const KeptSecret = z.object({
  /** SHA-256 of the secret, and of the previous one, which stays valid until `untilMs`. */
  hash: Hash,
  previous: z.object({ hash: Hash, untilMs: z.int() }).optional(),
});
export type KeptSecret = z.output<typeof KeptSecret>;

// A release that doesn't store secrets can have rotated the key. Its hint then belongs to another secret.
const isCurrent = (row: Record<string, unknown>, { hint }: Pick<StoredApiKey, 'hint'>): boolean => row.hint === hint;

/** The most active keys of an organization: suspending it writes to each of them and must take only seconds. */
export const MAX_KEYS = 1_000;

// Computing a bill reads every key, including revoked ones, and must take only seconds.
const MAX_KEYS_IN_TOTAL = 10_000;
const totalRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'keys-ever' });

// Counts revoked and lowered keys too, because their requests can still be in flight.
const concurrencyRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'keys-concurrency' });

const tooManyInTotal = (): Conflict =>
  new Conflict({
    code: 'too_many_keys',
    message: `An organization can have at most ${MAX_KEYS_IN_TOTAL} API keys, including revoked ones. Rotate an existing key instead.`,
  });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_keys',
    message: `An organization can have at most ${MAX_KEYS} active API keys. Revoke a key first.`,
  });

const Stored = ignoringUnknown(ApiKey.omit({ last_used_at: true }));

// It is unknown who set the restrictions of an older key: members cannot loosen them.
const restrictionsOf = ({ owner_restrictions, models, expires_at, no_content }: Record<string, unknown>): unknown =>
  owner_restrictions ?? { models, expires_at, no_content };

const toStored = (row: Record<string, unknown>): StoredApiKey => ({
  ...Stored.parse({
    purpose: 'standard',
    project_id: null,
    per_user: null,
    no_fallback: false,
    ...row,
    owner_restrictions: restrictionsOf(row),
  }),
  shards: Number(row.shards),
  load_shards: Number(row.load_shards ?? row.shards),
  ...(row.counted_for !== undefined && { counted_for: String(row.counted_for) }),
  ...(row.series !== undefined && { series: String(row.series), counted_concurrency: Number(row.counted_concurrency) }),
});

const countRecordKeyOf = (userId: string): RecordKey => ({ account: userId, record: 'keys' });
const totalRecordKeyOf = (userId: string): RecordKey => ({ account: userId, record: 'keys-ever' });

/** The numbers of active keys, and of keys ever created, of an organization and of one of its users. */
export interface KeyCounts {
  open: number;
  ever: number;
  openOfUser: number;
  everOfUser: number;
}

interface Quota {
  max: number;
  refused: () => Error;
}
const UNLIMITED: Quota = { max: Number.MAX_SAFE_INTEGER, refused: () => new Error('A count of API keys has overflowed.') };

// An admin has keys in many organizations, so the admin's own partition lists the active ones.
const adminRecordKey = ({ created_by, id }: StoredApiKey): RecordKey => ({ account: created_by, record: KEY + id });

/** API keys in the `accounts` table: one row each, in the partition of their organization. */
export const createApiKeyStore = (table: RecordTable) => ({
  temporary: createTemporaryKeyStore(table),

  /** Returns a key. @throws 404, also for keys of other organizations */
  get: async (organization: string, id: string): Promise<StoredApiKey> => {
    const row = await table.get(recordKeyOf(organization, id));
    if (!row) throw new ResourceNotFound('API key', id);
    return toStored(row);
  },

  /** Lists keys, newest first. */
  list: async (organization: string, request: PageRequest): Promise<{ keys: StoredApiKey[]; hasMore: boolean }> => {
    const { rows, hasMore } = await table.page({ account: organization, prefix: KEY, newestFirst: true }, request);
    return { keys: rows.map(toStored), hasMore };
  },

  /** Lists every key of an organization, including revoked ones. */
  listAll: async function* (organization: string): AsyncGenerator<StoredApiKey> {
    for await (const row of table.all({ account: organization, prefix: KEY })) yield toStored(row);
  },

  /** Lists the ids of the active keys that a user created: temporary ones that have not ended first. */
  listActiveOf: async function* (
    { id, organization }: { id: string; organization: string | null },
    nowSeconds: number,
  ): AsyncGenerator<string> {
    for await (const place of createTemporaryKeyStore(table).listOf(id)) if (place.endsAt > nowSeconds) yield place.id;
    if (organization === null)
      for await (const { record } of table.all({ account: id, prefix: KEY })) yield String(record).slice(KEY.length);
    else
      for await (const row of table.all({ account: organization, prefix: KEY }))
        if (row.created_by === id && row.status === 'active' && row.series === undefined) yield String(row.id);
  },

  /** Counts the keys of an organization and of a user, with one read. */
  counts: async (organization: string, userId: string): Promise<KeyCounts> => {
    const places = [countRecordKey(organization), totalRecordKey(organization), countRecordKeyOf(userId), totalRecordKeyOf(userId)];
    const rows = await table.getMany(places);
    const [open = 0, ever = 0, openOfUser = 0, everOfUser = 0] = places.map(({ account, record }) =>
      Number(rows.find((row) => row.account === account && row.record === record)?.count ?? 0),
    );
    return { open, ever, openOfUser, everOfUser };
  },

  /** Those of at most 100 organizations that have ever had keys. */
  haveHadKeys: async (organizations: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set((await table.getMany(organizations.map(totalRecordKey))).map(({ account }) => String(account))),

  /**
   * The sum of the concurrency that the organization's keys were ever given. Infinite if it has keys from before it was
   * counted.
   */
  concurrencyOf: async (organization: string): Promise<number> => {
    const rows = await table.getMany([concurrencyRecordKey(organization), totalRecordKey(organization)]);
    const counted = rows.find(({ record }) => record === concurrencyRecordKey(organization).record);
    return counted ? Number(counted.count) : rows.length === 0 ? 0 : Number.POSITIVE_INFINITY;
  },

  /** Adds to that sum, up to a maximum. */
  toAddConcurrency: (organization: string, concurrency: number, { max, refused }: Quota): Write =>
    table.toCount(concurrencyRecordKey(organization), concurrency, max, refused),

  /** Creates a key's row alone, which counts in none of the numbers of keys. */
  toCreateRow: (key: StoredApiKey): Write =>
    table.toCreate(recordKeyOf(key.organization, key.id), key, () => new Error(`${key.id} already exists.`)),

  toCreate: (key: StoredApiKey): Write[] => [
    table.toCreate(recordKeyOf(key.organization, key.id), key, () => new Error(`${key.id} already exists.`)),
    table.toCount(countRecordKey(key.organization), 1, MAX_KEYS, tooMany),
    table.toCount(totalRecordKey(key.organization), 1, MAX_KEYS_IN_TOTAL, tooManyInTotal),
  ],

  /** Replaces the version that was read; 412 if it has changed since. */
  toReplace: (key: StoredApiKey): Write => table.toReplace(recordKeyOf(key.organization, key.id), key),

  /** Stores the hashes of a key's new secret and of its previous one. */
  toKeepSecret: (key: Owned & Pick<StoredApiKey, 'hint'>, secret: KeptSecret): Write =>
    table.toPut(secretRecordKey(key), { ...secret, hint: key.hint }),

  /** The hashes of a key's secrets; undefined if they were not stored. */
  keptSecret: async (key: Owned & Pick<StoredApiKey, 'hint'>): Promise<KeptSecret | undefined> => {
    const row = await table.get(secretRecordKey(key));
    return row && isCurrent(row, key) ? KeptSecret.parse(row) : undefined;
  },

  /** Adds a new key to the list of an admin's keys. */
  toList: (key: StoredApiKey): Write =>
    table.toCreate(adminRecordKey(key), { organization: key.organization }, () => new Error(`${key.id} already exists.`)),

  /** Counts a new key in a user's numbers of active keys and of keys ever created. */
  toCountFor: (userId: string, { active, ever }: { active: Quota; ever: Quota } = { active: UNLIMITED, ever: UNLIMITED }): Write[] => [
    table.toCount(countRecordKeyOf(userId), 1, active.max, active.refused),
    table.toCount(totalRecordKeyOf(userId), 1, ever.max, ever.refused),
  ],

  /**
   * Decrements the counts of active keys, and removes an admin's key from the list. The id of a temporary key can be
   * used again.
   */
  toEnd: (key: StoredApiKey): Write[] => {
    const series = seriesOf(key);
    if (series) return [createTemporaryKeyStore(table).toSet(series, { id: key.id, endsAt: 0 })];
    return [
      table.toCount(countRecordKey(key.organization), -1, MAX_KEYS, tooMany),
      ...(key.counted_for === undefined ? [] : [table.toCount(countRecordKeyOf(key.counted_for), -1, UNLIMITED.max, UNLIMITED.refused)]),
      table.toDelete(adminRecordKey(key)),
    ];
  },
});

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;
