import { furthestClock, inFlightOf, type LimiterItem, rateLimitsOf, shardsOf } from '../../../shared/admission/limiter-item.ts';
import { mergeShards } from '../../../shared/admission/merge-shards.ts';
import { planMove } from '../../../shared/admission/move-money.ts';
import { isMoneyRefusal, type Refusal } from '../../../shared/admission/refusal.ts';
import { randomShards, shardId, shardIds, wholeId } from '../../../shared/admission/shards.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { blockGrowth, growOrganization, IN_FLIGHT_BEFORE_SPLIT, isGrowthBlocked, maySplit } from './grow-organization.ts';
import {
  exactRefusal,
  type Known,
  type Limiters,
  type RefusedBy,
  type RequestedAmounts,
  type RequestedReservation,
  type Reserved,
  reserve,
} from './reserve.ts';

/** Shards are read this often for one request; meanwhile other requests can take what the reads showed. */
const MAX_SURVEYS = 6;
/** So often, a request that finds crowded shards only waits for more shards. */
const PATIENT_SURVEYS = 5;
/** The first time, a few shards are read, because one of them nearly always has room. */
const FEW = 8;
/** Later, this many are read in one call, or all if money is limited: it must be known what they have together. */
const MANY = 100;

/** A reservation in any of the shards of a key or an organization. */
export interface SharedReservation<Item extends LimiterItem> extends Omit<RequestedReservation<Item>, 'limiterId' | 'maxInFlight'> {
  ownerId: string;
  /** The owner's own item, which is its first shard. */
  own: Known;
  /** The number of shards that have a part of the limits, and the one to try first. */
  shards: number;
  first: number;
  /** What is known of another shard. */
  knownOf: (limiterId: string) => Promise<Known>;
  /** Whether the owner gets more shards under load. */
  isGrowing: boolean;
}

/** A refusal that this environment remembers and that still holds; it costs no call. */
export const remembered = (
  { cache, now }: Limiters,
  limiterId: string,
  requested: RequestedAmounts,
): RefusedBy<LimiterItem> | undefined => {
  const item = cache.get(limiterId)?.item;
  if (!item || !cache.refuses(limiterId, now())) return undefined;
  const refusal = exactRefusal(item, requested, now());
  return refusal && { item, refusal, nowMs: now(), roundTrips: 0 };
};

/** Whether a shard has room, but so many requests in flight that it must be split first. */
const isCrowded = ({ item, refusal }: RefusedBy<LimiterItem>): boolean =>
  refusal.dimension === 'concurrency' && inFlightOf(item) < rateLimitsOf(item).concurrency;

const anyOf = <Element>(elements: readonly Element[]): Element | undefined => elements[Math.floor(Math.random() * elements.length)];

/**
 * Reserves a request in one of its owner's shards. If that rejects it, it reads a few others, then all, and uses one with room, adds shards, or moves
 * money to one. It is rejected if all shards together have no room.
 * @throws what `check` throws; 503 if the limiter is too busy
 */
export const reserveInShards = async <Item extends LimiterItem>(
  limiters: Limiters,
  wanted: SharedReservation<Item>,
): Promise<Reserved<Item> | RefusedBy<LimiterItem>> => {
  const { ownerId, shards, first, isGrowing } = wanted;
  const whole = shards > 1 ? remembered(limiters, wholeId(ownerId), wanted) : undefined;
  if (whole) return whole;
  const limiterId = shardId(ownerId, first);
  const known = limiterId === ownerId ? wanted.own : await wanted.knownOf(limiterId);
  const mayGrow = isGrowing && known.item !== undefined && !isGrowthBlocked(limiters, ownerId);
  const maxInFlight = mayGrow && maySplit(known.item as LimiterItem, limiters.now()) ? IN_FLIGHT_BEFORE_SPLIT : undefined;
  const result = remembered(limiters, limiterId, wanted) ?? (await reserve(limiters, { ...wanted, limiterId, maxInFlight }, known));
  const roundTrips = result.roundTrips + (known.isExact ? 1 : 0);
  if ('entry' in result) return { ...result, roundTrips };
  // The image of the refusal can know of more shards than we did.
  if (Math.max(shards, shardsOf(result.item)) === 1 && !isCrowded(result)) return { ...result, roundTrips };
  return await reserveAnywhere(limiters, wanted, { ...result, roundTrips });
};

