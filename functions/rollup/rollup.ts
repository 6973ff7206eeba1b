import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import type { ActivityStore } from '../../shared/deployments/activity-store.ts';
import { type Bucket, type KeyDay, keyDayOf, timeOf } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { Rollup, RollupStore } from '../../shared/usage/rollup-store.ts';
import { addEvent, mergeTotals, noTotals } from '../../shared/usage/totals.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import { type ActivityOfBatch, createActivityOfBatch } from './activity.ts';

export interface Rollups {
  usage: Pick<UsageStore, 'listByBucket'>;
  rollups: RollupStore;
  /** Absent: the activity of deployments is not recorded. */
  activity?: Pick<ActivityStore, 'recordLast'>;
}

/** The model name for events without a model, which belong to crashed functions. */
export const NO_MODEL = '(none)';

/** The number of buckets, and then of days, that are processed concurrently. */
const PARALLEL = 16;

/** The totals of a bucket's events by model. */
export const rollUpEvents = async (bucket: Bucket, events: AsyncIterable<UsageEvent> | Iterable<UsageEvent>): Promise<Rollup[]> => {
  const byModel = new Map<string, Rollup>();
  const of = { ...keyDayOf(bucket), bucket: { shard: bucket.shard, time: timeOf(bucket.startMs) } };
  for await (const event of events) {
    const model = event.model ?? NO_MODEL;
    const rollup = byModel.get(model) ?? { ...of, model, orgId: event.org_id, totals: noTotals() };
    byModel.set(model, rollup);
    addEvent(rollup.totals, event);
  }
  return [...byModel.values()];
};

/** The totals of a day by model, from its ten-minute totals. */
export const rollUpDay = (tenMinutes: readonly Rollup[]): Rollup[] => {
  const byModel = new Map<string, Rollup>();
  for (const { keyId, day, model, orgId, totals } of tenMinutes)
    byModel.set(model, { keyId, day, model, orgId, totals: mergeTotals(byModel.get(model)?.totals ?? noTotals(), totals) });
  return [...byModel.values()];
};

const recomputeBucket = async ({ usage, rollups }: Rollups, bucket: Bucket, activity: ActivityOfBatch): Promise<void> => {
  const rows = await rollUpEvents(bucket, activity.observe(usage.listByBucket(bucket.shard, bucket.startMs)));
  for (const row of rows) await rollups.put(row);
};

const recomputeDay = async ({ rollups }: Rollups, of: KeyDay): Promise<void> => {
  for (const row of rollUpDay(await Array.fromAsync(rollups.listTenMinutes(of)))) await rollups.put(row);
};

/**
 * Recomputes the rows of these buckets, and then of their days, from stored data. It can be repeated, in any order, by any number of concurrent
 * consumers that can crash at any point: when every consumer's last attempt has succeeded, every row is complete.
 *
 * This holds although queries are not snapshots and consumers overtake each other. Events are only ever added, and a consumer counts only a row's own
 * events. So a row whose `n` equals the number of its events contains all of them, and nothing can replace it, because a row is only replaced by one
 * with a greater `n`. Until then a row can lack events, even some that another consumer has seen. But the consumer that receives a bucket's last
 * event queries consistently after that event was stored, so it counts all events: either its put succeeds, or an equal row already exists. The
 * same holds for days: each consumer reads a day after its puts, including failed ones, so the consumer that completes the day's last bucket, or
 * repeats that after a crash between the two steps, reads only complete buckets.
 * @throws AggregateError if some rows failed; all others are written
 */
export const recompute = async (deps: Rollups, buckets: readonly Bucket[], hasTime?: () => boolean): Promise<void> => {
  const days = new Map(buckets.map(keyDayOf).map((of) => [`${of.keyId}#${of.day}`, of]));
  const activity = createActivityOfBatch();
  const failures = await inParallel(buckets, PARALLEL, (bucket) => recomputeBucket(deps, bucket, activity), hasTime);
  failures.push(...(await inParallel([...days.values()], PARALLEL, (of) => recomputeDay(deps, of), hasTime)));
  if (deps.activity) failures.push(...(await inParallel(activity.latest(), PARALLEL, deps.activity.recordLast, hasTime)));
  throwFailures(failures);
};
