import { requestTimeMs } from '../ids/request-id.ts';
import { type Entry, readEntry, type StoredEntry } from './entry.ts';
import { type Budget, dayOf, type Money, monthOf, type Period } from './money.ts';
import type { Limits, Usage, Window } from './window.ts';

/** Nano-dollars at rest: a number, or a bigint where a number would not be exact. */
export type StoredNanos = number | bigint;

/**
 * A limiter item, of an API key, of a shard of one, or of an organization: what every request reads and writes, in one item that stays
 * small. Attribute names are short because they are paid for by the kilobyte.
 */
export interface LimiterItem {
  id: string;
  org: string;
  status: 'active' | 'revoked' | 'suspended';
  /** The version of everything that is configured here; a write proves with it that what it was decided on is current. */
  cfg: number;
  /** Limits: requests and tokens a minute, requests at the same time. An absent one does not bind. */
  lim_r?: number;
  lim_t?: number;
  lim_c?: number;
  /** Of the shards of a key: the limits that they share. */
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
  /** How many grants of credit are in `avail`. */
  grants?: number;
  /** The requests in flight by request id. An entry IS the reservation. */
  fl: Record<string, StoredEntry>;
  last_used?: number;
  /** The epoch (see `epoch.ts`) of the last admission: how the sweep finds entries that a dead function left. */
  ep?: string;
  /** Spent and held in all. */
  spent?: StoredNanos;
  /** By minute: requests and reserved tokens. By day and by month: spent and held. */
  [counter: `r${number}` | `t${number}`]: number;
  [counter: `d${number}` | `m${number}`]: StoredNanos;
}

/** The limits of an item; where it is one of several shards, of this one alone. */
export const limitsOf = ({ lim_r, lim_t, lim_c }: LimiterItem): Limits => ({
  requestsPerMinute: lim_r ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: lim_t ?? Number.POSITIVE_INFINITY,
  concurrency: lim_c ?? Number.POSITIVE_INFINITY,
});

/** Whether requests and tokens are counted by the minute. */
export const countsMinutes = ({ lim_r, lim_t }: LimiterItem): boolean => lim_r !== undefined || lim_t !== undefined;

/** Whether a request must be known to be payable before it is let in. */
export const countsMoney = ({ bud_d, bud_m, bud_t, prepaid }: LimiterItem): boolean =>
  prepaid === true || bud_d !== undefined || bud_m !== undefined || bud_t !== undefined;

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

/** Where what a request spends is counted, from the request's id: the limiter's counters and the bill's days are the same. */
export const moneyCountersOf = (requestId: string): Record<Period, `d${number}` | `m${number}` | 'spent'> => {
  const arrivedAtMs = requestTimeMs(requestId);
  return { day: `d${dayOf(arrivedAtMs)}`, month: `m${monthOf(arrivedAtMs)}`, total: 'spent' };
};

const budgetAttributes = { day: 'bud_d', month: 'bud_m', total: 'bud_t' } as const;

/** The budgets that a request is measured by. */
export const budgetsOf = (item: LimiterItem, requestId: string): Budget[] => {
  const counters = moneyCountersOf(requestId);
  return (['day', 'month', 'total'] as const).flatMap((period) => {
    const limit = item[budgetAttributes[period]];
    return limit === undefined ? [] : [{ period, limitNanos: BigInt(limit), countedNanos: BigInt(item[counters[period]] ?? 0) }];
  });
};

/** The entries of the requests in flight. */
export const entriesOf = (item: LimiterItem): [requestId: string, Entry][] =>
  Object.entries(item.fl).map(([requestId, stored]) => [requestId, readEntry(stored)]);

/** What a limiter may spend on a request. */
export const moneyOf = (item: LimiterItem, requestId: string): Money => ({
  budgets: budgetsOf(item, requestId),
  ...(item.prepaid && { creditNanos: BigInt(item.avail ?? 0) }),
  heldNanos: entriesOf(item).reduce((sum, [, { holdNanos }]) => sum + holdNanos, 0n),
});
