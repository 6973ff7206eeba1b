import type { PageRequest } from '../http/page.ts';
import type { Database } from './database.ts';
import { getItems } from './get-items.ts';
import type { RowRange } from './newest-first.ts';
import { queryItems } from './query.ts';
import type { RecordKey, RecordRow } from './record.ts';

interface Listing {
  account: string;
  prefix: string;
  newestFirst?: boolean;
}

// Enough for ten thousand keys of the largest size.
const MAX_LISTED_PAGES = 1_000;

/** The reads of a record table. All are consistent; there are no scans. */
export const createRecordReads = (database: Database, table: string) => ({
  get: async (key: RecordKey): Promise<RecordRow | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { ...key }, ConsistentRead: true });
    return Item;
  },

  /** At most 100 rows, in the order of the keys; missing rows are left out. No keys cost no call. */
  getMany: async (keys: readonly RecordKey[]): Promise<RecordRow[]> => {
    const Keys = keys.map(({ account, record }) => ({ account, record }));
    const rows = await getItems(database, table, { Keys, ConsistentRead: true });
    const found = new Map(rows.map((row) => [`${row.account}/${row.record}`, row]));
    return keys.map(({ account, record }) => found.get(`${account}/${record}`)).filter((row) => row !== undefined);
  },

  /** A page of rows; `after` is the rest of the last record of the previous page, after the prefix. */
  page: async (
    { account, prefix, newestFirst = false }: Listing,
    { limit, after }: PageRequest,
  ): Promise<{ rows: RecordRow[]; hasMore: boolean }> => {
    const { Items = [], LastEvaluatedKey } = await database.query({
      TableName: table,
      KeyConditionExpression: 'account = :account AND begins_with(#record, :prefix)',
      ExpressionAttributeNames: { '#record': 'record' },
      ExpressionAttributeValues: { ':account': account, ':prefix': prefix },
      ConsistentRead: true,
      ScanIndexForward: !newestFirst,
      Limit: limit + 1,
      ...(after !== undefined && { ExclusiveStartKey: { account, record: prefix + after } }),
    });
    // DynamoDB also ends a page at 1 MB.
    return { rows: Items.slice(0, limit), hasMore: Items.length > limit || LastEvaluatedKey !== undefined };
  },

  /** The newest rows of a range of records, whose end is exclusive. */
  newestIn: async ({ account, from, to }: RowRange, limit: number): Promise<{ rows: RecordRow[]; hasMore: boolean }> => {
    // DynamoDB rejects a range that ends before its start.
    if (to <= from) return { rows: [], hasMore: false };
    const { Items = [], LastEvaluatedKey } = await database.query({
      TableName: table,
      KeyConditionExpression: 'account = :account AND #record BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#record': 'record' },
      ExpressionAttributeValues: { ':account': account, ':from': from, ':to': to },
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: limit,
      ExclusiveStartKey: { account, record: to },
    });
    return { rows: Items, hasMore: LastEvaluatedKey !== undefined };
  },

  /** Every row of an account, in the order of its records. */
  allOf: (account: string): AsyncGenerator<RecordRow> =>
    queryItems(
      database,
      {
        TableName: table,
        KeyConditionExpression: 'account = :account',
        ExpressionAttributeValues: { ':account': account },
        ConsistentRead: true,
      },
      MAX_LISTED_PAGES,
    ),

  all: ({ account, prefix }: Listing): AsyncGenerator<RecordRow> =>
    queryItems(
      database,
      {
        TableName: table,
        KeyConditionExpression: 'account = :account AND begins_with(#record, :prefix)',
        ExpressionAttributeNames: { '#record': 'record' },
        ExpressionAttributeValues: { ':account': account, ':prefix': prefix },
        ConsistentRead: true,
      },
      MAX_LISTED_PAGES,
    ),
});
