import type { Database, Item } from '../../database/database.ts';
import { getItems } from '../../database/get-items.ts';
import { inBatches } from '../../database/in-batches.ts';
import type { LimiterItem } from '../item/limiter-item.ts';
import type { LimiterCache } from './limiter-cache.ts';

const MAX_READ = 100;

/** The id of the sweep's own row; no limiter has such an id. */
export const SWEEP_MARK = 'sweep';

/**
 * Reads limiter items. Separate from their store, so that functions which admit nothing don't load what admission
 * needs.
 */
export const createLimiterReader = (database: Database, table: string) => ({
  /** The current item, or undefined. */
  get: async (id: string): Promise<LimiterItem | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { id }, ConsistentRead: true });
    return Item as LimiterItem | undefined;
  },

  /** The current items with these ids, in their order; missing ones are left out. */
  getMany: async (ids: readonly string[]): Promise<LimiterItem[]> => {
    const reads = inBatches(ids, MAX_READ).map((batch) =>
      getItems(database, table, { Keys: batch.map((id) => ({ id })), ConsistentRead: true }),
    );
    const found = new Map((await Promise.all(reads)).flat().map((item: Item) => [item.id, item as unknown as LimiterItem]));
    return ids.flatMap((id) => found.get(id) ?? []);
  },

  /** The last epoch that a sweep has finished; undefined before the first sweep. */
  sweptEpoch: async (): Promise<number | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { id: SWEEP_MARK } });
    return Item?.epoch as number | undefined;
  },
});

export type LimiterReader = ReturnType<typeof createLimiterReader>;

/** The API keys, for functions that admit nothing. */
export interface ReadableKeys {
  store: LimiterReader;
  cache: LimiterCache;
  /** Milliseconds since the epoch. */
  now: () => number;
}
