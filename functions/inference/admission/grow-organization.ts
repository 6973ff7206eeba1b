import {
  availableNanosOf,
  countedNanosAt,
  inFlightOf,
  isPrepaid,
  type LimiterItem,
  limitsOf,
  rateLimitsOf,
  shardsOf,
} from '../../../shared/admission/item/limiter-item.ts';
import type { BudgetPeriod } from '../../../shared/admission/item/limits.ts';
import { nextToSplit, randomShards, SPARE_IN_FLIGHT, shardId } from '../../../shared/admission/item/shards.ts';
import type { Split } from '../../../shared/admission/plans/split-shard.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { Limiters } from './reserve.ts';

// More requests in flight than this in one shard make the organization grow.
const GROW_ABOVE = 8;
// A shard that can be split holds at most this many requests, so that writing it never costs more than two units.
const IN_FLIGHT_BEFORE_SPLIT = 20;
// With this many requests in flight in each shard on average, a write costs one unit, and there are enough shards.
const MEAN_IN_FLIGHT = 7;
// The mean is estimated from this many shards.
const SAMPLED = 40;
// The limit of a transaction: each split is two writes.
const MAX_SPLITS = 40;
// After a transaction conflicted with requests, the next one splits this many times fewer shards.
const SMALLER = 4;
const MAX_TRANSACTIONS = 8;
// How long an environment waits after a failed split. Until then, shards take more requests than they should.
const BLOCKED_MS = 1_000;
// How long an environment waits, for each shard, after a survey that found enough shards. There are about as many
// environments as requests in flight, so all of them together make the same number of surveys at any size.
const UNNEEDED_MS = 250;

const MIN_REQUESTS_PER_MINUTE = 60;
const MIN_TOKENS_PER_MINUTE = 65_536;
const MIN_CONCURRENCY = 4;
// A new shard can get less concurrency than its share while its parent is busy, but at least this.
const MIN_FREE_CONCURRENCY = 2;
// Ten cents. Smaller parts would not fit typical requests.
const MIN_NANOS = 100_000_000n;

const maySplit = (item: LimiterItem, nowMs: number): boolean => {
  const { requestsPerMinute, tokensPerMinute, concurrency, budgets } = limitsOf(item);
  const counted = countedNanosAt(item, nowMs);
  const rooms = Object.entries(budgets).map(([period, nanos]) => nanos - counted[period as BudgetPeriod]);
  if (isPrepaid(item)) rooms.push(availableNanosOf(item));
  return (
    requestsPerMinute >= 2 * MIN_REQUESTS_PER_MINUTE &&
    tokensPerMinute >= 2 * MIN_TOKENS_PER_MINUTE &&
    concurrency >= 2 * MIN_CONCURRENCY &&
    rooms.every((room) => room >= 2n * MIN_NANOS)
  );
};

/**
 * The maximum number of requests in flight in a shard before it is split; Infinity if it can't be split. Lower if the
 * shard's concurrency is low: shards are split in order, so a full one would block all growth.
 */
export const inFlightBeforeSplit = (item: LimiterItem, nowMs: number): number =>
  maySplit(item, nowMs)
    ? Math.min(IN_FLIGHT_BEFORE_SPLIT, rateLimitsOf(item).concurrency - MIN_FREE_CONCURRENCY - SPARE_IN_FLIGHT)
    : Number.POSITIVE_INFINITY;

// An estimate from some of the shards.
const neededShards = async ({ store }: Limiters, organization: string, shards: number): Promise<number> => {
  const sample = await store.getMany([0, ...randomShards(shards, 0, SAMPLED - 1)].map((shard) => shardId(organization, shard)));
  const inFlight = sample.reduce((sum, item) => sum + inFlightOf(item), 0);
  return Math.ceil((inFlight * shards) / Math.max(1, sample.length) / MEAN_IN_FLIGHT);
};

const planGrowth = async ({ store, now }: Limiters, own: LimiterItem, most: number): Promise<Split[]> => {
  const { planSplit } = await import('../../../shared/admission/plans/split-shard.ts');
  const before = shardsOf(own);
  const splits: Split[] = [];
  for (const parent of await store.getMany(nextToSplit(before, most).map((shard) => shardId(own.id, shard)))) {
    const split = maySplit(parent, now()) ? planSplit(parent, shardId(own.id, before + splits.length), now()) : undefined;
    if (!split || rateLimitsOf(split.child).concurrency < MIN_FREE_CONCURRENCY) break;
    splits.push(split);
  }
  return splits;
};

// At least `least` shards are added even if the mean doesn't need them, because one is crowded.
const grow = async (limiters: Limiters, organization: string, least: number): Promise<boolean> => {
  const { store, cache, now } = limiters;
  const known = shardsOf(cache.get(organization)?.item);
  let shards = known;
  let needed: number | undefined;
  let most = MAX_SPLITS;
  for (let transaction = 0; transaction < MAX_TRANSACTIONS; transaction++) {
    const own = await store.get(organization);
    cache.set(organization, own, now());
    if (!own) return false;
    shards = shardsOf(own);
    // Another environment was faster.
    if (transaction === 0 && shards > known) break;
    needed ??= Math.max(shards + least, await neededShards(limiters, organization, shards));
    if (shards >= needed) break;
    const splits = await planGrowth(limiters, own, Math.min(most, needed - shards));
    if (splits.length === 0) break;
    if (await store.split(organization, splits, shards)) {
      shards += splits.length;
      cache.set(organization, { ...own, shards }, now());
    } else most = Math.ceil(most / SMALLER);
  }
  if (shards > known) logInfo('organization_grown', { organization, shards });
  return shards > known;
};

/**
 * Splits the next shards of an organization. Concurrent callers of this environment share one run.
 * @param least the minimum number of shards to add
 * @returns true if the organization has more shards than were known
 */
export const growOrganization = (limiters: Limiters, organization: string, least = 0): Promise<boolean> =>
  limiters.cache.share(`grow ${organization} ${least}`, () => grow(limiters, organization, least));

/** True if this environment found, a moment ago, that an organization can't get more shards. */
export const isGrowthBlocked = ({ cache, now }: Limiters, organization: string): boolean =>
  cache.isPaused(`blocked ${organization}`, now());

/** Remembers for a while that an organization can't get more shards. */
export const blockGrowth = ({ cache, now }: Limiters, organization: string): void =>
  cache.pause(`blocked ${organization}`, now() + BLOCKED_MS);

/**
 * Starts to grow an organization if an admission found a busy shard. The result never rejects: the next busy admission
 * tries again. The request must wait for it before it ends, because nothing runs after that.
 */
export const growIfBusy = (limiters: Limiters, organization: string, admitted: LimiterItem): Promise<unknown> | undefined => {
  const { cache, now } = limiters;
  if (inFlightOf(admitted) <= GROW_ABOVE || !maySplit(admitted, now())) return undefined;
  if (cache.isPaused(organization, now()) || isGrowthBlocked(limiters, organization)) return undefined;
  return growOrganization(limiters, organization)
    .then((hasGrown) => {
      if (!hasGrown) cache.pause(organization, now() + UNNEEDED_MS * shardsOf(cache.get(organization)?.item));
    })
    .catch((error: unknown) => logError('growth_failed', error, { organization }));
};
