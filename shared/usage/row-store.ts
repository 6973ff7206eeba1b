import type { Database, Item } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { queryItems } from '../database/query.ts';
import { StoredTotals } from './stored-totals.ts';
import type { Totals } from './totals.ts';

export interface RowKey {
  usage_bucket: string;
  usage_event: string;
}

/** A row of totals as it was read; without `totals` if they are invalid. */
export interface Row {
  key: RowKey;
  /** The number of events in the row; undefined if the attribute is missing. */
  n: unknown;
  totals: Totals | undefined;
}

// A row can only be replaced by one with more events.
const COUNTS_MORE = 'attribute_not_exists(n) OR n < :n';
// The row has not changed since it was read, because every write changes `n`.
const AS_READ = 'n = :read';
const STILL_ABSENT = 'attribute_not_exists(n)';

// The busiest partitions, those of a key with 42 shards or of an organization with 1,000 keys, have tens of pages.
const MAX_PARTITION_PAGES = 1_000;

export const rowOf = (item: Item): Row => {
  const { usage_bucket, usage_event, n } = item as unknown as RowKey & { n: unknown };
  return { key: { usage_bucket, usage_event }, n, totals: StoredTotals.safeParse(item).data };
};

const asRead = (row: Row | undefined) =>
  row?.n === undefined
    ? { ConditionExpression: STILL_ABSENT }
    : { ConditionExpression: AS_READ, ExpressionAttributeValues: { ':read': row.n } };

/** Rows of totals in the `usage` table, with the conditions under which they are written. */
export const createRowStore = (database: Database, table: string) => ({
  /** The rows of a partition, or of a range of it with both ends, in the order of their keys. */
  query: (partition: string, range?: { from: string; to: string }): AsyncGenerator<Item> =>
    queryItems(
      database,
      {
        TableName: table,
        KeyConditionExpression: `usage_bucket = :partition${range ? ' AND usage_event BETWEEN :from AND :to' : ''}`,
        ExpressionAttributeValues: { ':partition': partition, ...(range && { ':from': range.from, ':to': range.to }) },
        ConsistentRead: true,
      },
      MAX_PARTITION_PAGES,
    ),

  /** Puts a row of `n` events, unless the stored row has at least as many. */
  put: (item: RowKey & { n: number }): Promise<boolean> =>
    isWritten(
      database.put({ TableName: table, Item: item, ConditionExpression: COUNTS_MORE, ExpressionAttributeValues: { ':n': item.n } }),
    ),

  /** Replaces the row that was read (undefined: it did not exist). False if it has changed since. */
  replace: (read: Row | undefined, item: RowKey): Promise<boolean> =>
    isWritten(database.put({ TableName: table, Item: item, ...asRead(read) })),

  /** Removes the row that was read. False if it has changed since. */
  remove: (read: Row): Promise<boolean> => isWritten(database.delete({ TableName: table, Key: { ...read.key }, ...asRead(read) })),
});
