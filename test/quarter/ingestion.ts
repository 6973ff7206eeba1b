import { recompute } from '../../functions/rollup/rollup.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { bucketOfKey } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { GpuEvent } from '../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { rollupStores } from '../support/rollups.ts';
import { createEvents } from './events.ts';
import type { GpuTime, Request, Script } from './script.ts';

/** Transactions at a time: the emulator reads one while it makes another. */
const PARALLEL = 4;
/** Writes of a transaction, and records of the stream that are processed together. */
const BATCH = 100;
/** Events of a transaction with their sums, and the credit. */
const GPU_BATCH = 20;
/** Every so many requests are settled twice. */
const REPEATED = 997;
/** Every so many records of the stream arrive twice. */
const REPEATED_BUCKETS = 29;

const inBatches = <Element>(elements: readonly Element[], size: number): Element[][] =>
  Array.from({ length: Math.ceil(elements.length / size) }, (_, i) => elements.slice(i * size, (i + 1) * size));

/** Stores what is used in a script, takes its cost from credit, and keeps the totals. */
export const openIngestion = ({ database, tables }: TestDatabase, script: Script) => {
  const stores = rollupStores(database, tables.Usage as string);
  const gpuEvents = createGpuEventStore(database, tables.Usage as string);
  const eventOf = createEvents(script);
  const shardsOf = new Map(script.keys.map(({ id, shards }) => [id, shards]));

  /** The partitions with events. The others, more than 60,000, are known to be empty, and a query takes a millisecond. */
  const used = new Set<string>();
  /** Those of them that have changed since the last batch of the stream. */
  let changed = new Set<string>();
  const note = (write: Write): Write => {
    const { usage_bucket } = (write.item.Put?.Item ?? {}) as { usage_bucket: string };
    used.add(usage_bucket);
    changed.add(usage_bucket);
    return write;
  };
  const usage: UsageStore = {
    ...stores.usage,
    toPut: (event, shards) => note(stores.usage.toPut(event, shards)),
    listByBucket: async function* (shard, atMs) {
      if (used.has(`${shard}#${new Date(atMs).toISOString().slice(0, 16)}Z`)) yield* stores.usage.listByBucket(shard, atMs);
    },
  };

  /** Takes what events cost from the credit, as the releases of their reservations do. */
  const pay = async (events: readonly (UsageEvent | GpuEvent)[]): Promise<void> => {
    const costs = new Map<string, bigint>();
    for (const { org_id, cost_nanos, is_prepaid } of events) if (is_prepaid) costs.set(org_id, (costs.get(org_id) ?? 0n) + cost_nanos);
    for (const [id, nanos] of costs)
      await database.update({
        TableName: tables.Keys as string,
        Key: { id },
        UpdateExpression: 'SET avail = avail - :nanos',
        ExpressionAttributeValues: { ':nanos': nanos },
      });
  };

  /** Processes the records of the stream, some of them twice. */
  const stream = async (): Promise<void> => {
    const buckets = [...changed].sort();
    changed = new Set();
    const repeated = buckets.filter((_, i) => i % REPEATED_BUCKETS === 0);
    for (const batch of inBatches([...buckets, ...repeated], BATCH)) await recompute({ ...stores, usage }, batch.map(bucketOfKey));
  };

  return {
    usage,
    gpuEvents,
    rollups: stores.rollups,
    totals: stores.totals,
    stream,

    use: async (requests: readonly Request[], gpu: readonly GpuTime[]): Promise<void> => {
      const events = requests.map(eventOf.ofRequest);
      const put = (batch: readonly UsageEvent[]): Promise<void> =>
        transact(
          database,
          batch.map((event) => usage.toPut(event, shardsOf.get(event.key_id) ?? 1)),
        );
      throwFailures(await inParallel(inBatches(events, BATCH), PARALLEL, put));
      for (const event of events.filter((_, i) => i % REPEATED === 0))
        await usage.putIfAbsent({ ...event, cost_nanos: event.cost_nanos + 1n }, shardsOf.get(event.key_id) ?? 1);
      const ran = gpu.map(eventOf.ofGpuTime);
      for (const ofOrg of Map.groupBy(ran, ({ org_id }) => org_id).values())
        for (const batch of inBatches(ofOrg, GPU_BATCH)) await transact(database, gpuEvents.toAdd(batch));
      await pay([...events, ...ran]);
      await stream();
    },
  };
};

export type Ingestion = ReturnType<typeof openIngestion>;
