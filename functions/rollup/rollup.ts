import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import type { ActivityStore } from '../../shared/deployments/activity-store.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { timeOf } from '../../shared/time/utc.ts';
import { type Bucket, type KeyDay, keyDayOf } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { Rollup, RollupStore } from '../../shared/usage/rollup-store.ts';
import { addEvent, mergeTotals, noTotals } from '../../shared/usage/totals.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import { createActivityOfBatch } from './activity.ts';
import { type Alerts, alertTasks } from './alerts.ts';
import { type BusyHour, createBusyDeployments } from './deployment-days.ts';
import { createOrganizationRollup, hasLostParts, type OrganizationRollups } from './organization-rollup.ts';
import { createSideCounts, type SideCount } from './splits/count-sides.ts';
import { type SplitDependencies, stopIfFailing } from './splits/stop-split.ts';

export interface Rollups extends OrganizationRollups {
  usage: Pick<UsageStore, 'listByBucket'>;
  rollups: RollupStore;
  /** Absent: the activity of deployments is not recorded. */
  activity?: Pick<ActivityStore, 'recordLast'>;
  /** Absent: no alerts of budgets and credit are sent. */
  alerts?: Alerts;
  /** Absent: splits of aliases don't stop by themselves. */
  splits?: SplitDependencies;
}

/** The model name for events without a model, which belong to crashed functions. */
export const NO_MODEL = '(none)';

// Buckets, and then spans, that are processed concurrently.
const PARALLEL_ROLLUPS = 16;

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

const recomputeBucket = async (
  { usage, rollups, splits }: Rollups,
  bucket: Bucket,
  { activity, organizations, newSides, busy }: Batch,
): Promise<void> => {
  const own = organizations.ofBucket(bucket);
  const sides = createSideCounts();
  const events = busy.observe(sides.observe(own.observe(usage.listByBucket(bucket.shard, bucket.startMs))));
  for (const row of await rollUpEvents(bucket, activity.observe(events))) await rollups.put(row);
  await own.write();
  for (const count of splits ? sides.list() : []) {
    await splits?.sides.put(bucket, count);
    newSides.set(count.splitId, count);
  }
};

const recomputeDay = async (deps: Rollups, of: KeyDay): Promise<void> => {
  const { rollups } = deps;
  if (hasLostParts(deps, of.day)) return logInfo('totals_expired', { key_id: of.keyId, day: of.day });
  for (const row of rollUpDay(await Array.fromAsync(rollups.listTenMinutes(of)))) await rollups.put(row);
};

const batchOf = (deps: Rollups) => ({
  activity: createActivityOfBatch(),
  organizations: createOrganizationRollup(deps),
  newSides: new Map<string, SideCount>(),
  busy: createBusyDeployments(),
});
type Batch = ReturnType<typeof batchOf>;

/**
 * Recomputes the rows of these buckets, and then of the spans of their keys and organizations, from stored data. It
 * can be repeated, in any order, by any number of concurrent consumers that can crash at any point: when every
 * consumer's last attempt has succeeded, every row is complete.
 *
 * This holds although queries are not snapshots and consumers overtake each other. Events are only ever added, and a
 * consumer counts only a row's own events. So a row whose `n` equals the number of its events contains all of them,
 * and nothing can replace it, because a row is only replaced by one with a greater `n`. Until then a row can lack
 * events, even some that another consumer has seen. But the consumer that receives a bucket's last event queries
 * consistently after that event was stored, so it counts all events: either its put succeeds, or an equal row already
 * exists. The same holds for all longer spans: each consumer reads the parts of a span after it has put its own, or
 * has read that an equal one exists. So the consumer that completes the last part, or repeats that after a crash
 * between the two steps, reads only complete parts.
 *
 * An organization's users are the exception to "a row's own events": when more users come, a user can become one of
 * the others. That user's row stays, and readers ignore it, because the row `(other)` names the last user who is not
 * in it. The more users are known, the earlier that name, so the events of `(other)` only ever become more.
 *
 * An event that comes after the ten-minute rows of its day have expired, 90 days later, is not added to the day: some
 * of the day's parts are gone. The log names the day, which `rebuild` makes again from events.
 * @throws AggregateError if some rows or alerts failed; all others are written or sent
 */
export const recompute = async (deps: Rollups, buckets: readonly Bucket[], hasTime?: () => boolean): Promise<void> => {
  const days = new Map(buckets.map(keyDayOf).map((of) => [`${of.keyId}#${of.day}`, of]));
  const batch = batchOf(deps);
  const { activity, organizations, newSides } = batch;
  const { splits } = deps;
  const failures: unknown[] = [];
  const each = async <Part>(parts: readonly Part[], work: (part: Part) => Promise<void>): Promise<void> => {
    failures.push(...(await inParallel(parts, PARALLEL_ROLLUPS, work, hasTime)));
  };
  await each(buckets, (bucket) => recomputeBucket(deps, bucket, batch));
  await each([...days.values()], (of) => recomputeDay(deps, of));
  await each(organizations.touched('ten_minutes'), organizations.sumTenMinutes);
  await each(organizations.touched('hour'), organizations.sumHour);
  await each(organizations.touched('day'), organizations.sumDay);
  const { deploymentDays } = deps;
  const addBusy = async ({ deployment, hourMs, bits }: BusyHour) => void (await deploymentDays?.addBusy(deployment, hourMs, bits));
  if (deploymentDays) await each(batch.busy.hours(), addBusy);
  if (deps.activity) await each(activity.latest(), deps.activity.recordLast);
  if (splits) await each([...newSides.values()], (count) => stopIfFailing(splits, count));
  if (deps.alerts) await each(alertTasks(organizations.owners()), deps.alerts.send);
  throwFailures(failures);
};
