import { eventShardsOf, shardIds } from '../../shared/admission/item/shards.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { bucketStarts } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { BUCKET_MS, type UsageStore } from '../../shared/usage/usage-store.ts';

/** A key, and the number of shards over which its limits are spread. */
export interface KeyShards {
  id: string;
  shards: number;
}

/** The arrival times of a key's first and last request, in milliseconds since the epoch. */
export interface Lifetime {
  fromMs: number;
  untilMs: number;
}

export const ALWAYS: Lifetime = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY };

// It bounds both the parallel queries and the partitions of events in memory.
const QUERIES_AT_ONCE = 16;

// Request ids begin with their time, and the id of a later rating with the id of its request.
const byRequestId = (a: UsageEvent, b: UsageEvent): number => (a.request_id < b.request_id ? -1 : a.request_id > b.request_id ? 1 : 0);

const eventsOfBucket = async (
  usage: Pick<UsageStore, 'listByBucket'>,
  keys: readonly KeyShards[],
  startMs: number,
): Promise<UsageEvent[]> => {
  const shards = keys.flatMap(({ id, shards }) => shardIds(id, eventShardsOf(shards)));
  const events: UsageEvent[] = [];
  const failures = await inParallel(shards, QUERIES_AT_ONCE, async (shard) => {
    for await (const event of usage.listByBucket(shard, startMs)) events.push(event);
  });
  throwFailures(failures);
  return events.sort(byRequestId);
};

/**
 * A key's events of a UTC day from all of its shards, ordered by request id and so by time.
 * @param lifetime buckets outside it are not read
 * @throws AggregateError if a bucket can't be read
 */
export async function* eventsOfKeyDay(
  usage: Pick<UsageStore, 'listByBucket'>,
  key: KeyShards,
  day: string,
  { fromMs, untilMs }: Lifetime = ALWAYS,
): AsyncGenerator<UsageEvent> {
  const starts = bucketStarts(day).filter((startMs) => startMs + BUCKET_MS > fromMs && startMs <= untilMs);
  const atOnce = Math.max(1, Math.floor(QUERIES_AT_ONCE / eventShardsOf(key.shards)));
  for (let i = 0; i < starts.length; i += atOnce) {
    const buckets = starts.slice(i, i + atOnce).map((startMs) => eventsOfBucket(usage, [key], startMs));
    for (const events of await Promise.all(buckets)) yield* events;
  }
}
