import type * as z from 'zod';
import type { Database } from './database.ts';
import { inParallel, throwFailures } from './in-parallel.ts';
import type { RecordKey, RecordTable } from './record-table.ts';

interface RingEvent {
  at: number;
  /** A token was verified. */
  is_verified: boolean;
}

interface EventRing<Event> {
  /** Adds an event. The oldest one makes room for it. */
  add: (account: string, event: Event) => Promise<void>;
  /** Lists the events of an account, in no order. */
  list: (account: string) => Promise<Event[]>;
  clear: (account: string) => Promise<void>;
}

interface Ring {
  /** Tells the rings of an account apart. */
  name: string;
  /** The most events that are kept. At most 100. */
  size: number;
}

const DIGITS = 3;
const PARALLEL = 10;

type Rows = Pick<RecordTable, 'page' | 'remove'>;
type Writes = Pick<Database, 'update' | 'put'>;

const createEventRing = <Event extends RingEvent>(
  schema: z.ZodType<Event>,
  database: Writes,
  table: string,
  rows: Rows,
  { name, size }: Ring,
): EventRing<Event> => {
  const prefix = `event#${name}#`;
  const countKey = (account: string): RecordKey => ({ account, record: `events#${name}` });

  // Each event has a number of its own, so concurrent ones don't take the same place.
  const nextNumber = async (account: string): Promise<number> => {
    const { Attributes } = await database.update({
      TableName: table,
      Key: { ...countKey(account) },
      UpdateExpression: 'ADD #count :one',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'ALL_NEW',
    });
    return Number(Attributes?.count);
  };

  const stored = async (account: string) => (await rows.page({ account, prefix }, { limit: size })).rows;

  return {
    add: async (account, event) => {
      const place = (await nextNumber(account)) % size;
      await database.put({ TableName: table, Item: { ...event, account, record: prefix + String(place).padStart(DIGITS, '0') } });
    },
    list: async (account) => (await stored(account)).map((row) => schema.parse(row)),
    clear: async (account) => {
      const events = (await stored(account)).map(({ record }) => ({ account, record: String(record) }));
      throwFailures(await inParallel([...events, countKey(account)], PARALLEL, rows.remove));
    },
  };
};

// Strangers can cause events without a verified token: these have a ring of their own.
const VERIFIED: Ring = { name: 'verified', size: 80 };
const UNVERIFIED: Ring = { name: 'unverified', size: 20 };

/**
 * Returns the `create` of a store of the newest events of each account, such as a service account, in a table of
 * records: a bounded number of rows, in the account's partition.
 */
export const eventRingsOf =
  <Event extends RingEvent>(schema: z.ZodType<Event>) =>
  /** @param table the name of the table that `rows` reads */
  (database: Writes, table: string, rows: Rows) => {
    const verified = createEventRing(schema, database, table, rows, VERIFIED);
    const unverified = createEventRing(schema, database, table, rows, UNVERIFIED);
    return {
      add: (account: string, event: Event): Promise<void> => (event.is_verified ? verified : unverified).add(account, event),

      /** Deletes all events of an account. */
      clear: async (account: string): Promise<void> => {
        await Promise.all([verified.clear(account), unverified.clear(account)]);
      },

      /** Lists at most 100 events, newest first. */
      list: async (account: string): Promise<Event[]> => {
        const found = await Promise.all([verified.list(account), unverified.list(account)]);
        return found.flat().toSorted((one, other) => other.at - one.at);
      },
    };
  };
