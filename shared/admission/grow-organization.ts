import { logError, logInfo } from '../logging/log.ts';
import { availableNanosOf, countedNanosAt, isPrepaid, type LimiterItem, limitsOf, shardsOf, usageOf } from './limiter-item.ts';
import type { Period } from './limits.ts';
import type { Limiters } from './reserve.ts';
import { nextToSplit, shardId } from './shards.ts';
import { planSplit, type Split } from './split-shard.ts';

/** An organization gets more shards when an admission finds more requests than this in flight in one. */
const GROW_ABOVE = 8;
/** A shard that can be split holds at most this many requests, so that writing it never costs more than two units. */
export const IN_FLIGHT_BEFORE_SPLIT = 20;
/** How many shards one transaction splits. A smaller one succeeds more easily while requests write the same items. */
const SPLITS = [20, 4, 1];
/** After nothing could be split, an environment waits this long before it tries again, unless a request needs a shard. */
const PAUSE_MS = 1_000;

/** No part is smaller than this, so that it fits typical requests. */
const MIN_REQUESTS_PER_MINUTE = 60;
const MIN_TOKENS_PER_MINUTE = 65_536;
const MIN_CONCURRENCY = 7;
/** A new shard can get less concurrency while its parent is busy, but at least this. */
const MIN_FREE_CONCURRENCY = 4;
/** Ten cents, in nano-dollars. */
const MIN_NANOS = 100_000_000n;

/** Whether both halves of a shard would still be large enough. */
export const maySplit = (item: LimiterItem, nowMs: number): boolean => {
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

/** The splits that are possible now, in the order of the shards. */
const planGrowth = async ({ store, now }: Limiters, own: LimiterItem, most: number): Promise<Split[]> => {
  const before = shardsOf(own);
  const splits: Split[] = [];
  for (const parent of await store.getMany(nextToSplit(before, most).map((shard) => shardId(own.id, shard)))) {
    const split = maySplit(parent, now()) ? planSplit(parent, shardId(own.id, before + splits.length), now()) : undefined;
    if (!split || (split.child.lim_c ?? MIN_FREE_CONCURRENCY) < MIN_FREE_CONCURRENCY) break;
    splits.push(split);
  }
  return splits;
};

const grow = async (limiters: Limiters, organization: string): Promise<boolean> => {
  const { store, cache, now } = limiters;
  const known = shardsOf(cache.get(organization)?.item ?? ({} as LimiterItem));
  let shards = 0;
  for (const most of SPLITS) {
    const own = await store.get(organization);
    cache.set(organization, own, now());
    shards = own ? shardsOf(own) : 0;
    // Another environment was faster.
    if (!own || shards > known) break;
    const splits = await planGrowth(limiters, own, most);
    if (splits.length === 0) return false;
    if (await store.split(organization, splits, shards)) {
      shards += splits.length;
      cache.set(organization, { ...own, shards }, now());
      logInfo('organization_grown', { organization, shards });
      break;
    }
  }
  return shards > known;
};

/** Splits the next shards of an organization, once for all concurrent callers of this environment. Returns whether it has more shards than were known. */
export const growOrganization = (limiters: Limiters, organization: string): Promise<boolean> =>
  limiters.cache.share(`grow ${organization}`, () => grow(limiters, organization));

/**
 * Starts to grow an organization if an admission found a shard of it busy. The result never rejects: if growth fails, the next busy admission tries
 * again. It runs beside the request, which must wait for it before it ends, because nothing runs after that.
 */
export const growIfBusy = (limiters: Limiters, organization: string, admitted: LimiterItem): Promise<unknown> | undefined => {
  const { cache, now } = limiters;
  if (usageOf(admitted, 0).inFlight <= GROW_ABOVE || !maySplit(admitted, now()) || cache.isPaused(organization, now())) return undefined;
  return growOrganization(limiters, organization)
    .then((hasGrown) => {
      if (!hasGrown) cache.pause(organization, now() + PAUSE_MS);
    })
    .catch((error: unknown) => logError('growth_failed', error, { organization }));
};
