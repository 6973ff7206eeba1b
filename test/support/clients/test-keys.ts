import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS, createUsageStore } from '../../../shared/usage/usage-store.ts';
import { openLimiters } from '../emulators/limiters.ts';
import { createKey, type TestKey } from '../fixtures/create-key.ts';

/** Creates keys in a database of all tables, and reads what their requests have written. */
export const openTestKeys = (database: Database, tables: Readonly<Record<string, string>>) => {
  const limiters = openLimiters(database, tables.Keys as string);
  const usage = createUsageStore(database, tables.Usage as string);
  return {
    limiters,
    usage,
    /** A key with these limits, or generous ones by default, and one limiter item. */
    createKey: async (fields: Partial<TestKey> = {}) =>
      createKey(limiters, {
        org: 'org_test',
        scope: 'serverless',
        requests_per_minute: 24_000,
        tokens_per_minute: 1_000_000_000,
        concurrency: 32,
        ...fields,
      }),
    /** Removes the limiter items of a key, so that the sweep no longer reads them. */
    removeKey: async (keyId: string): Promise<void> => {
      const item = await limiters.get(keyId);
      for (const id of shardIds(keyId, item ? shardsOf(item) : 1)) await database.delete({ TableName: tables.Keys as string, Key: { id } });
    },
    /** Every usage event of a key that this test created. @param nowMs by the clock of the functions */
    eventsOf: async (keyId: string, nowMs = Date.now()): Promise<UsageEvent[]> => {
      const events: UsageEvent[] = [];
      const item = await limiters.get(keyId);
      for (const shard of shardIds(keyId, item ? shardsOf(item) : 1))
        for (const atMs of [nowMs - BUCKET_MS, nowMs]) for await (const event of usage.listByBucket(shard, atMs)) events.push(event);
      return events;
    },
  };
};

export type TestKeys = ReturnType<typeof openTestKeys>;
