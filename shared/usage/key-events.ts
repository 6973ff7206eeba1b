import { eventShardsOf, shardIds } from '../admission/shards.ts';
import { bucketStarts, type KeyDay } from './bucket.ts';
import type { UsageEvent } from './event.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * The events of a key whose requests arrived on a UTC day: ten minutes after ten minutes, of each its shards in their order, and of each shard by time.
 * The order does not depend on the number of shards. Costs at least 144 queries for each shard.
 * @param shards the highest number of shards that the key has had since that day
 */
export async function* eventsOfKeyDay(
  usage: Pick<UsageStore, 'listByBucket'>,
  { keyId, day }: KeyDay,
  shards: number,
): AsyncGenerator<UsageEvent> {
  const ids = shardIds(keyId, eventShardsOf(shards));
  for (const startMs of bucketStarts(day)) for (const shard of ids) yield* usage.listByBucket(shard, startMs);
}
