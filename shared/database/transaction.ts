import { setTimeout as delay } from 'node:timers/promises';
import { type Database, type Item, type TransactItem, TransactionCanceled } from './database.ts';
import { DatabaseUnavailable } from './outage.ts';

/** One write of a transaction. */
export interface Write {
  item: TransactItem;
  /**
   * The error if its condition fails, given the existing item (undefined: there is none). Absent: the write has no
   * condition.
   */
  refused?: (existing: Item | undefined) => Error;
}

/** DynamoDB's limit. */
export const MAX_WRITES = 100;

// A conflicting transaction or write on the same item ends soon, so the transaction is retried this often.
const MAX_CONFLICTS = 6;
const CONFLICT_WAIT_MS = 25;

const withImage = (item: TransactItem): TransactItem =>
  Object.fromEntries(
    Object.entries(item).map(([kind, write]) => [kind, { ...write, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }]),
  ) as TransactItem;

/**
 * Makes all of these writes or none, in any tables. If the client retries after a lost reply, the request token
 * ensures that they are made only once.
 * @throws the `refused` error of the first write whose condition failed; 503 in an outage or after too many conflicts
 */
export const transact = async (database: Database, writes: readonly Write[]): Promise<void> => {
  if (writes.length > MAX_WRITES) throw new Error(`A transaction has ${writes.length} writes; DynamoDB takes ${MAX_WRITES}.`);
  for (let conflicts = 0; ; conflicts++) {
    try {
      await database.transactWrite({ TransactItems: writes.map(({ item }) => withImage(item)) });
      return;
    } catch (error) {
      if (!(error instanceof TransactionCanceled)) throw error;
      const { reasons } = error;
      const failed = reasons.findIndex(({ code }) => code === 'ConditionalCheckFailed');
      const { refused } = writes[failed] ?? {};
      if (refused) throw refused(reasons[failed]?.item);
      if (failed !== -1 || !reasons.some(({ code }) => isRetryable(code))) throw error;
      if (conflicts === MAX_CONFLICTS) throw new DatabaseUnavailable(error);
      await delay(CONFLICT_WAIT_MS * 2 ** conflicts * (0.5 + Math.random()));
    }
  }
};

const isRetryable = (code: string): boolean =>
  code === 'TransactionConflict' || code === 'ProvisionedThroughputExceeded' || code === 'ThrottlingError';
