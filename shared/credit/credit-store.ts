import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { queryItems } from '../database/query.ts';
import { StoredInteger } from '../database/stored-integer.ts';
import type { Write } from '../database/transaction.ts';
import { dayOf } from '../time/utc.ts';

const MAX_LISTED_PAGES = 100;
const NUMBER_DIGITS = 8;

// An entry of the ledger of prepaid credit, which never changes: a grant; a deduction, with a negative amount; or the
// expiry of a grant's rest, which is positive if an earlier entry removed too much.
const Grant = z.object({
  organization: z.string(),
  /** Counted from 1 for each organization. */
  number: z.int().min(1),
  amount_nanos: StoredInteger,
  actor: z.string().min(1).max(200),
  reason: z.string().min(1).max(500),
  granted_at: z.int(),
  /** When the rest of it expires: a UTC midnight. Absent: never. */
  expires_at: z.int().optional(),
  /** The number of the grant whose expiry this entry is. */
  expired_grant: z.int().min(1).optional(),
});
export type Grant = z.output<typeof Grant>;

/** Tells a grant from a deduction or an expiry. */
export const isGrant = ({ amount_nanos, expired_grant }: Grant): boolean => amount_nanos > 0n && expired_grant === undefined;

/** Another grant already has this number. */
export class NumberTaken extends Error {}

/** This idempotency key was already used for a grant. */
export class AlreadyGranted extends Error {}

/** The rest of the grant has expired already. */
export class AlreadyExpired extends Error {}

/** A grant that has expired or will: the row in the list of expiries. */
export interface Expiry {
  organization: string;
  number: number;
  expiresAtMs: number;
}

/** An expiry that is computed again later, because held credit can return, and usage can come late. */
export interface ExpiryCheck extends Expiry {
  /** How often it was computed. */
  looks: number;
  /** Nano-dollars to remove as soon as they are available. */
  owedNanos: bigint;
  /** When the rest of the grant is computed again, in ms since the epoch. */
  checkAtMs: number;
}

const numbered = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');
const onceKey = (key: string): string => `grant-once#${createHash('sha256').update(key).digest('base64url')}`;

// The partition of unfinished expiries, in the order of their days.
const EXPIRIES = 'credit-expiries';
const expiryKey = ({ organization, number, expiresAtMs }: Expiry) => ({
  account: EXPIRIES,
  record: `${dayOf(expiresAtMs)}#${organization}#${numbered(number)}`,
});

// The partition of expiries to compute again. Earlier releases don't know it, so they can't remove anything twice.
const CHECKS = 'credit-expiry-checks';
const checkKey = (expiry: Expiry) => ({ ...expiryKey(expiry), account: CHECKS });
const Check = z.object({
  record: z.string(),
  looks: z.int().min(1),
  owed_nanos: StoredInteger,
  check_at: z.int(),
});

const expiryOf = (record: string): Expiry => {
  const [day = '', organization = '', number] = record.split('#');
  return { organization, number: Number(number), expiresAtMs: Date.parse(day) };
};