/** The items of some of the owner's shards: its own, the one that was tried, and others. All of them, if they are not more than `most`. */
const readShards = async <Item extends LimiterItem>(
  { store, cache, now }: Limiters,
  { ownerId, shards, first }: SharedReservation<Item>,
  most: number,
): Promise<{ items: [LimiterItem, ...LimiterItem[]] | undefined; isComplete: boolean }> => {
  const idsOf = (count: number): string[] =>
    count <= most
      ? shardIds(ownerId, count)
      : [...new Set([0, first, ...randomShards(count, first, most)])].map((shard) => shardId(ownerId, shard));
  const known = Math.max(shards, shardsOf(cache.get(ownerId)?.item));
  let items = await store.getMany(idsOf(known));
  const current = shardsOf(items[0]);
  if (current > known) items = await store.getMany(idsOf(current));
  for (const item of items) cache.set(item.id, item, now());
  return { items: items.length > 0 ? (items as [LimiterItem, ...LimiterItem[]]) : undefined, isComplete: current <= most };
};

const reserveAnywhere = async <Item extends LimiterItem>(
  limiters: Limiters,
  wanted: SharedReservation<Item>,
  tried: RefusedBy<LimiterItem>,
): Promise<Reserved<Item> | RefusedBy<LimiterItem>> => {
  const { store, cache, now } = limiters;
  let refused = tried;
  let isMoney = isMoneyRefusal(tried.refusal);
  let { isGrowing } = wanted;
  let { roundTrips } = tried;
  for (let survey = 0; survey < MAX_SURVEYS; survey++) {
    const { items, isComplete } = await readShards(limiters, wanted, survey === 0 ? FEW : isMoney ? Number.POSITIVE_INFINITY : MANY);
    roundTrips++;
    wanted.check(items?.[0], now());
    if (!items) break;
    const refusalOf = (item: LimiterItem, amounts: RequestedAmounts = wanted): Refusal | undefined =>
      exactRefusal(item, amounts, furthestClock(item, now()));
    if (isComplete) {
      const whole = mergeShards(items);
      const refusal = refusalOf(whole);
      if (refusal) {
        cache.refuse(wholeId(wanted.ownerId), whole, refusal, now());
        return { item: whole, refusal, nowMs: furthestClock(whole, now()), roundTrips };
      }
    }
    // Requests that were always slower than others are admitted where there is room, at a higher cost.
    if (survey >= PATIENT_SURVEYS) isGrowing = false;
    const limitOf = (item: LimiterItem): number | undefined => (isGrowing && maySplit(item, now()) ? IN_FLIGHT_BEFORE_SPLIT : undefined);
    let target = anyOf(items.filter((item) => !refusalOf(item, { ...wanted, maxInFlight: limitOf(item) })));
    if (!target && items.some((item) => !refusalOf(item))) {
      // Without a new shard, the ones with room take more requests, at a higher cost.
      isGrowing = !isGrowthBlocked(limiters, wanted.ownerId) && (await growOrganization(limiters, wanted.ownerId, 1));
      if (!isGrowing) blockGrowth(limiters, wanted.ownerId);
      roundTrips++;
      continue;
    }
    if (!target || isMoney) {
      // The shard that could not pay gets money for the next requests too, if the others have enough.
      const tried = items.find(({ id }) => id === refused.item.id);
      const payees = items.filter((item) => !refusalOf(item, { ...wanted, holdNanos: () => 0n }));
      const payee = tried && payees.includes(tried) ? tried : anyOf(payees);
      const move = payee && planMove(items, payee, wanted.requestId, wanted.holdNanos());
      if (move && (!target || !move.isScarce)) {
        roundTrips++;
        target = (await store.move(move)) ? await store.get(payee.id) : undefined;
      } else if (!target) {
        if (isComplete || (!payee && survey > 0)) break;
        isMoney = payee !== undefined;
        continue;
      }
    }
    if (!target) continue;
    const requested = { ...wanted, limiterId: target.id, maxInFlight: limitOf(target) };
    const result = await reserve(limiters, requested, { item: target, isExact: true });
    roundTrips += result.roundTrips;
    if ('entry' in result) return { ...result, roundTrips };
    refused = result;
  }
  // The shards together had room for it, but other requests were always faster.
  if (isMoneyRefusal(refused.refusal) || isCrowded(refused)) throw new ServiceUnavailable();
  return { ...refused, roundTrips };
};
