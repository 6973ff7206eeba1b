import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { startDatabase } from '../../../infra/local/dynamodb/dynoxide.ts';
import { createTables, withoutStream } from '../../../infra/local/dynamodb/tables.ts';
import { createProcessList } from '../../../infra/local/processes/process-list.ts';
import { openLocalDatabase } from '../../../infra/local/seed.ts';
import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { eventShardsOf, shardIds } from '../../../shared/admission/item/shards.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createModelStore } from '../../../shared/models/model-store.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS, createUsageStore } from '../../../shared/usage/usage-store.ts';
import { assemblyDir } from '../assembly/assembly.ts';
import { startCheckedEndpoint } from './checked-endpoint.ts';
import { openDirectDatabase } from './direct-database.ts';
import { openLimiters } from './limiters.ts';

/**
 * The app's tables in a separate in-memory emulator, with their stores.
 * @param hasStreams false: nothing reads the tables' streams. The emulator takes longer for a write the more records
 * a stream has, so that hundreds of thousands of writes need tables without them.
 */
export const startTestDatabase = async ({ hasStreams = true }: { hasStreams?: boolean } = {}) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-database-'));
  const processes = createProcessList();
  const server = await startDatabase({
    stateFolder: folder,
    logFolder: folder,
    ephemeral: true,
    processes,
    onChange: () => undefined,
    log: () => undefined,
  });
  const app = interpret(await readAssembly(assemblyDir()));
  const tables = await createTables(server.url, hasStreams ? app.tables : app.tables.map(withoutStream));
  const sdk = openLocalDatabase(server.url);
  // Tests that make many calls take half as long with it as with the SDK's client; clients.test.ts proves that both
  // do the same.
  const database = openDirectDatabase(server.url);
  const usage = createUsageStore(database, tables.Usage as string);
  const limiters = openLimiters(database, tables.Keys as string);
  const checked: { close: () => Promise<void> }[] = [];
  return {
    url: server.url,
    tables,
    database,
    /** The client with the permissions of a function, by its short name. `close` fails if a call was denied. */
    as: async (name: string): Promise<Database> => {
      const endpoint = await startCheckedEndpoint(server.url, name);
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
      await server.close();
      await processes.close();
      rmSync(folder, { recursive: true, force: true });
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    },
  };
};

export type TestDatabase = Awaited<ReturnType<typeof startTestDatabase>>;
