import { PreconditionFailed } from '../http/errors.ts';
import type { Versioned } from '../http/precondition.ts';
import type { RecordClaim, RecordKey, RecordRow } from './record.ts';
import type { Write } from './transaction.ts';

/** The writes of a record table that are parts of a transaction. */
export const createRecordChanges = (table: string) => {
  /** Creates a row that must not exist yet. */
  const toCreate = ({ account, record }: RecordKey, row: object, refused: () => Error): Write => ({
    item: { Put: { TableName: table, Item: { ...row, account, record }, ConditionExpression: 'attribute_not_exists(account)' } },
    refused,
  });

  /**
   * Replaces the row that was read and increments its version: 412 if another change came first.
   * @param unchanged attributes that are written without a new version: they must have the values that were read
   */
  const toReplace = <Replaced extends Versioned>({ account, record }: RecordKey, row: Replaced, unchanged: RecordRow = {}): Write => {
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
  };

  return {
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
    toClaim: ({ account, record }: RecordKey, { claim, nowMs }: RecordClaim): Write => ({
      item: { Put: { TableName: table, Item: { account, record, claim, claimed_at: nowMs } } },
    }),

    /** Puts a row, whether or not it exists. */
    toPut: ({ account, record }: RecordKey, row: object): Write => ({
      item: { Put: { TableName: table, Item: { ...row, account, record } } },
    }),

    toCreate,
    toReplace,

    /**
     * Replaces the row that was read and increments its version, or creates it if its version is 0: 412 if another
     * change came first.
     */
    toSave: <Saved extends Versioned>(key: RecordKey, row: Saved): Write =>
      row.version === 0 ? toCreate(key, { ...row, version: 1 }, () => new PreconditionFailed()) : toReplace(key, row),

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

    /** Sets one attribute of a row that exists. */
    toSet: ({ account, record }: RecordKey, attribute: string, value: unknown, refused: () => Error): Write => ({
      item: {
        Update: {
          TableName: table,
          Key: { account, record },
          UpdateExpression: 'SET #attribute = :value',
          ConditionExpression: 'attribute_exists(account)',
          ExpressionAttributeNames: { '#attribute': attribute },
          ExpressionAttributeValues: { ':value': value },
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
    toCheck: (
      { account, record }: RecordKey,
      values: RecordRow,
      refused: (row: RecordRow | undefined) => Error,
      unchanged: RecordRow = {},
    ): Write => {
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
  };
};
