import { recompute } from '../../../functions/rollup/rollup.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { bucketOfKey } from '../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';
import { createEvents } from './events.ts';
import type { GpuTime, Request, Script } from './script.ts';

// Writes of a transaction, and records of the stream that are processed together.
const BATCH = 100;
// Events of a transaction with their sums, and the credit.
const GPU_BATCH = 20;
// Every so many requests are settled twice.
const REPEATED = 997;
// Every so many records of the stream arrive twice.
const REPEATED_BUCKETS = 29;

const inBatches = <Element>(elements: readonly Element[], size: number): Element[][] =>
  Array.from({ length: Math.ceil(elements.length / size) }, (_, i) => elements.slice(i * size, (i + 1) * size));

/** Stores what is used in a script, takes its cost from credit, and keeps the totals. */
export const openIngestion = ({ database, tables }: TestDatabase, script: Script) => {
  const stores = rollupStores(database, tables.Usage as string);
  const gpuEvents = createGpuEventStore(database, tables.Usage as string);
  const eventOf = createEvents(script);
  const shardsOf = new Map(script.keys.map(({ id, shards }) => [id, shards]));

  /**
   * The partitions with events, and their events if they were read since the last write. All others, tens of
   * thousands, are known to be empty. The emulator takes half of the test's time for events that are read again and
   * again.
   */
  const known = new Map<string, readonly UsageEvent[] | undefined>();
  let keepsRead = true;
  /** The partitions that have changed since the last batch of the stream. */
  let changed = new Set<string>();
  const note = (write: Write): Write => {
    const { usage_bucket } = (write.item.Put?.Item ?? {}) as { usage_bucket: string };
    known.set(usage_bucket, undefined);
    changed.add(usage_bucket);
    return write;
  };
  const usage: UsageStore = {
    ...stores.usage,
    toPut: (event, shards) => note(stores.usage.toPut(event, shards)),
    listByBucket: async function* (shard, atMs) {
      const partition = `${shard}#${new Date(atMs).toISOString().slice(0, 16)}Z`;
      if (!known.has(partition)) return;
      const events = known.get(partition) ?? (await Array.fromAsync(stores.usage.listByBucket(shard, atMs)));
      if (keepsRead) known.set(partition, events);
      yield* events;
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

  let records = 0;
  /** Processes the records of the stream, some of them twice. */
  const stream = async (): Promise<void> => {
    const buckets = [...changed].sort();
    changed = new Set();
    const repeated = buckets.filter(() => records++ % REPEATED_BUCKETS === 0);
    for (const batch of inBatches([...buckets, ...repeated], BATCH)) await recompute({ ...stores, usage }, batch.map(bucketOfKey));
  };

  /** Settles requests, some of them twice. The emulator is as fast with one transaction at a time as with several. */
  const settle = async (events: readonly UsageEvent[]): Promise<void> => {
    const shards = ({ key_id }: UsageEvent): number => shardsOf.get(key_id) ?? 1;
    for (const batch of inBatches(events, BATCH)) {
      const writes = batch.map((event) => usage.toPut(event, shards(event)));
      await transact(database, writes);
    }
    for (const event of events.filter((_, i) => i % REPEATED === 0))
      await usage.putIfAbsent({ ...event, cost_nanos: event.cost_nanos + 1n }, shards(event));
  };

  return {
    usage,
    gpuEvents,
    rollups: stores.rollups,
    totals: stores.totals,
    stream,

    /** From now on, events are read from the emulator. */
    readAgain: (): void => {
      keepsRead = false;
      for (const partition of known.keys()) known.set(partition, undefined);
    },

    /** The records of each day are processed while the requests of the next one are settled. */
    use: async (requests: readonly Request[], gpu: readonly GpuTime[]): Promise<void> => {
      const events = requests.map(eventOf.ofRequest);
      for (const ofDay of Map.groupBy(events, ({ admitted_at }) => dayOf(admitted_at)).values())
        await Promise.all([stream(), settle(ofDay)]);
      const ran = gpu.map(eventOf.ofGpuTime);
      for (const ofOrg of Map.groupBy(ran, ({ org_id }) => org_id).values())
        for (const batch of inBatches(ofOrg, GPU_BATCH)) await transact(database, gpuEvents.toAdd(batch));
      await pay([...events, ...ran]);
      await stream();
    },
  };
};

export type Ingestion = ReturnType<typeof openIngestion>;
