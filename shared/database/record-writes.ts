import { PreconditionFailed } from '../http/errors.ts';
import { ConditionFailed, type Database } from './database.ts';
import { isWritten } from './is-written.ts';
import type { RecordClaim, RecordKey, RecordRow } from './record.ts';
import { transact, type Write } from './transaction.ts';

interface RowChange {
  set: RecordRow;
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

/** The writes of single rows. A change can include other writes in a transaction. */
export const createRecordWrites = (database: Database, table: string) => ({
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
    await isWritten(
      database.update({
        TableName: table,
        Key: { account, record },
        UpdateExpression: 'SET #attribute = :value',
        ConditionExpression: '#where = :where',
        ExpressionAttributeNames: { '#attribute': attribute, '#where': where },
        ExpressionAttributeValues: { ':value': value, ':where': whereValue },
      }),
    );
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
    { claim, nowMs, olderThanMs }: RecordClaim & { olderThanMs: number },
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
    await isWritten(
      database.delete({
        TableName: table,
        Key: { account, record },
        ConditionExpression: claim === undefined ? 'attribute_exists(claim)' : 'claim = :claim',
        ...(claim !== undefined && { ExpressionAttributeValues: { ':claim': claim } }),
      }),
    );
  },
});
