import { eventShardsOf, shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { shardsOfKey } from '../../../shared/admission/stores/shards-of-key.ts';
import { monthOf } from '../../../shared/billing/month.ts';
import type { Rerate } from '../../../shared/billing/rerate.ts';
import { inBatches } from '../../../shared/database/in-batches.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { requestTimeMs } from '../../../shared/ids/request-id.ts';
import { gpuCostNanos } from '../../../shared/prices/instance-price.ts';
import { costNanos } from '../../../shared/prices/price.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { bucketStarts } from '../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { BUCKET_MS, type UsageStore } from '../../../shared/usage/usage-store.ts';
import { findUsedKeys, type UsedKeysDependencies } from '../used-keys.ts';
import { changeOf, type RatingChange, ratingsOf } from './ratings.ts';
import { gpuAdjustment, usageAdjustment } from './usage-adjustment.ts';

/** The effect of a rerate on one event. */
export interface Change {
  /** The UTC month of the usage. */
  month: string;
  oldNanos: bigint;
  newNanos: bigint;
  isPrepaid: boolean;
  /** True if the adjusting event was stored before. */
  isStored: boolean;
}

/** A batch of price changes, with the writes for those not stored yet. */
export interface ChangeBatch {
  changes: readonly Change[];
  writes: readonly Write[];
}

/** The usage of an organization that a rerate works through. */
export interface RatedUsage {
  /** The keys or deployments with the days on which they may have usage, in order: `<id>#2026-10-07`. */
  units: () => Promise<string[]>;
  /**
   * Reads the changes of a unit in batches, so that few events are in memory. The writes of a batch fit a transaction.
   */
  batchesOf: (unit: string) => AsyncGenerator<ChangeBatch>;
}

export interface RatedUsageDependencies extends UsedKeysDependencies {
  limiters: LimiterReader & Pick<LimiterStore, 'listByOrganization'>;
  usage: Pick<UsageStore, 'listByBucket' | 'toPut'>;
  gpuEvents: Pick<GpuEventStore, 'listDays' | 'listByDeployment' | 'toAddRatings'>;
}

// Ten-minute buckets.
const PARALLEL_BUCKETS = 16;
// Each event takes one write, and may take another one for the sums of its day.
const MAX_BATCH_EVENTS = 40;

const isWithin = ({ start_time, end_time }: Rerate, ms: number): boolean => ms >= start_time && ms < end_time;

const daysOf = ({ start_time, end_time }: Rerate): string[] => {
  const days: string[] = [];
  for (let ms = Date.parse(dayOf(start_time)); ms < end_time; ms += DAY_MS) days.push(dayOf(ms));
  return days;
};

const splitUnit = (unit: string): { id: string; day: string } => {
  const [id = '', day = ''] = unit.split('#');
  return { id, day };
};

/** The UTC day of a unit. */
export const dayOfUnit = (unit: string): string => splitUnit(unit).day;

const toChange = <Event extends UsageEvent | GpuEvent>({ original, oldNanos, newNanos, number }: RatingChange<Event>): Change => ({
  month: monthOf('request_id' in original ? requestTimeMs(original.request_id) : original.started_at),
  oldNanos,
  newNanos,
  isPrepaid: original.is_prepaid === true,
  isStored: number === undefined,
});

const toBatches = <Event extends UsageEvent | GpuEvent>(
  changes: readonly RatingChange<Event>[],
  toWrite: (changes: readonly RatingChange<Event>[]) => Write[],
): ChangeBatch[] =>
  inBatches(changes, MAX_BATCH_EVENTS).map((batch) => ({
    changes: batch.map(toChange),
    writes: toWrite(batch.filter(({ number }) => number !== undefined)),
  }));

const requestsOf = (deps: RatedUsageDependencies, organization: string, rerate: Rerate): RatedUsage => {
  const { limiters, usage } = deps;
  const { subject } = rerate;
  if (subject.kind !== 'model') throw new Error(`Rerate ${rerate.id} targets an instance type, not a model.`);
  const adjusting = { rerate: rerate.id, from: subject.from.version, to: subject.to.version };
  const costOf = ({ prompt_tokens, cached_tokens, completion_tokens }: UsageEvent): bigint =>
    costNanos(subject.to, { promptTokens: prompt_tokens, cachedTokens: cached_tokens, completionTokens: completion_tokens });

  const readBuckets = async (buckets: readonly { shard: string; startMs: number }[]): Promise<UsageEvent[]> => {
    const events: UsageEvent[] = [];
    const read = async ({ shard, startMs }: (typeof buckets)[number]): Promise<void> => {
      for await (const event of usage.listByBucket(shard, startMs))
        if (event.model === subject.name && isWithin(rerate, requestTimeMs(event.request_id))) events.push(event);
    };
    throwFailures(await inParallel(buckets, PARALLEL_BUCKETS, read));
    return events;
  };

  return {
    units: async () => {
      const days = daysOf(rerate);
      const keysOf = await findUsedKeys(deps, organization, [days[0] as string, days.at(-1) as string]);
      return days.flatMap((day) => keysOf(day).map(({ key }) => `${key.id}#${day}`)).sort();
    },

    batchesOf: async function* (unit) {
      const { id: key, day } = splitUnit(unit);
      const shards = (await shardsOfKey(limiters, key)) ?? 1;
      const starts = bucketStarts(day).filter((ms) => ms + BUCKET_MS > rerate.start_time && ms < rerate.end_time);
      const buckets = starts.flatMap((startMs) => shardIds(key, eventShardsOf(shards)).map((shard) => ({ shard, startMs })));
      for (let i = 0; i < buckets.length; i += PARALLEL_BUCKETS) {
        const ratings = ratingsOf(await readBuckets(buckets.slice(i, i + PARALLEL_BUCKETS)), (event) => event.request_id);
        const changes = ratings.map((rated) => changeOf(rated, { ...adjusting, costOf })).filter((change) => change !== undefined);
        yield* toBatches(changes, (made) => made.map((change) => usage.toPut(usageAdjustment(change, adjusting), shards)));
      }
    },
  };
};

const gpuTimeOf = ({ gpuEvents }: RatedUsageDependencies, organization: string, rerate: Rerate): RatedUsage => {
  const { subject } = rerate;
  if (subject.kind !== 'instance_type') throw new Error(`Rerate ${rerate.id} targets a model, not an instance type.`);
  const adjusting = { rerate: rerate.id, from: subject.from.version, to: subject.to.version };
  const costOf = ({ seconds, instances }: GpuEvent): bigint => gpuCostNanos(subject.to, seconds, instances);
  return {
    units: async () => {
      const units = new Set<string>();
      const days = gpuEvents.listDays(organization, dayOf(rerate.start_time), dayOf(rerate.end_time));
      for await (const { day, deploymentId, instanceType } of days) if (instanceType === subject.name) units.add(`${deploymentId}#${day}`);
      return [...units].sort();
    },

    batchesOf: async function* (unit) {
      const { id: deployment, day } = splitUnit(unit);
      const events = await Array.fromAsync(gpuEvents.listByDeployment(deployment, day, day));
      const rated = events.filter(({ instance_type, started_at }) => instance_type === subject.name && isWithin(rerate, started_at));
      const changes = ratingsOf(rated, ({ id }) => id)
        .map((ratings) => changeOf(ratings, { ...adjusting, costOf }))
        .filter((change) => change !== undefined);
      yield* toBatches(changes, (made) => gpuEvents.toAddRatings(made.map((change) => gpuAdjustment(change, adjusting))));
    },
  };
};

/** The usage of an organization that a rerate may change. */
export const ratedUsage = (deps: RatedUsageDependencies, organization: string, rerate: Rerate): RatedUsage =>
  (rerate.subject.kind === 'model' ? requestsOf : gpuTimeOf)(deps, organization, rerate);
