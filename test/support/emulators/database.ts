import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { eventShardsOf, shardIds } from '../../../shared/admission/item/shards.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createModelStore } from '../../../shared/models/model-store.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS, createUsageStore } from '../../../shared/usage/usage-store.ts';
import { askForDatabase } from './database-server.ts';
import { openDirectDatabase } from './direct-database.ts';
import { openLimiters } from './limiters.ts';

/**
 * The app's tables in a separate in-memory emulator, with their stores.
 * @param hasStreams true: the suite reads the tables' streams. The emulator takes longer for a write to a table with
 * one, and the longer the more records it has.
 */
export const startTestDatabase = async ({ hasStreams = false }: { hasStreams?: boolean } = {}) => {
  const { url, tables, close } = await askForDatabase({ hasStreams });
  const sdk = openLocalDatabase(url);
  // Tests that make many calls take half as long with it as with the SDK's client; clients.test.ts proves that both
  // do the same.
  const database = openDirectDatabase(url);
  const usage = createUsageStore(database, tables.Usage as string);
  const limiters = openLimiters(database, tables.Keys as string);
  const checked: { close: () => Promise<void> }[] = [];
  return {
    url,
    tables,
    database,
    /** The client with the permissions of a function, by its short name. `close` fails if a call was denied. */
    as: async (name: string): Promise<Database> => {
      // Its modules are many, and few suites need them.
      const { startCheckedEndpoint } = await import('./checked-endpoint.ts');
      const endpoint = await startCheckedEndpoint(url, name);
      checked.push(endpoint);
      return openDirectDatabase(endpoint.url, endpoint.credentials);
    },
    /** The SDK's client, which can also scan a table. */
    sdk,
    limiters,
    models: createModelStore(database, tables.Models as string),
    usage,
    /** The events of a key, in all its shards, from at least the last ten minutes. */
    recentEvents: async (keyId: string): Promise<UsageEvent[]> => {
      const key = await limiters.get(keyId);
      const events: UsageEvent[] = [];
      for (const shard of shardIds(keyId, key ? eventShardsOf(shardsOf(key)) : 1))
        for (const at of [Date.now() - BUCKET_MS, Date.now()]) for await (const event of usage.listByBucket(shard, at)) events.push(event);
      return events.sort((one, other) => (one.request_id < other.request_id ? -1 : 1));
    },
    close: async (): Promise<void> => {
      const ended = await Promise.allSettled(checked.map((endpoint) => endpoint.close()));
      sdk.destroy();
      await close();
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    },
  };
};

export type TestDatabase = Awaited<ReturnType<typeof startTestDatabase>>;
