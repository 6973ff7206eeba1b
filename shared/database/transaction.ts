import { setTimeout as delay } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Database, wrapNumbers } from './client.ts';
import { DatabaseUnavailable } from './outage.ts';

type Item = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One write among others of which all are made or none. */
export interface Write {
  item: Item;
  /** What its condition's failure means, by the item as it stands (undefined: there is none). A write without one is never refused. */
  refused?: (existing: Record<string, unknown> | undefined) => Error;
}

/** DynamoDB's bound. */
export const MAX_WRITES = 100;

/** Another transaction on one of the items, or a write beside this one, is soon over. */
const MAX_CONFLICTS = 6;
const CONFLICT_WAIT_MS = 25;

/** Asks DynamoDB to bring along the item that a condition failed on. */
const withImage = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([kind, write]) => [kind, { ...write, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }]),
  ) as Item;

/**
 * Makes all of these writes or none, in any tables. Sent again by the SDK when a reply is lost, it is still made once (its request token says so).
 * @throws what `refused` says of the first write whose condition did not hold; 503 in an outage or a storm of conflicts
 */
export const transact = async (database: Database, writes: readonly Write[]): Promise<void> => {
  if (writes.length > MAX_WRITES) throw new Error(`A transaction has ${writes.length} writes; DynamoDB takes ${MAX_WRITES}.`);
  for (let conflicts = 0; ; conflicts++) {
    try {
      await database.send(new TransactWriteCommand({ TransactItems: writes.map(({ item }) => withImage(item)) }));
      return;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
      const { refused } = writes[failed] ?? {};
      if (refused) {
        const image = reasons[failed]?.Item;
        throw refused(image && unmarshall(image, { wrapNumbers }));
      }
      if (failed !== -1 || !reasons.some(({ Code }) => isTransient(Code))) throw error;
      if (conflicts === MAX_CONFLICTS) throw new DatabaseUnavailable(error);
      await delay(CONFLICT_WAIT_MS * 2 ** conflicts * (0.5 + Math.random()));
    }
  }
};

const isTransient = (code: string | undefined): boolean =>
  code === 'TransactionConflict' || code === 'ProvisionedThroughputExceeded' || code === 'ThrottlingError';
