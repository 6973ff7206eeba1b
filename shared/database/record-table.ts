import { PreconditionFailed } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import type { Versioned } from '../http/precondition.ts';
import { ConditionFailed, type Database } from './database.ts';
import { getItems } from './get-items.ts';
import type { RowRange } from './newest-first.ts';
import { queryItems } from './query.ts';
import { transact, type Write } from './transaction.ts';

/** The key of a row: both attributes are strings. */
export interface RecordKey {
  account: string;
  record: string;
}

type Row = Record<string, unknown>;

// A temporary claim of a row: its owner and its time.
interface Claim {
  claim: string;
  nowMs: number;
}

interface Listing {
  account: string;
  prefix: string;
  newestFirst?: boolean;
}

interface RowChange {
  set: Row;
  remove: readonly string[];
}

const updateOf = (table: string, { account, record }: RecordKey, version: number, { set, remove }: RowChange) => {
  const changed = Object.entries({ ...set, version: version + 1 });
  return {
    TableName: table,
    Key: { account, record },
    UpdateExpression: [
      `SET ${changed.map((_, i) => `#s${i} = :s${i}`).join(', ')}`,
      ...(remove.length > 0 ? [`REMOVE ${remove.map((_, i) => `#r${i}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: {
      '#version': 'version',
      ...Object.fromEntries(changed.map(([name], i) => [`#s${i}`, name])),
      ...Object.fromEntries(remove.map((name, i) => [`#r${i}`, name])),
    },
    ExpressionAttributeValues: { ':version': version, ...Object.fromEntries(changed.map(([, value], i) => [`:s${i}`, value])) },
  };
};

// Enough for ten thousand keys of the largest size.
const MAX_LISTED_PAGES = 1_000;

/**
 * A DynamoDB table with the keys `account` and `record`. Seven tables have this shape; each store defines its rows.
 * Reads are consistent; there are no scans.
 */
export const createRecordTable = (database: Database, table: string) => ({
  get: async (key: RecordKey): Promise<Row | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { ...key }, ConsistentRead: true });
    return Item;
  },

  /** At most 100 rows, in the order of the keys; missing rows are left out. */
  getMany: async (keys: readonly RecordKey[]): Promise<Row[]> => {
    const Keys = keys.map(({ account, record }) => ({ account, record }));
    const rows = await getItems(database, table, { Keys, ConsistentRead: true });
    const found = new Map(rows.map((row) => [`${row.account}/${row.record}`, row]));
    return keys.map(({ account, record }) => found.get(`${account}/${record}`)).filter((row) => row !== undefined);
  },

  /** A page of rows; `after` is the rest of the last record of the previous page, after the prefix. */
  page: async (
    { account, prefix, newestFirst = false }: Listing,
    { limit, after }: PageRequest,
  ): Promise<{ rows: Row[]; hasMore: boolean }> => {
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
  newestIn: async ({ account, from, to }: RowRange, limit: number): Promise<{ rows: Row[]; hasMore: boolean }> => {
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
  allOf: (account: string): AsyncGenerator<Row> =>
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

  all: ({ account, prefix }: Listing): AsyncGenerator<Row> =>
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

  /** Writes a row, whether or not it exists. */
  put: async ({ account, record }: RecordKey, row: object): Promise<void> => {
    await database.put({ TableName: table, Item: { ...row, account, record } });
  },

  /** Deletes a row, if it exists. */
  remove: async ({ account, record }: RecordKey): Promise<void> => {
    await database.delete({ TableName: table, Key: { account, record } });
  },

  /** Sets one attribute of a row, if the row exists. @param where another attribute, which must have this value */
  set: async (
    { account, record }: RecordKey,
    attribute: string,
    value: unknown,
    [where, whereValue]: readonly [attribute: string, value: unknown] = ['account', account],
  ): Promise<void> => {
    const write = database.update({
      TableName: table,
      Key: { account, record },
      UpdateExpression: 'SET #attribute = :value',
      ConditionExpression: '#where = :where',
      ExpressionAttributeNames: { '#attribute': attribute, '#where': where },
      ExpressionAttributeValues: { ':value': value, ':where': whereValue },
    });
    await write.catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  },

  /**
   * Changes some attributes of the row that was read and increments its version: in one write, or in a transaction if
   * there are others.
   * @returns false if another write came first, of the row or of what the others need
   */
  change: async (key: RecordKey, version: number, change: RowChange, others: readonly Write[] = []): Promise<boolean> => {
    const update = updateOf(table, key, version, change);
    try {
      if (others.length === 0) await database.update(update);
      else await transact(database, [{ item: { Update: update }, refused: () => new PreconditionFailed() }, ...others]);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed || error instanceof PreconditionFailed)) throw error;
      return false;
    }
  },

  /** Claims a place that is free, or whose last claim is older than `olderThanMs`. */
  claim: async (
    { account, record }: RecordKey,
    { claim, nowMs, olderThanMs }: Claim & { olderThanMs: number },
    refused: () => Error,
  ): Promise<void> => {
    try {
      await database.put({
        TableName: table,
        Item: { account, record, claim, claimed_at: nowMs },
        ConditionExpression: 'attribute_not_exists(account) OR claimed_at < :older',
        ExpressionAttributeValues: { ':older': olderThanMs },
      });
    } catch (error) {
      throw error instanceof ConditionFailed ? refused() : error;
    }
  },

  /** Releases a claimed row, if it is still claimed. @param claim undefined: release any claim */
  unclaim: async ({ account, record }: RecordKey, claim: string | undefined): Promise<void> => {
    const write = database.delete({
      TableName: table,
      Key: { account, record },
      ConditionExpression: claim === undefined ? 'attribute_exists(claim)' : 'claim = :claim',
      ...(claim !== undefined && { ExpressionAttributeValues: { ':claim': claim } }),
    });
    await write.catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  },

  /** Writes the row for which a place was claimed. */
  toKeepClaim: ({ account, record }: RecordKey, claim: string, row: object, refused: () => Error): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { ...row, account, record },
        ConditionExpression: 'claim = :claim',
        ExpressionAttributeValues: { ':claim': claim },
      },
    },
    refused,
  }),

  /** Replaces a row with a claim. */
  toClaim: ({ account, record }: RecordKey, { claim, nowMs }: Claim): Write => ({
    item: { Put: { TableName: table, Item: { account, record, claim, claimed_at: nowMs } } },
  }),

  /** Puts a row, whether or not it exists. */
  toPut: ({ account, record }: RecordKey, row: object): Write => ({
    item: { Put: { TableName: table, Item: { ...row, account, record } } },
  }),

  /** Creates a row that must not exist yet. */
  toCreate: ({ account, record }: RecordKey, row: object, refused: () => Error): Write => ({
    item: { Put: { TableName: table, Item: { ...row, account, record }, ConditionExpression: 'attribute_not_exists(account)' } },
    refused,
  }),

  /**
   * Replaces the row that was read and increments its version: 412 if another change came first.
   * @param unchanged attributes that are written without a new version: they must have the values that were read
   */
  toReplace: <Replaced extends Versioned>({ account, record }: RecordKey, row: Replaced, unchanged: Row = {}): Write => {
    const others = Object.entries(unchanged);
    return {
      item: {
        Put: {
          TableName: table,
          Item: { ...row, version: row.version + 1, account, record },
          ConditionExpression: ['#version = :version', ...others.map((_, i) => `#u${i} = :u${i}`)].join(' AND '),
          ExpressionAttributeNames: { '#version': 'version', ...Object.fromEntries(others.map(([name], i) => [`#u${i}`, name])) },
          ExpressionAttributeValues: { ':version': row.version, ...Object.fromEntries(others.map(([, value], i) => [`:u${i}`, value])) },
        },
      },
      refused: () => new PreconditionFailed(),
    };
  },

  /** Deletes the row that was read: 412 if another change came first. */
  toDelete: ({ account, record }: RecordKey, version?: number): Write => ({
    item: {
      Delete: {
        TableName: table,
        Key: { account, record },
        ...(version !== undefined && {
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': version },
        }),
      },
    },
    refused: () => new PreconditionFailed(),
  }),

  /** Adds to a count, up to a maximum. A missing count is 0. */
  toCount: ({ account, record }: RecordKey, by: number, max: number, refused: () => Error): Write => ({
    item: {
      Update: {
        TableName: table,
        Key: { account, record },
        UpdateExpression: 'ADD #count :by',
        ...(by > 0 && { ConditionExpression: by <= max ? 'attribute_not_exists(#count) OR #count <= :most' : '#count <= :most' }),
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':by': by, ...(by > 0 && { ':most': max - by }) },
      },
    },
    refused,
  }),

  /** Deletes a count that must be what was read. A missing count is 0. */
  toDeleteCount: ({ account, record }: RecordKey, count: number, refused: () => Error): Write => ({
    item: {
      Delete: {
        TableName: table,
        Key: { account, record },
        ConditionExpression: count === 0 ? 'attribute_not_exists(#count) OR #count = :count' : '#count = :count',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':count': count },
      },
    },
    refused,
  }),

  /** Adds to numbers of a row that exists. */
  toAdd: ({ account, record }: RecordKey, amounts: Readonly<Record<string, number | bigint>>, refused: () => Error): Write => {
    const names = Object.keys(amounts);
    return {
      item: {
        Update: {
          TableName: table,
          Key: { account, record },
          UpdateExpression: `ADD ${names.map((_, i) => `#a${i} :a${i}`).join(', ')}`,
          ConditionExpression: 'attribute_exists(account)',
          ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#a${i}`, name])),
          ExpressionAttributeValues: Object.fromEntries(names.map((name, i) => [`:a${i}`, amounts[name]])),
        },
      },
      refused,
    };
  },

  /**
   * Checks that a row has these values, without a change.
   * @param unchanged other attributes, which must have the values that were read, or still be missing
   */
  toCheck: ({ account, record }: RecordKey, values: Row, refused: (row: Row | undefined) => Error, unchanged: Row = {}): Write => {
    const attributes = Object.entries({ ...values, ...unchanged });
    const clauses = attributes.map(([name], i) =>
      name in values ? `#a${i} = :a${i}` : `(attribute_not_exists(#a${i}) OR #a${i} = :a${i})`,
    );
    return {
      item: {
        ConditionCheck: {
          TableName: table,
          Key: { account, record },
          ConditionExpression: clauses.join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(attributes.map(([name], i) => [`#a${i}`, name])),
          ExpressionAttributeValues: Object.fromEntries(attributes.map(([, value], i) => [`:a${i}`, value])),
        },
      },
      refused,
    };
  },
});

export type RecordTable = ReturnType<typeof createRecordTable>;
