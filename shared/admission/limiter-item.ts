import { requestTimeMs } from '../ids/request-id.ts';
import type { Limits, Period, RateLimits } from './limits.ts';
import { type Entry, readEntry, type StoredEntry } from './reservation-entry.ts';
import type { Usage, Window } from './sliding-window.ts';
import { type Budget, dayNumberOf, type Money, monthOf } from './spending.ts';

/** Nano-dollars at rest: a number, or a bigint where a number would not be exact. */
export type StoredNanos = number | bigint;

/**
 * A limiter item, of an API key, of a shard of one, or of an organization: what every request reads and writes, in one item that stays
 * small. Attribute names are short because DynamoDB charges for them. Other folders read items through the functions below.
 */
export interface LimiterItem {
  id: string;
  org: string;
  status: 'active' | 'revoked' | 'suspended';
  /** The version of everything that is configured here; a write proves with it that what it was decided on is current. */
  cfg: number;
  /** Limits: requests and tokens a minute, requests in flight. An absent one does not bind. */
  lim_r?: number;
  lim_t?: number;
  lim_c?: number;
  /** The limits of the whole key, on each of its shards. */
  all_r?: number;
  all_t?: number;
  all_c?: number;
  /** Budgets of a day, a month and in all. */
  bud_d?: StoredNanos;
  bud_m?: StoredNanos;
  bud_t?: StoredNanos;
  /** Requests are paid from `avail`, which is what was granted, less what was spent and what is held. */
  prepaid?: true;
  avail?: StoredNanos;
  /** The number of grants of credit that are in `avail`. */
  grants?: number;
  /** The requests in flight by request id. An entry IS the reservation. */
  fl: Record<string, StoredEntry>;
  last_used?: number;
  /** The epoch (see `sweep-epoch.ts`) of the last admission, by which the sweep finds entries that a dead function left. */
  ep?: string;
  /** Spent and held in all. */
  spent?: StoredNanos;
  /** By minute: requests and reserved tokens. By day and by month: spent and held. */
  [counter: `r${number}` | `t${number}`]: number;
  [counter: `d${number}` | `m${number}`]: StoredNanos;
}

/** A change of what is configured in a limiter item. */
export interface Configuration<Item extends LimiterItem = LimiterItem> {
  set: Partial<Item>;
  remove: readonly (keyof Item & string)[];
}

const PERIODS = ['day', 'month', 'total'] as const;
const budgetAttributes = { day: 'bud_d', month: 'bud_m', total: 'bud_t' } as const;
const LIMIT_ATTRIBUTES = ['lim_r', 'lim_t', 'lim_c', 'bud_d', 'bud_m', 'bud_t', 'prepaid'] as const;

/** Limits as an item stores them, in place of any that it had. */
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

/** A limiter item that has counted nothing. */
export const newLimiterItem = (id: string, org: string, { set }: Pick<Configuration, 'set'>): LimiterItem =>
  ({ ...set, id, org, cfg: 1, fl: {} }) as LimiterItem;

/** The rate limits of an item; where it is one of several shards, of this one alone. */
export const rateLimitsOf = ({ lim_r, lim_t, lim_c }: LimiterItem): RateLimits => ({
  requestsPerMinute: lim_r ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: lim_t ?? Number.POSITIVE_INFINITY,
  concurrency: lim_c ?? Number.POSITIVE_INFINITY,
});

/** All limits of an item; where it is one of several shards, of this one alone. */
export const limitsOf = (item: LimiterItem): Limits => {
  const budgets: Limits['budgets'] = {};
  for (const period of PERIODS) {
    const budget = item[budgetAttributes[period]];
    if (budget !== undefined) budgets[period] = BigInt(budget);
  }
  return { ...rateLimitsOf(item), budgets, isPrepaid: isPrepaid(item) };
};

/** The rate limits of a whole key, whichever of its shards the item is, or of an organization. */
export const wholeRateLimitsOf = ({ lim_r, lim_t, lim_c, all_r = lim_r, all_t = lim_t, all_c = lim_c }: LimiterItem): RateLimits => ({
  requestsPerMinute: all_r ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: all_t ?? Number.POSITIVE_INFINITY,
  concurrency: all_c ?? Number.POSITIVE_INFINITY,
});

