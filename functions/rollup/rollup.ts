import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { type Bucket, type KeyDay, keyDayOf, timeOf } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { Rollup, RollupStore } from '../../shared/usage/rollup-store.ts';
import { addEvent, mergeTotals, noTotals } from '../../shared/usage/totals.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';

export interface Rollups {
  usage: Pick<UsageStore, 'listByBucket'>;
  rollups: RollupStore;
}

/** What the events of requests without a model are counted under: their function died with what it knew. */
export const NO_MODEL = '(none)';

/** Buckets, then days, that are worked on at the same time. */
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

/** The totals of a day by model from those of its ten minutes. */
export const rollUpDay = (tenMinutes: readonly Rollup[]): Rollup[] => {
  const byModel = new Map<string, Rollup>();
  for (const { keyId, day, model, orgId, totals } of tenMinutes)
    byModel.set(model, { keyId, day, model, orgId, totals: mergeTotals(byModel.get(model)?.totals ?? noTotals(), totals) });
  return [...byModel.values()];
};

/** Makes the rows of a bucket from its events. */
const recomputeBucket = async ({ usage, rollups }: Rollups, bucket: Bucket): Promise<void> => {
  const rows = await rollUpEvents(bucket, usage.listByBucket(bucket.shard, bucket.startMs));
  for (const row of rows) await rollups.put(row);
};

/** Makes the rows of a day from those of its ten minutes. */
const recomputeDay = async ({ rollups }: Rollups, of: KeyDay): Promise<void> => {
  for (const row of rollUpDay(await Array.fromAsync(rollups.listTenMinutes(of)))) await rollups.put(row);
};

/**
 * Makes the rows of these buckets, and then of their days, from what is stored. May be repeated, in any order, by any number of
 * consumers at once, each of which may die anywhere: when every consumer's last attempt has ended well, every row is the whole truth.
 *
 * Why, although no query is a snapshot and consumers overtake each other: events are only ever added, and whatever a consumer
 * counts into a row are events of that row. So a row whose `n` is the number of its events holds all of them, and nothing may
 * replace it, because a row gives way only to one with a greater `n`. Until then a row may lack events, also some that another consumer
 * had seen. But the consumer that receives a bucket's last event queries after that event was stored, consistently, and so counts all of them:
 * either its put is done, or a row with as many, the same, is there already. The day follows in the same way: each consumer reads it after its puts, also after
 * those that were refused, so whoever completes the last of its buckets, or repeats that after a death between the two steps, reads only whole ones.
 * @throws AggregateError when some could not be made; all others are
 */
export const recompute = async (deps: Rollups, buckets: readonly Bucket[], hasTime?: () => boolean): Promise<void> => {
  const days = new Map(buckets.map(keyDayOf).map((of) => [`${of.keyId}#${of.day}`, of]));
  const failures = await inParallel(buckets, PARALLEL, (bucket) => recomputeBucket(deps, bucket), hasTime);
  failures.push(...(await inParallel([...days.values()], PARALLEL, (of) => recomputeDay(deps, of), hasTime)));
  throwFailures(failures);
};