/** The credit ledger in the `accounts` table. The only code that knows its keys. */
export const createCreditStore = (database: Database, table: string) => ({
  /** Adds a grant as writes of a transaction; only once per idempotency key. */
  toCreate: (grant: Grant, key?: string): Write[] => [
    {
      item: {
        Put: {
          TableName: table,
          Item: { account: grant.organization, record: `grant#${numbered(grant.number)}`, ...grant },
          ConditionExpression: 'attribute_not_exists(account)',
        },
      },
      refused: () => new NumberTaken(),
    },
    ...(grant.expires_at === undefined
      ? []
      : [{ item: { Put: { TableName: table, Item: expiryKey({ ...grant, expiresAtMs: grant.expires_at }) } } }]),
    ...(key === undefined
      ? []
      : [
          {
            item: {
              Put: {
                TableName: table,
                Item: { account: grant.organization, record: onceKey(key), number: grant.number },
                ConditionExpression: 'attribute_not_exists(account)',
              },
            },
            refused: () => new AlreadyGranted(),
          },
        ]),
  ],

  /** Ends an expiry, once: fails with AlreadyExpired if it has ended already. */
  toEndExpiry: (expiry: Expiry): Write => ({
    item: { Delete: { TableName: table, Key: expiryKey(expiry), ConditionExpression: 'attribute_exists(account)' } },
    refused: () => new AlreadyExpired(),
  }),

  /**
   * Plans to compute an expiry again, after its first computation or a later one. Fails with AlreadyExpired if that was
   * planned already.
   */
  toCheckAgain: ({ looks, owedNanos, checkAtMs, ...expiry }: ExpiryCheck): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { ...checkKey(expiry), looks, owed_nanos: owedNanos, check_at: checkAtMs },
        ConditionExpression: looks === 1 ? 'attribute_not_exists(account)' : 'looks = :before',
        ...(looks > 1 && { ExpressionAttributeValues: { ':before': looks - 1 } }),
      },
    },
    refused: () => new AlreadyExpired(),
  }),

  /** Ends an expiry that was computed again. Fails with AlreadyExpired if a concurrent run came first. */
  toEndCheck: ({ looks, ...expiry }: ExpiryCheck): Write => ({
    item: {
      Delete: {
        TableName: table,
        Key: checkKey(expiry),
        ConditionExpression: 'looks = :looks',
        ExpressionAttributeValues: { ':looks': looks },
      },
    },
    refused: () => new AlreadyExpired(),
  }),

  /** Lists the expiries to compute again, the earliest first. */
  listExpiryChecks: async function* (): AsyncGenerator<ExpiryCheck> {
    const query = {
      TableName: table,
      KeyConditionExpression: 'account = :checks',
      ExpressionAttributeValues: { ':checks': CHECKS },
      ConsistentRead: true,
    };
    for await (const item of queryItems(database, query, MAX_LISTED_PAGES)) {
      const { record, looks, owed_nanos, check_at } = Check.parse(item);
      yield { ...expiryOf(record), looks, owedNanos: owed_nanos, checkAtMs: check_at };
    }
  },

  /** Lists the unfinished expiries until an instant, the earliest first. */
  listExpiries: async function* (untilMs: number): AsyncGenerator<Expiry> {
    const query = {
      TableName: table,
      KeyConditionExpression: 'account = :expiries AND #record < :after',
      ExpressionAttributeNames: { '#record': 'record' },
      // `$` comes after `#`.
      ExpressionAttributeValues: { ':expiries': EXPIRIES, ':after': `${dayOf(untilMs)}$` },
      ConsistentRead: true,
    };
    for await (const { record } of queryItems(database, query, MAX_LISTED_PAGES)) yield expiryOf(String(record));
  },

  /** Returns the grant of an idempotency key, if it exists. */
  getOnce: async (organization: string, key: string): Promise<Grant | undefined> => {
    const read = async (record: string): Promise<Record<string, unknown> | undefined> =>
      (await database.get({ TableName: table, Key: { account: organization, record }, ConsistentRead: true })).Item;
    const once = await read(onceKey(key));
    return once && Grant.parse(await read(`grant#${numbered(Number(once.number))}`));
  },

  /** Lists an organization's grants in the order of their numbers. */
  list: async function* (organization: string): AsyncGenerator<Grant> {
    const query = {
      TableName: table,
      KeyConditionExpression: 'account = :organization AND begins_with(#record, :grants)',
      ExpressionAttributeNames: { '#record': 'record' },
      ExpressionAttributeValues: { ':organization': organization, ':grants': 'grant#' },
      ConsistentRead: true,
    };
    for await (const item of queryItems(database, query, MAX_LISTED_PAGES)) yield Grant.parse(item);
  },
});

export type CreditStore = ReturnType<typeof createCreditStore>;
