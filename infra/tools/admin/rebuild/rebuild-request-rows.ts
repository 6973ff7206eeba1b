import { eventShardsOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { expiresAt } from '../../../../shared/observability/request-partitions.ts';
import { requestRowOf } from '../../../../shared/observability/request-row.ts';
import type { RequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { bucketStarts } from '../../../../shared/usage/bucket.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import type { KeyShards } from './rebuild-key.ts';

export interface RequestRowDependencies {
  usage: Pick<UsageStore, 'listByBucket'>;
  requestRows: Pick<RequestRowStore, 'writer'>;
}

const BUCKETS_AT_ONCE = 16;

/**
 * Writes the rows by which requests of a UTC day are searched, from their events, as the stream's consumer does.
 * @returns the number of requests; 0 for a day whose rows have expired
 */
export const rebuildRequestRows = async (
  { usage, requestRows }: RequestRowDependencies,
  { day, keys }: { day: string; keys: readonly KeyShards[] },
  nowMs: number,
): Promise<number> => {
  if (expiresAt(day) * 1_000 <= nowMs) return 0;
  let rows = 0;
  const writer = requestRows.writer();
  const shards = keys.flatMap(({ id, shards }) => shardIds(id, eventShardsOf(shards)));
  const buckets = shards.flatMap((shard) => bucketStarts(day).map((startMs) => ({ shard, startMs })));
  const failures = await inParallel(buckets, BUCKETS_AT_ONCE, async ({ shard, startMs }) => {
    for await (const event of usage.listByBucket(shard, startMs)) {
      const row = requestRowOf(event);
      if (!row) continue;
      await writer.put(row);
      rows++;
    }
  });
  throwFailures(failures);
  return rows;
};
