import type { BatchGetTable, Database, Item } from './database.ts';
import { DatabaseUnavailable } from './outage.ts';

// Keys that DynamoDB leaves unprocessed are requested again. The number includes the first attempt.
const MAX_BATCH_ATTEMPTS = 5;

/** The items with these keys (at most 100), in no particular order; missing items are left out. */
export const getItems = async (database: Database, table: string, request: BatchGetTable): Promise<Item[]> => {
  const found: Item[] = [];
  let left = request.Keys;
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt === MAX_BATCH_ATTEMPTS) throw new DatabaseUnavailable(new Error('BatchGetItem leaves keys unprocessed.'));
    const { Responses, UnprocessedKeys } = await database.batchGet({ RequestItems: { [table]: { ...request, Keys: left } } });
    found.push(...(Responses?.[table] ?? []));
    left = UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
};
