import { UnreadMap } from '../../database/unread-map.ts';
import { requestTimeMs } from '../../ids/request-id.ts';
import type { BudgetPeriod, Limits, RateLimits } from './limits.ts';
import { type Entry, readEntry, type StoredEntry } from './reservation-entry.ts';
import { type LimiterUsage, PAST_SLOTS, SLOT_MS, slotOf, type Window } from './sliding-window.ts';
import { type Budget, dayNumberOf, type Money, monthOf } from './spending.ts';

/** Nano-dollars at rest: a number, or a bigint if a number would not be exact. */
export type StoredNanos = number | bigint;

/**
 * Limiter item of an API key, a key's shard or an organization: everything that a request reads and writes, in one
 * small item. Attribute names are short because DynamoDB charges for them; docs/admission.md lists them. Other folders
 * read items through the functions below.
 */
export interface LimiterItem {
  id: string;
  /** Absent on the limiter of an end user, which no index lists. */
  org?: string;
  status: 'active' | 'revoked' | 'suspended';
  /** The version of the configuration: a write's condition verifies that the decision was made on the current one. */
  cfg: number;
  /** Limits: requests per minute, tokens per minute, requests in flight. Absent: no limit. */
  lim_r?: number;
  lim_t?: number;
  lim_c?: number;
  /**
   * The number of limiter items that share the limits of a key or an organization; absent: one. An organization's own
   * item has the current number.
   */
  shards?: number;
  /**
   * A change of the configuration has not reached all shards yet: the budgets of the whole. See
   * `spread-configuration.ts`.
   */
  pending?: Partial<Record<BudgetPeriod, StoredNanos>>;
  /** The limits of the whole key or organization, on each of its shards. */
  all_r?: number;
  all_t?: number;
  all_c?: number;
  /** Budgets per day, per month and in total. */
  bud_d?: StoredNanos;
  bud_m?: StoredNanos;
  bud_t?: StoredNanos;
  /** Requests are paid from `avail`, which is granted − spent − held. */
  prepaid?: true;
  avail?: StoredNanos;
  /** The number of credit grants that are included in `avail`. */
  grants?: number;
  /** The requests in flight by request id. The entry is the reservation. */
  fl: Record<string, StoredEntry> | UnreadMap;
  last_used?: number;
  /** On the limiter of an end user: when DynamoDB may delete it, in seconds since the epoch. */
  del_at?: number;
  /**
   * The epoch (see `sweep-epoch.ts`) of the last admission. The sweep uses it to find entries that crashed functions
   * left.
   */
  ep?: string;
  /** Spent and held in total. */
  spent?: StoredNanos;
  /** The latest slot of the sliding minute in which a request was counted. */
  slot?: number;
  /** Per slot: requests and reserved tokens. Per day and per month: spent and held. */
  [counter: `r${number}` | `t${number}`]: number;
  [counter: `d${number}` | `m${number}`]: StoredNanos;
}

/** The attribute of the requests in flight. */
export const IN_FLIGHT = 'fl' satisfies keyof LimiterItem;

/** A change of a limiter item's configuration. */
export interface Configuration<Item extends LimiterItem = LimiterItem> {
  set: Partial<Item>;
  remove: readonly (keyof Item & string)[];
}

export const PERIODS = ['day', 'month', 'total'] as const;
export const budgetAttributes = { day: 'bud_d', month: 'bud_m', total: 'bud_t' } as const;
export const rateAttributes = { requests: 'lim_r', tokens: 'lim_t', concurrency: 'lim_c' } as const;
/** The attributes with the limits of the whole, on each shard. */
export const WHOLE_ATTRIBUTES = ['all_r', 'all_t', 'all_c'] as const;
/** The attributes that the shards of a key or organization have parts of. */
export const isDivided = (name: string): boolean => /^(lim_[rtc]|bud_[dmt]|avail|spent|[rtdm]\d+)$/.test(name);
const LIMIT_ATTRIBUTES = ['lim_r', 'lim_t', 'lim_c', 'bud_d', 'bud_m', 'bud_t', 'prepaid'] as const;

/** The configuration change that replaces an item's limits. */
export const limitConfiguration = ({ requestsPerMinute, tokensPerMinute, concurrency, budgets, isPrepaid }: Limits): Configuration => {
  const set: Partial<LimiterItem> = {
    ...(Number.isFinite(requestsPerMinute) && { lim_r: requestsPerMinute }),
    ...(Number.isFinite(tokensPerMinute) && { lim_t: tokensPerMinute }),
    ...(Number.isFinite(concurrency) && { lim_c: concurrency }),
    ...(isPrepaid && { prepaid: true as const }),
  };
  for (const period of PERIODS) if (budgets[period] !== undefined) set[budgetAttributes[period]] = budgets[period];
  return { set, remove: LIMIT_ATTRIBUTES.filter((name) => set[name] === undefined) };
};

