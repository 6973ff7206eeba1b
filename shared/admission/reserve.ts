import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseUnavailable } from '../database/outage.ts';
import { ServiceUnavailable } from '../http/errors.ts';
import { type Entry, readEntry } from './entry.ts';
import { budgetsOf, countsMinutes, countsMoney, type LimiterItem, limitsOf, moneyOf, usageOf } from './limiter.ts';
import type { LimiterCache } from './limiter-cache.ts';
import type { AdmitResult, LimiterStore } from './limiter-store.ts';
import { moneyRefusalOf } from './money.ts';
import type { Refusal } from './refusal.ts';
import type { MinuteBounds, Reservation } from './reservation.ts';
import { MINUTE_MS, minuteOf, refusalOf, roomFor } from './window.ts';

/** More refusals of the condition in a row than this mean a limiter under a storm: 503, try again. */
const MAX_ATTEMPTS = 6;
/** Of these, so many may find the database away; the waits between them grow. */
const MAX_OUTAGES = 3;
const OUTAGE_WAIT_MS = 50;

export interface Limiters {
  store: LimiterStore;
  cache: LimiterCache;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** What a request asks of one limiter. */
export interface Ask<Item extends LimiterItem> {
  limiterId: string;
  requestId: string;
  /** Tokens to reserve out of the tokens-per-minute limit. */
  tokens: number;
  /** What it may cost at most; asked for only where money is limited. */
  holdNanos: () => bigint;
  /** By the item that the write proves. */
  linkOf: (item: Item) => Entry['link'];
  /** The item, if its configuration lets the request in; throws otherwise. */
  check: (item: LimiterItem | undefined, nowMs: number) => Item;
}

/** What is known of a limiter before it is asked: `isExact` just after a read. */
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
  refusal: Refusal;
  nowMs: number;
  roundTrips: number;
}

type AskedItem = Pick<Ask<LimiterItem>, 'requestId' | 'tokens' | 'holdNanos'>;

/** Tokens to reserve in this item: no more than its whole limit where that is a share of a larger one, which the request fits. */
const tokensFor = (item: LimiterItem, tokens: number): number =>
  item.all_t !== undefined && tokens <= item.all_t ? Math.min(tokens, item.lim_t ?? tokens) : tokens;

const holdFor = (item: LimiterItem, { holdNanos }: AskedItem): bigint => (countsMoney(item) ? holdNanos() : 0n);

/** The exact rule, applied to an image: why it lets the request not in, if so. Money that is gone comes before limits that only last a minute. */
export const exactRefusal = (item: LimiterItem, ask: AskedItem, nowMs: number): Refusal | undefined => {
  const money = countsMoney(item) ? moneyRefusalOf(moneyOf(item, ask.requestId), ask.holdNanos(), nowMs) : undefined;
  const rate = refusalOf(limitsOf(item), usageOf(item, minuteOf(nowMs)), tokensFor(item, ask.tokens), nowMs);
  return money && !money.isHeld ? money : (rate ?? money);
};

/** When the item already counts the minute after ours, our clock is behind: count there, where the previous minute weighs whole. */
const furthestClock = (item: LimiterItem, nowMs: number): number => {
  const next = minuteOf(nowMs) + 1;
  return item[`r${next}`] === undefined ? nowMs : next * MINUTE_MS;
};

/** The minute's bounds from the image where it speaks of this minute, else from a guess; undefined when both come out negative. */
const minuteBounds = (item: LimiterItem, tokens: number, clock: number, isExact: boolean): MinuteBounds | undefined => {
  const minute = minuteOf(clock);
  const limits = limitsOf(item);
  const room = (limit: number, previous: number, amount: number): number =>
    limit === Number.POSITIVE_INFINITY ? limit : roomFor(limit, previous, amount, clock);
  const bounds = (previousRequests: number, previousTokens: number): MinuteBounds | undefined => {
    const maxRequests = room(limits.requestsPerMinute, previousRequests, 1);
    const maxTokens = room(limits.tokensPerMinute, previousTokens, tokens);
    return maxRequests < 0 || maxTokens < 0 ? undefined : { minute, tokens, previousRequests, previousTokens, maxRequests, maxTokens };
  };
  const usage = usageOf(item, minute);
  const isOfThisMinute = item[`r${minute}`] !== undefined && item[`r${minute + 1}`] === undefined;
  const known = isExact || isOfThisMinute ? bounds(usage.requests.previous, usage.tokens.previous) : undefined;
  const half = (limit: number): number => Math.max(0, Math.floor(limit / 2));
  return known ?? bounds(half(limits.requestsPerMinute), half(limits.tokensPerMinute - tokens));
};

