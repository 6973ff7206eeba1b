import type { Database } from './database.ts';
import { inParallel, throwFailures } from './in-parallel.ts';
import type { RecordKey, RecordTable } from './record-table.ts';

/** The newest events of an account, such as a service account. */
export interface EventRing<Event extends object> {
  /** Adds an event. The oldest one makes room for it. */
  add: (account: string, event: Event) => Promise<void>;
  /** Lists the rows of the events, in no order. */
  list: (account: string) => Promise<Record<string, unknown>[]>;
  /** Deletes all events of an account. */
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

/**
 * Keeps the newest events of each account in a table of records: a bounded number of rows, in the account's partition.
 * @param table the name of the table that `rows` reads
 */
export const createEventRing = <Event extends object>(
  database: Pick<Database, 'update' | 'put'>,
  table: string,
  rows: Pick<RecordTable, 'page' | 'remove'>,
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

  const list = async (account: string) => (await rows.page({ account, prefix }, { limit: size })).rows;

  return {
    add: async (account, event) => {
      const place = (await nextNumber(account)) % size;
      await database.put({ TableName: table, Item: { ...event, account, record: prefix + String(place).padStart(DIGITS, '0') } });
    },
    list,
    clear: async (account) => {
      const events = (await list(account)).map(({ record }) => ({ account, record: String(record) }));
      throwFailures(await inParallel([...events, countKey(account)], PARALLEL, rows.remove));
    },
  };
};
