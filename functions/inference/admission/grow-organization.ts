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
import type { Period } from '../../../shared/admission/item/limits.ts';
import { nextToSplit, randomShards, shardId } from '../../../shared/admission/item/shards.ts';
import { planSplit, SPARE, type Split } from '../../../shared/admission/plans/split-shard.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { Limiters } from './reserve.ts';

/** An organization gets more shards when an admission finds more requests than this in flight in one. */
const GROW_ABOVE = 8;
/** A shard that can be split holds at most this many requests, so that writing it never costs more than two units. */
const IN_FLIGHT_BEFORE_SPLIT = 20;
/** There are enough shards if each has so many requests in flight on average: one write unit. */
const MEAN_IN_FLIGHT = 7;
/** The mean is estimated from this many shards. */
const SAMPLED = 40;
/** One transaction splits at most this many shards: each is two writes. */
const MAX_SPLITS = 40;
/** After a transaction failed because requests wrote the same items, the next one splits fewer shards. */
const SMALLER = 4;
const MAX_TRANSACTIONS = 8;
/** After a shard could not be split, an environment waits this long before it tries again; meanwhile shards are not protected from crowds. */
const BLOCKED_MS = 1_000;
/** After growth was not needed on average, an environment waits this long before it looks again. */
const UNNEEDED_MS = 250;

/** No part is smaller than this, so that it fits typical requests. */
const MIN_REQUESTS_PER_MINUTE = 60;
const MIN_TOKENS_PER_MINUTE = 65_536;
const MIN_CONCURRENCY = 4;
/** A new shard can get less concurrency while its parent is busy, but at least this. */
const MIN_FREE_CONCURRENCY = 2;
/** Ten cents, in nano-dollars. */
const MIN_NANOS = 100_000_000n;

/** Whether both halves of a shard would still be large enough. */
const maySplit = (item: LimiterItem, nowMs: number): boolean => {
  const { requestsPerMinute, tokensPerMinute, concurrency, budgets } = limitsOf(item);
  const counted = countedNanosAt(item, nowMs);
  const rooms = Object.entries(budgets).map(([period, nanos]) => nanos - counted[period as Period]);
  if (isPrepaid(item)) rooms.push(availableNanosOf(item));
  return (
    requestsPerMinute >= 2 * MIN_REQUESTS_PER_MINUTE &&
    tokensPerMinute >= 2 * MIN_TOKENS_PER_MINUTE &&
    concurrency >= 2 * MIN_CONCURRENCY &&
    rooms.every((room) => room >= 2n * MIN_NANOS)
  );
};

/**
 * The most requests in flight in a shard before it is split; Infinity if it can't be. Fewer if its concurrency is low, so that its split doesn't have to wait
 * for one of them: shards are split in their order, so all growth would wait with it.
 */
export const inFlightBeforeSplit = (item: LimiterItem, nowMs: number): number =>
  maySplit(item, nowMs)
    ? Math.min(IN_FLIGHT_BEFORE_SPLIT, rateLimitsOf(item).concurrency - MIN_FREE_CONCURRENCY - SPARE)
    : Number.POSITIVE_INFINITY;

/** The number of shards for the requests that are in flight now, estimated from some of the shards. */
const neededShards = async ({ store }: Limiters, organization: string, shards: number): Promise<number> => {
  const sample = await store.getMany([0, ...randomShards(shards, 0, SAMPLED - 1)].map((shard) => shardId(organization, shard)));
  const inFlight = sample.reduce((sum, item) => sum + inFlightOf(item), 0);
  return Math.ceil((inFlight * shards) / Math.max(1, sample.length) / MEAN_IN_FLIGHT);
};

/** The splits that are possible now, in the order of the shards. */
const planGrowth = async ({ store, now }: Limiters, own: LimiterItem, most: number): Promise<Split[]> => {
  const before = shardsOf(own);
  const splits: Split[] = [];
  for (const parent of await store.getMany(nextToSplit(before, most).map((shard) => shardId(own.id, shard)))) {
    const split = maySplit(parent, now()) ? planSplit(parent, shardId(own.id, before + splits.length), now()) : undefined;
    if (!split || rateLimitsOf(split.child).concurrency < MIN_FREE_CONCURRENCY) break;
    splits.push(split);
  }
  return splits;
};

/** @param least so many shards are added even if the mean does not need them, because one is crowded */
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
 * Splits the next shards of an organization, once for all concurrent callers of this environment that want the same. Returns whether it has more shards than
 * were known.
 * @param least the number of shards that are added in any case
 */
export const growOrganization = (limiters: Limiters, organization: string, least = 0): Promise<boolean> =>
  limiters.cache.share(`grow ${organization} ${least}`, () => grow(limiters, organization, least));

/** Whether this environment has found, a moment ago, that an organization can't get more shards. */
export const isGrowthBlocked = ({ cache, now }: Limiters, organization: string): boolean =>
  cache.isPaused(`blocked ${organization}`, now());

/** Remembers for a while that an organization can't get more shards. */
export const blockGrowth = ({ cache, now }: Limiters, organization: string): void =>
  cache.pause(`blocked ${organization}`, now() + BLOCKED_MS);

/**
 * Starts to grow an organization if an admission found a shard of it busy. The result never rejects: if growth fails, the next busy admission tries
 * again. It runs beside the request, which must wait for it before it ends, because nothing runs after that.
 */
export const growIfBusy = (limiters: Limiters, organization: string, admitted: LimiterItem): Promise<unknown> | undefined => {
  const { cache, now } = limiters;
  if (inFlightOf(admitted) <= GROW_ABOVE || !maySplit(admitted, now())) return undefined;
  if (cache.isPaused(organization, now()) || isGrowthBlocked(limiters, organization)) return undefined;
  return growOrganization(limiters, organization)
    .then((hasGrown) => {
      if (!hasGrown) cache.pause(organization, now() + UNNEEDED_MS);
    })
    .catch((error: unknown) => logError('growth_failed', error, { organization }));
};