/** The write and the bounds that prove it; undefined where a bound would be negative, and must not be sent. */
const planOf = <Item extends LimiterItem>(
  item: Item,
  ask: Ask<Item>,
  { clock, admittedAtMs, isExact }: { clock: number; admittedAtMs: number; isExact: boolean },
): Reservation | undefined => {
  const tokens = tokensFor(item, ask.tokens);
  const holdNanos = holdFor(item, ask);
  const minute = countsMinutes(item) ? minuteBounds(item, tokens, clock, isExact) : undefined;
  if (countsMinutes(item) && !minute) return undefined;
  const budgets: Reservation['budgets'] = {};
  for (const { period, limitNanos } of budgetsOf(item, ask.requestId)) {
    if (limitNanos < holdNanos) return undefined;
    budgets[period] = limitNanos - holdNanos;
  }
  return {
    limiterId: ask.limiterId,
    requestId: ask.requestId,
    entry: {
      admittedAtMs,
      tokens: minute && tokens,
      holdNanos,
      isFromCredit: item.prepaid === true && holdNanos > 0n,
      link: ask.linkOf(item),
    },
    cfg: item.cfg,
    concurrency: limitsOf(item).concurrency,
    ...(minute && { minute }),
    budgets,
    nowMs: clock,
  };
};

/**
 * A time that no try of which nobody knows what became has, in the same minute: a try that arrives when its request has long been settled must
 * not be taken for the one that was.
 */
const distinctTime = (clock: number, unknown: readonly Reservation[]): number => {
  const tries = unknown.length;
  if (!unknown.some(({ nowMs }) => nowMs === clock)) return clock;
  return (clock % MINUTE_MS) + tries < MINUTE_MS ? clock + tries : clock - tries;
};

/** Gives up: where nobody knows whether a write was made, it is undone. That may fail for the same reason; then the sweep finds the entry. */
const undoUnknown = async (store: LimiterStore, plans: readonly Reservation[]): Promise<void> => {
  for (const { limiterId, requestId, entry, nowMs } of plans)
    await store.end({ limiterId, requestId, entry, used: 'undone', nowMs }).catch(() => undefined);
};

/**
 * Takes a request out of one limiter's limits with ONE conditional write, as a rule. The cached image only makes the first guess; the
 * write's condition proves it. The proof and its edge cases: docs/architecture.md.
 * @throws what `check` throws, and 503 under a storm or in an outage: then it is not known whether the entry is there
 */
export const reserve = async <Item extends LimiterItem>(
  limiters: Limiters,
  ask: Ask<Item>,
  known: Known,
): Promise<Reserved<Item> | RefusedBy<Item>> => {
  const unknown: Reservation[] = [];
  let result: Reserved<Item> | RefusedBy<Item> | undefined;
  try {
    result = await tryToReserve(limiters, ask, known, unknown);
    return result;
  } finally {
    if (!result || 'refusal' in result) await undoUnknown(limiters.store, unknown);
  }
};

/** @param unknown collects the tries of which nobody knows what became */
const tryToReserve = async <Item extends LimiterItem>(
  { store, cache, now }: Limiters,
  ask: Ask<Item>,
  known: Known,
  unknown: Reservation[],
): Promise<Reserved<Item> | RefusedBy<Item>> => {
  const { limiterId, requestId } = ask;
  let { item: seen, isExact } = known;
  let roundTrips = 0;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    let clock = now();
    const item = ask.check(seen, clock);
    if (isExact) {
      clock = furthestClock(item, clock);
      const refusal = exactRefusal(item, ask, clock);
      if (refusal) {
        cache.refuse(limiterId, item, refusal, now());
        return { item, refusal, nowMs: clock, roundTrips };
      }
    }
    const plan = planOf(item, ask, { clock, admittedAtMs: distinctTime(clock, unknown), isExact });
    roundTrips++;
    if (!plan) {
      // Neither the image nor a guess leaves room: ask for the truth.
      seen = await store.get(limiterId);
      isExact = true;
      continue;
    }
    let result: AdmitResult;
    try {
      result = await store.admit(plan);
    } catch (error) {
      unknown.push(plan);
      if (unknown.length === MAX_OUTAGES || !(error instanceof DatabaseUnavailable)) throw error;
      await delay(OUTAGE_WAIT_MS * unknown.length * (1 + Math.random()));
      continue;
    }
    seen = 'admitted' in result ? result.admitted : result.refused;
    isExact = true;
    cache.set(limiterId, seen, now());
    const stored = seen?.fl[requestId];
    // Our own id in flight means that a write had succeeded and its reply was lost.
    if (seen && stored) return { item: seen as Item, entry: readEntry(stored), nowMs: clock, roundTrips };
  }
  throw new ServiceUnavailable();
};
