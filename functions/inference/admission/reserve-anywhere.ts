import { furthestClock, type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { isMoneyRefusal, type LimiterRefusal } from '../../../shared/admission/item/refusal.ts';
import { randomShards, shardId, shardIds, wholeId } from '../../../shared/admission/item/shards.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import { planMove } from '../../../shared/admission/plans/move-money.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { blockGrowth, growOrganization, inFlightBeforeSplit, isGrowthBlocked } from './grow-organization.ts';
import {
  exactRefusal,
  isCrowded,
  type Known,
  type Limiters,
  type RefusedBy,
  type RequestedAmounts,
  type RequestedReservation,
  type Reserved,
  reserve,
} from './reserve.ts';

// The maximum number of surveys for one request; other requests can take what a survey found.
const MAX_SURVEYS = 6;
// The number of surveys in which a request prefers new shards to crowded ones.
const PATIENT_SURVEYS = 5;
// The first survey reads only a few shards, because one of them nearly always has room.
const FEW = 8;
// Later surveys read this many in one call, or all if money is limited: their total must be known.
const MANY = 100;

/** A reservation in any of the shards of a key or an organization. */
export interface SharedReservation<Item extends LimiterItem> extends Omit<RequestedReservation<Item>, 'limiterId' | 'maxInFlightIn'> {
  ownerId: string;
  /** The owner's own item, which is its first shard. */
  own: Known;
  /** The number of shards that share the limits, and the one to try first. */
  shards: number;
  first: number;
  /** Looks up the known state of another shard. */
  knownOf: (limiterId: string) => Promise<Known>;
  /** True if the owner gets more shards under load. */
  isGrowing: boolean;
}

type Wanted = RequestedAmounts & Pick<SharedReservation<LimiterItem>, 'ownerId' | 'shards' | 'first'>;

interface Search {
  // The number of surveys so far.
  survey: number;
  // The last refusal by a shard.
  refused: RefusedBy<LimiterItem>;
  isMoney: boolean;
  isGrowing: boolean;
  roundTrips: number;
}

interface Survey {
  items: readonly [LimiterItem, ...LimiterItem[]];
  isComplete: boolean;
}

const anyOf = <Element>(elements: readonly Element[]): Element | undefined => elements[Math.floor(Math.random() * elements.length)];

const refusalBy = ({ now }: Limiters, item: LimiterItem, amounts: RequestedAmounts): LimiterRefusal | undefined =>
  exactRefusal(item, amounts, furthestClock(item, now()));

// Undefined: only the shard's own limit holds.
const protectionOf = ({ now }: Limiters, { isGrowing }: Search): RequestedAmounts['maxInFlightIn'] =>
  isGrowing ? (item) => inFlightBeforeSplit(item, now()) : undefined;

const mostToRead = ({ survey, isMoney }: Search): number => {
  if (survey === 0) return FEW;
  return isMoney ? Number.POSITIVE_INFINITY : MANY;
};

const readShards = async (
  { store, cache, now }: Limiters,
  { ownerId, shards, first }: Wanted,
  most: number,
): Promise<Survey | undefined> => {
  const idsOf = (count: number): string[] =>
    count <= most
      ? shardIds(ownerId, count)
      : [...new Set([0, first, ...randomShards(count, first, most)])].map((shard) => shardId(ownerId, shard));
  const known = Math.max(shards, shardsOf(cache.get(ownerId)?.item));
  let items = await store.getMany(idsOf(known));
  const current = shardsOf(items[0]);
  if (current > known) items = await store.getMany(idsOf(current));
  for (const item of items) cache.set(item.id, item, now());
  return items.length > 0 ? { items: items as [LimiterItem, ...LimiterItem[]], isComplete: current <= most } : undefined;
};

const refusedByAll = (limiters: Limiters, wanted: Wanted, { items, isComplete }: Survey) => {
  const whole = isComplete ? mergeShards(items) : undefined;
  const refusal = whole && refusalBy(limiters, whole, wanted);
  if (!refusal) return undefined;
  const { cache, now } = limiters;
  cache.refuse(wholeId(wanted.ownerId), whole, refusal, now());
  return { item: whole, refusal, nowMs: furthestClock(whole, now()) };
};

// Without a new shard, those with room take more requests, at a higher cost.
const addShards = async (limiters: Limiters, { ownerId }: Wanted, search: Search): Promise<void> => {
  search.roundTrips++;
  search.isGrowing = !isGrowthBlocked(limiters, ownerId) && (await growOrganization(limiters, ownerId, 1));
  if (!search.isGrowing) blockGrowth(limiters, ownerId);
};

// The shard that couldn't pay gets the money, for later requests too, or else any that has room for everything but
// money.
const payeeOf = (limiters: Limiters, wanted: Wanted, { refused }: Search, { items }: Survey): LimiterItem | undefined => {
  const payees = items.filter((item) => !refusalBy(limiters, item, { ...wanted, holdNanos: () => 0n }));
  return payees.find(({ id }) => id === refused.item.id) ?? anyOf(payees);
};

const findShard = async (
  limiters: Limiters,
  wanted: Wanted,
  search: Search,
  survey: Survey,
): Promise<LimiterItem | 'look again' | 'give up'> => {
  const { items, isComplete } = survey;
  const protectedAmounts = { ...wanted, maxInFlightIn: protectionOf(limiters, search) };
  const free = anyOf(items.filter((item) => !refusalBy(limiters, item, protectedAmounts)));
  if (!free && items.some((item) => !refusalBy(limiters, item, wanted))) {
    await addShards(limiters, wanted, search);
    return 'look again';
  }
  if (free && !search.isMoney) return free;
  const payee = payeeOf(limiters, wanted, search, survey);
  const move = payee && planMove(items, payee, wanted.requestId, wanted.holdNanos());
  if (move && !(free && move.isScarce)) {
    search.roundTrips++;
    const isMoved = await limiters.store.move(move);
    return (isMoved ? await limiters.store.get(payee.id) : undefined) ?? 'look again';
  }
  if (free) return free;
  if (isComplete || (!payee && search.survey > 0)) return 'give up';
  search.isMoney = payee !== undefined;
  return 'look again';
};

/**
 * Reserves a request that one of its owner's shards rejected: surveys other shards and uses one with room, adds shards,
 * or moves money to one.
 * @throws the errors of `check`; 503 if other requests were always faster
 */
export const reserveAnywhere = async <Item extends LimiterItem>(
  limiters: Limiters,
  wanted: SharedReservation<Item>,
  tried: RefusedBy<LimiterItem>,
): Promise<Reserved<Item> | RefusedBy<LimiterItem>> => {
  const search: Search = {
    survey: 0,
    refused: tried,
    isMoney: isMoneyRefusal(tried.refusal),
    isGrowing: wanted.isGrowing,
    roundTrips: tried.roundTrips,
  };
  for (; search.survey < MAX_SURVEYS; search.survey++) {
    const survey = await readShards(limiters, wanted, mostToRead(search));
    search.roundTrips++;
    wanted.check(survey?.items[0], limiters.now());
    if (!survey) break;
    const refusedAll = refusedByAll(limiters, wanted, survey);
    if (refusedAll) return { ...refusedAll, roundTrips: search.roundTrips };
    // A request that was always too slow is admitted where there is room, at a higher cost.
    if (search.survey >= PATIENT_SURVEYS) search.isGrowing = false;
    const found = await findShard(limiters, wanted, search, survey);
    if (found === 'give up') break;
    if (found === 'look again') continue;
    const requested = { ...wanted, limiterId: found.id, maxInFlightIn: protectionOf(limiters, search) };
    const result = await reserve(limiters, requested, { item: found, isExact: true });
    search.roundTrips += result.roundTrips;
    if ('entry' in result) return { ...result, roundTrips: search.roundTrips };
    search.refused = result;
  }
  const { refused, roundTrips } = search;
  // The shards together had room for it, but other requests were always faster.
  if (isMoneyRefusal(refused.refusal) || isCrowded(refused)) throw new ServiceUnavailable();
  return { ...refused, roundTrips };
};