/** Tokens to reserve in an item: no more than a shard's part of a limit that the request as a whole fits. */
export const tokensToReserve = ({ lim_t = Number.POSITIVE_INFINITY, all_t }: LimiterItem, tokens: number): number =>
  all_t !== undefined && tokens <= all_t ? Math.min(tokens, lim_t) : tokens;

/** Whether requests are paid from credit. */
export const isPrepaid = ({ prepaid }: LimiterItem): boolean => prepaid === true;

/** Whether requests and tokens are counted by the minute. */
export const countsMinutes = ({ lim_r, lim_t }: LimiterItem): boolean => lim_r !== undefined || lim_t !== undefined;

/** Whether the most that a request can cost must be known before it is admitted. */
export const countsMoney = ({ bud_d, bud_m, bud_t, prepaid }: LimiterItem): boolean =>
  prepaid === true || bud_d !== undefined || bud_m !== undefined || bud_t !== undefined;

/** Whether anything was counted in a minute. */
export const hasCountedIn = (item: LimiterItem, minute: number): boolean => item[`r${minute}`] !== undefined;

const windowOf = (item: LimiterItem, kind: 'r' | 't', minute: number): Window => ({
  current: item[`${kind}${minute}`] ?? 0,
  previous: item[`${kind}${minute - 1}`] ?? 0,
});

/** What was used, as of a minute. */
export const usageOf = (item: LimiterItem, minute: number): Usage => ({
  requests: windowOf(item, 'r', minute),
  tokens: windowOf(item, 't', minute),
  inFlight: Object.keys(item.fl).length,
});

type MoneyCounters = Record<Period, `d${number}` | `m${number}` | 'spent'>;

/** The attributes that count money at an instant. */
export const moneyCountersAt = (ms: number): MoneyCounters => ({ day: `d${dayNumberOf(ms)}`, month: `m${monthOf(ms)}`, total: 'spent' });

/** The attributes that count what a request spends, by the time in its id, which is also the day that it is billed on. */
export const moneyCountersOf = (requestId: string): MoneyCounters => moneyCountersAt(requestTimeMs(requestId));

/** Nano-dollars that were counted, spent and held, as of an instant. */
export const countedNanosAt = (item: LimiterItem, ms: number): Record<Period, bigint> => {
  const { day, month, total } = moneyCountersAt(ms);
  return { day: BigInt(item[day] ?? 0), month: BigInt(item[month] ?? 0), total: BigInt(item[total] ?? 0) };
};

/** The budgets that a request is measured by. */
export const budgetsOf = (item: LimiterItem, requestId: string): Budget[] => {
  const counters = moneyCountersOf(requestId);
  return PERIODS.flatMap((period) => {
    const limit = item[budgetAttributes[period]];
    return limit === undefined ? [] : [{ period, limitNanos: BigInt(limit), countedNanos: BigInt(item[counters[period]] ?? 0) }];
  });
};

/** Nano-dollars of credit that are neither spent nor held. */
export const availableNanosOf = ({ avail = 0 }: LimiterItem): bigint => BigInt(avail);

/** The entries of the requests in flight. */
export const entriesOf = (item: LimiterItem): [requestId: string, Entry][] =>
  Object.entries(item.fl).map(([requestId, stored]) => [requestId, readEntry(stored)]);

/** The entry of a request, while it is in flight. */
export const entryOf = (item: LimiterItem, requestId: string): Entry | undefined => {
  const stored = item.fl[requestId];
  return stored && readEntry(stored);
};

/** What may be spent on a request. */
export const moneyOf = (item: LimiterItem, requestId: string): Money => ({
  budgets: budgetsOf(item, requestId),
  ...(item.prepaid && { creditNanos: availableNanosOf(item) }),
  heldNanos: entriesOf(item).reduce((sum, [, { holdNanos }]) => sum + holdNanos, 0n),
});
