import { setTimeout as delay } from 'node:timers/promises';
import {
  budgetsOf,
  countsMoney,
  countsRates,
  entryOf,
  furthestClock,
  inFlightOf,
  isPrepaid,
  type LimiterItem,
  moneyOf,
  rateLimitsOf,
  staleCounters,
  tokensToReserve,
  usageOf,
} from '../../../shared/admission/item/limiter-item.ts';
import type { LimiterRefusal } from '../../../shared/admission/item/refusal.ts';
import type { Entry } from '../../../shared/admission/item/reservation-entry.ts';
import { PAST_SLOTS, refusalOf, roomFor, SLOT_MS, slotOf, type Window } from '../../../shared/admission/item/sliding-window.ts';
import { moneyRefusalOf } from '../../../shared/admission/item/spending.ts';
import type { RateBound, ReservationPlan, SlotBounds } from '../../../shared/admission/plans/reservation-plan.ts';
import type { LimiterCache } from '../../../shared/admission/stores/limiter-cache.ts';
import type { AdmitResult, LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';

// After this many failed conditions in a row the limiter is too busy: 503.
const MAX_WRITE_ATTEMPTS = 6;
// The number of attempts that can fail because of the database; the waits between them grow.
const MAX_OUTAGES = 3;
const OUTAGE_WAIT_MS = 50;

export interface Limiters {
  store: LimiterStore;
  cache: LimiterCache;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A reservation that a request needs, independent of any image of the limiter. */
export interface RequestedReservation<Item extends LimiterItem> {
  limiterId: string;
  requestId: string;
  /** To reserve from the tokens-per-minute limit. */
  tokens: number;
  /** The maximum cost in nano-dollars; computed only if money is limited. */
  holdNanos: () => bigint;
  /** The maximum number of requests in flight in an item, besides its limit; absent: only the limit holds. */
  maxInFlightIn?: ((item: LimiterItem) => number) | undefined;
  /** The entry's link, from the item that the write verifies. */
  linkOf: (item: Item) => Entry['link'];
  /** The deployment that is tried first, as the entry names it. */
  deployment?: string | undefined;
  /**
   * The end user and the project in whose limiters the request is reserved next, from the item that the write
   * verifies.
   */
  chainOf?: (item: Item) => Pick<Entry, 'user' | 'project'>;
  /** When DynamoDB may delete the item; default: never. */
  deleteAt?: number;
  /** Returns the item if its configuration allows the request. @throws otherwise */
  check: (item: LimiterItem | undefined, nowMs: number) => Item;
}

/** The known state of a limiter before the write. `isExact`: it was just read. */
export interface Known {
  item: LimiterItem | undefined;
  isExact: boolean;
}

export interface Reserved<Item> {
  item: Item;
  entry: Entry;
  nowMs: number;
  roundTrips: number;
}

export interface RefusedBy<Item> {
  item: Item;
  refusal: LimiterRefusal;
  nowMs: number;
  roundTrips: number;
}

export type RequestedAmounts = Pick<RequestedReservation<LimiterItem>, 'requestId' | 'tokens' | 'holdNanos' | 'maxInFlightIn'>;

const holdFor = (item: LimiterItem, { holdNanos }: RequestedAmounts): bigint => (countsMoney(item) ? holdNanos() : 0n);

const concurrencyFor = (item: LimiterItem, { maxInFlightIn }: RequestedAmounts): number =>
  Math.min(rateLimitsOf(item).concurrency, maxInFlightIn?.(item) ?? Number.POSITIVE_INFINITY);

/**
 * The reason for which a request doesn't fit an image; undefined if it fits. Spent money takes precedence over limits
 * that last a minute.
 */
export const exactRefusal = (item: LimiterItem, requested: RequestedAmounts, nowMs: number): LimiterRefusal | undefined => {
  const money = countsMoney(item) ? moneyRefusalOf(moneyOf(item, requested.requestId), requested.holdNanos(), nowMs) : undefined;
  const limits = { ...rateLimitsOf(item), concurrency: concurrencyFor(item, requested) };
  const rate = refusalOf(limits, usageOf(item, slotOf(nowMs)), tokensToReserve(item, requested.tokens), nowMs);
  return money && !money.isHeld ? money : (rate ?? money);
};

/** True if a shard has room, but so many requests in flight that it must be split first. */
export const isCrowded = ({ item, refusal }: RefusedBy<LimiterItem>): boolean =>
  refusal.dimension === 'concurrency' && inFlightOf(item) < rateLimitsOf(item).concurrency;

// Slots that the image knows only in part get an equal share of the room that is left, and the current slot gets the
// rest. `unknown` is the number of newest slots that can have more counts than the image.
const rateBound = (limit: number, { current, past }: Window, amount: number, unknown: number): RateBound | undefined => {
  if (limit === Number.POSITIVE_INFINITY) return undefined;
  const share = Math.max(0, Math.floor((roomFor(limit, past, amount) - current) / (unknown + 1)));
  const assumed = unknown === 0 ? past : past.map((count, i) => (i < unknown ? count + share : count));
  return { past: assumed, most: roomFor(limit, assumed, amount) };
};

// Undefined if the image has no room. An exact image that the request fits can have negative bounds, because releases
// after a split can leave a shard with a negative count.
const slotBounds = (item: LimiterItem, tokens: number, clock: number, isExact: boolean): SlotBounds | undefined => {
  const slot = slotOf(clock);
  const limits = rateLimitsOf(item);
  const usage = usageOf(item, slot);
  const unknown = isExact ? 0 : Math.min(PAST_SLOTS, slot - (item.slot ?? 0));
  const ofRequests = rateBound(limits.requestsPerMinute, usage.requests, 1, unknown);
  const ofTokens = rateBound(limits.tokensPerMinute, usage.tokens, tokens, unknown);
  if (!isExact && Math.min(ofRequests?.most ?? 0, ofTokens?.most ?? 0) < 0) return undefined;
  return { slot, tokens, ofRequests, ofTokens, stale: staleCounters(item, slot) };
};

// Undefined if a bound would be negative, because such a write must not be sent.
const planOf = <Item extends LimiterItem>(
  item: Item,
  requested: RequestedReservation<Item>,
  { clock, admittedAtMs, isExact }: { clock: number; admittedAtMs: number; isExact: boolean },
): ReservationPlan | undefined => {
  const tokens = tokensToReserve(item, requested.tokens);
  const holdNanos = holdFor(item, requested);
  const counted = countsRates(item) ? slotBounds(item, tokens, clock, isExact) : undefined;
  if (countsRates(item) && !counted) return undefined;
  const budgets: ReservationPlan['budgets'] = {};
  for (const { period, limitNanos } of budgetsOf(item, requested.requestId)) {
    if (!isExact && limitNanos < holdNanos) return undefined;
    budgets[period] = limitNanos - holdNanos;
  }
  return {
    limiterId: requested.limiterId,
    requestId: requested.requestId,
    entry: {
      admittedAtMs,
      tokens: counted && tokens,
      holdNanos,
      isFromCredit: isPrepaid(item) && holdNanos > 0n,
      link: requested.linkOf(item),
      ...(requested.deployment !== undefined && { deployment: requested.deployment }),
      ...requested.chainOf?.(item),
    },
    cfg: item.cfg,
    concurrency: concurrencyFor(item, requested),
    ...(counted && { counted }),
    budgets,
    deleteAt: requested.deleteAt,
    nowMs: clock,
  };
};

// Each attempt with an unknown outcome has a time of its own: one that arrives after the settlement of its request must
// not be mistaken for the settled one.
const distinctTime = (clock: number, unknown: readonly ReservationPlan[]): number => {
  const attempts = unknown.length;
  if (!unknown.some(({ nowMs }) => nowMs === clock)) return clock;
  return (clock % SLOT_MS) + attempts < SLOT_MS ? clock + attempts : clock - attempts;
};

// This can fail for the same reason as the writes; then the sweep undoes them.
const undoUnknown = async (store: LimiterStore, plans: readonly ReservationPlan[]): Promise<void> => {
  for (const { limiterId, requestId, entry, nowMs } of plans)
    await store.end({ limiterId, requestId, entry, used: 'undone', nowMs }).catch(() => undefined);
};

/**
 * Reserves a request in one limiter, usually with one conditional write: the cached image gives the first guess, and
 * the condition verifies it. The proof is in docs/admission.md.
 * @throws the errors of `check`; 503 if the limiter is too busy or during an outage, and then the entry may exist
 */
export const reserve = async <Item extends LimiterItem>(
  limiters: Limiters,
  requested: RequestedReservation<Item>,
  known: Known,
): Promise<Reserved<Item> | RefusedBy<Item>> => {
  const unknown: ReservationPlan[] = [];
  let result: Reserved<Item> | RefusedBy<Item> | undefined;
  try {
    result = await tryToReserve(limiters, requested, known, unknown);
    return result;
  } finally {
    if (!result || 'refusal' in result) await undoUnknown(limiters.store, unknown);
  }
};

// Collects the attempts with an unknown outcome in `unknown`.
const tryToReserve = async <Item extends LimiterItem>(
  { store, cache, now }: Limiters,
  requested: RequestedReservation<Item>,
  known: Known,
  unknown: ReservationPlan[],
): Promise<Reserved<Item> | RefusedBy<Item>> => {
  const { limiterId, requestId } = requested;
  let { item: seen, isExact } = known;
  let roundTrips = 0;
  for (let attempt = 0; attempt < MAX_WRITE_ATTEMPTS; attempt++) {
    const item = requested.check(seen, now());
    const clock = furthestClock(item, now());
    if (isExact) {
      const refusal = exactRefusal(item, requested, clock);
      if (refusal) {
        cache.refuse(limiterId, item, refusal, now());
        return { item, refusal, nowMs: clock, roundTrips };
      }
    }
    const plan = planOf(item, requested, { clock, admittedAtMs: distinctTime(clock, unknown), isExact });
    roundTrips++;
    if (!plan) {
      // Neither the image nor the guess has room, so read the item.
      seen = await store.get(limiterId);
      isExact = true;
      continue;
    }
    let result: AdmitResult;
    try {
      result = await store.admit(plan);
    } catch (error) {
      unknown.push(plan);
      if (unknown.length === MAX_OUTAGES || !(error instanceof ServiceUnavailable)) throw error;
      await delay(OUTAGE_WAIT_MS * unknown.length * (1 + Math.random()));
      continue;
    }
    seen = 'admitted' in result ? result.admitted : result.refused;
    isExact = true;
    cache.set(limiterId, seen, now());
    const entry = seen && entryOf(seen, requestId);
    // If our id is in flight, a write succeeded, perhaps an earlier one whose response was lost.
    if (entry) return { item: seen as Item, entry, nowMs: clock, roundTrips };
  }
  throw new ServiceUnavailable();
};