/** The attributes with the limits of the whole key or organization, as each shard stores them. */
export const wholeLimitsOf = ({ requestsPerMinute, tokensPerMinute, concurrency }: RateLimits): Partial<LimiterItem> => ({
  ...(Number.isFinite(requestsPerMinute) && { all_r: requestsPerMinute }),
  ...(Number.isFinite(tokensPerMinute) && { all_t: tokensPerMinute }),
  ...(Number.isFinite(concurrency) && { all_c: concurrency }),
});

/** The number of limiter items that share an item's limits, as far as the item knows; 1 without an item. */
export const shardsOf = (item: LimiterItem | undefined): number => item?.shards ?? 1;

/** A limiter item without counts. */
export const newLimiterItem = (id: string, org: string, { set }: Pick<Configuration, 'set'>): LimiterItem =>
  ({ ...set, id, org, cfg: 1, fl: {} }) as LimiterItem;

const COUNTS = /^[rtdm]\d+$|^(spent|slot|ep|last_used)$/;

const lowerByOne = (limit: StoredNanos): StoredNanos =>
  limit === 0 || limit === 0n ? limit : typeof limit === 'bigint' ? limit - 1n : limit - 1;

/** A copy of an item without counts, with each limit lowered by one. */
export const lowerLimits = <Item extends LimiterItem>(item: Item): Item => {
  const copy = Object.fromEntries(Object.entries(item).filter(([name]) => !COUNTS.test(name))) as Item;
  for (const name of ['lim_r', 'lim_t', 'lim_c'] as const) if (copy[name] !== undefined) copy[name] = lowerByOne(copy[name]) as number;
  for (const period of PERIODS) {
    const name = budgetAttributes[period];
    if (copy[name] !== undefined) copy[name] = lowerByOne(copy[name]);
  }
  return { ...copy, fl: {} };
};

/** Amounts of money by period, as they are stored. */
export const nanosOfStored = (stored: Partial<Record<BudgetPeriod, StoredNanos>>): Limits['budgets'] =>
  Object.fromEntries(Object.entries(stored).map(([period, nanos]) => [period, BigInt(nanos)]));

/** The rate limits of an item; for a shard, only its own part. */
export const rateLimitsOf = ({ lim_r, lim_t, lim_c }: LimiterItem): RateLimits => ({
  requestsPerMinute: lim_r ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: lim_t ?? Number.POSITIVE_INFINITY,
  concurrency: lim_c ?? Number.POSITIVE_INFINITY,
});

/** All limits of an item; for a shard, only its own part. */
export const limitsOf = (item: LimiterItem): Limits => {
  const budgets: Limits['budgets'] = {};
  for (const period of PERIODS) {
    const budget = item[budgetAttributes[period]];
    if (budget !== undefined) budgets[period] = BigInt(budget);
  }
  return { ...rateLimitsOf(item), budgets, isPrepaid: isPrepaid(item) };
};

/** The rate limits of a whole key or organization, from any of its shards. */
export const wholeRateLimitsOf = ({ lim_r, lim_t, lim_c, all_r = lim_r, all_t = lim_t, all_c = lim_c }: LimiterItem): RateLimits => ({
  requestsPerMinute: all_r ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: all_t ?? Number.POSITIVE_INFINITY,
  concurrency: all_c ?? Number.POSITIVE_INFINITY,
});

/**
 * Tokens to reserve in an item. If the request fits the whole key's limit, a shard reserves at most its own part of
 * the limit.
 */
export const tokensToReserve = ({ lim_t = Number.POSITIVE_INFINITY, all_t }: LimiterItem, tokens: number): number =>
  all_t !== undefined && tokens <= all_t ? Math.min(tokens, lim_t) : tokens;

export const isPrepaid = ({ prepaid }: LimiterItem): boolean => prepaid === true;

/** Requests and tokens are counted. */
export const countsRates = ({ lim_r, lim_t }: LimiterItem): boolean => lim_r !== undefined || lim_t !== undefined;

/** The most that a request can cost must be known before it is admitted. */
export const countsMoney = ({ bud_d, bud_m, bud_t, prepaid }: LimiterItem): boolean =>
  prepaid === true || bud_d !== undefined || bud_m !== undefined || bud_t !== undefined;

/** A request was counted in a later slot. A slot more than a minute later is another function's wrong clock. */
export const hasCountedAfter = ({ slot: latest = 0 }: LimiterItem, slot: number): boolean => latest > slot && latest <= slot + PAST_SLOTS;

/**
 * The condition of a write that counts in a slot, `hasCountedAfter` as DynamoDB evaluates it; the write also sets
 * `slot = :slot`.
 */
export const NOT_COUNTED_AFTER = '(attribute_not_exists(slot) OR NOT slot BETWEEN :next AND :far)';
export const slotValues = (slot: number) => ({ ':slot': slot, ':next': slot + 1, ':far': slot + PAST_SLOTS });

