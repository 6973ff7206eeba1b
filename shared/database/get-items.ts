import { setTimeout as delay } from 'node:timers/promises';
import type { BatchGetTable, Database, Item } from './database.ts';
import { DatabaseUnavailable } from './outage.ts';

// The number includes the first attempt. All waits together are less than a second, for which any caller has time.
const MAX_BATCH_ATTEMPTS = 5;
const FIRST_WAIT_MS = 40;

/**
 * The items with these keys (at most 100), in no particular order; missing items are left out. Keys that DynamoDB
 * leaves unprocessed are requested again with exponential backoff, as AWS recommends: without a wait, the partition
 * still throttles (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html).
 * @throws 503 if keys are left after all attempts
 */
export const getItems = async (
  database: Pick<Database, 'batchGet'>,
  table: string,
  request: BatchGetTable,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Item[]> => {
  const found: Item[] = [];
  let left = request.Keys;
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt === MAX_BATCH_ATTEMPTS) throw new DatabaseUnavailable(new Error('BatchGetItem leaves keys unprocessed.'));
    if (attempt > 0) await wait(FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    const { Responses, UnprocessedKeys } = await database.batchGet({ RequestItems: { [table]: { ...request, Keys: left } } });
    found.push(...(Responses?.[table] ?? []));
    left = UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
};