/**
 * The time to count at: our own, or if our clock is behind, the start of the slot in which the last request was
 * counted.
 */
export const furthestClock = (item: LimiterItem, nowMs: number): number =>
  hasCountedAfter(item, slotOf(nowMs)) ? (item.slot as number) * SLOT_MS : nowMs;

type SlotCounter = `r${number}` | `t${number}`;

const countersOf = (kind: 'r' | 't', slot: number): SlotCounter[] =>
  Array.from({ length: PAST_SLOTS + 1 }, (_, i) => `${kind}${slot - i}` as const);

// Nearly all requests need the names of the current slot's counters, several times each.
let named: { slot: number; r: readonly SlotCounter[]; t: readonly SlotCounter[] } | undefined;

/** The names of the counters of a slot and of those before it that count with it, the newest first. */
export const slotCounters = (kind: 'r' | 't', slot: number): readonly SlotCounter[] => {
  if (named?.slot !== slot) named = { slot, r: countersOf('r', slot), t: countersOf('t', slot) };
  return named[kind];
};

const isStaleCounter = (name: string, slot: number): boolean => /^[rt]\d+$/.test(name) && Number(name.slice(1)) < slot - PAST_SLOTS;

/**
 * The counters that no longer count from this slot on. An item that has counted in the slot has none, unless its
 * writer didn't know it.
 */
export const staleCounters = (item: LimiterItem, slot: number): string[] =>
  item.slot === slot ? [] : Object.keys(item).filter((name) => isStaleCounter(name, slot));

const windowOf = (item: LimiterItem, kind: 'r' | 't', slot: number): Window => {
  // A counter that a number can't represent exactly is read as a bigint; any number that large exceeds every limit.
  const counts = slotCounters(kind, slot).map((name) => Number(item[name] ?? 0));
  return { current: counts[0] ?? 0, past: counts.slice(1) };
};

export const inFlightOf = ({ fl }: LimiterItem): number => (fl instanceof UnreadMap ? fl.size : Object.keys(fl).length);

/** The usage as of a slot. */
export const usageOf = (item: LimiterItem, slot: number): LimiterUsage => ({
  requests: windowOf(item, 'r', slot),
  tokens: windowOf(item, 't', slot),
  inFlight: inFlightOf(item),
});

type MoneyCounters = Record<BudgetPeriod, `d${number}` | `m${number}` | 'spent'>;

/** The counters of money at an instant. */
export const moneyCountersAt = (ms: number): MoneyCounters => ({ day: `d${dayNumberOf(ms)}`, month: `m${monthOf(ms)}`, total: 'spent' });

/**
 * The counters of a request's cost, determined by the time in its id, which also determines the day on which it is
 * billed.
 */
export const moneyCountersOf = (requestId: string): MoneyCounters => moneyCountersAt(requestTimeMs(requestId));

/** Nano-dollars that are spent or held in the periods of an instant. */
export const countedNanosAt = (item: LimiterItem, ms: number): Record<BudgetPeriod, bigint> => {
  const { day, month, total } = moneyCountersAt(ms);
  return { day: BigInt(item[day] ?? 0), month: BigInt(item[month] ?? 0), total: BigInt(item[total] ?? 0) };
};

/** The budgets that apply to a request. */
export const budgetsOf = (item: LimiterItem, requestId: string): Budget[] => {
  const counters = moneyCountersOf(requestId);
  return PERIODS.flatMap((period) => {
    const limit = item[budgetAttributes[period]];
    return limit === undefined ? [] : [{ period, limitNanos: BigInt(limit), countedNanos: BigInt(item[counters[period]] ?? 0) }];
  });
};

/** Nano-dollars of credit that are neither spent nor held. */
export const availableNanosOf = ({ avail = 0 }: LimiterItem): bigint => BigInt(avail);

export const storedEntriesOf = ({ fl }: LimiterItem): Record<string, StoredEntry> =>
  fl instanceof UnreadMap ? (fl.read() as Record<string, StoredEntry>) : fl;

export const entriesOf = (item: LimiterItem): [requestId: string, Entry][] =>
  Object.entries(storedEntriesOf(item)).map(([requestId, stored]) => [requestId, readEntry(stored)]);

/** The entry of a request, while it is in flight. */
export const entryOf = ({ fl }: LimiterItem, requestId: string): Entry | undefined => {
  const stored = fl instanceof UnreadMap ? (fl.get(requestId) as StoredEntry | undefined) : fl[requestId];
  return stored && readEntry(stored);
};

/** The money that a request can use. */
export const moneyOf = (item: LimiterItem, requestId: string): Money => ({
  budgets: budgetsOf(item, requestId),
  ...(item.prepaid && { creditNanos: availableNanosOf(item) }),
  heldNanos: entriesOf(item).reduce((sum, [, { holdNanos }]) => sum + holdNanos, 0n),
});
