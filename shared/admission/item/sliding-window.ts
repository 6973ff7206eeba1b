import { MINUTE_MS } from '../../time/units.ts';
import type { RateLimits } from './limits.ts';

/**
 * Pure arithmetic of the rate limits; counts are integers. A minute slides in slots of ten seconds: a request is
 * counted with those of its slot and of the six before it. These cover the last 60 s and up to 10 s more, so the
 * limit holds in every 60 s, and a rejection comes at most 10 s early. The counters are the limiter item's `r<slot>`
 * and `t<slot>`.
 */
export const SLOT_MS = 10_000;
/** The number of slots before the current one that count. */
export const PAST_SLOTS = MINUTE_MS / SLOT_MS;

/** One limit's counts in a slot and in those before it, the newest first. */
export interface Window {
  current: number;
  past: readonly number[];
}

/** The usage of a limiter as of one slot. */
export interface LimiterUsage {
  requests: Window;
  tokens: Window;
  inFlight: number;
}

/** The slot of an instant, counted from the epoch. */
export const slotOf = (ms: number): number => Math.floor(ms / SLOT_MS);

const sum = (counts: readonly number[]): number => {
  let total = 0;
  for (const count of counts) total += count;
  return total;
};

/** The highest count of the current slot to which `amount` can be added; negative if it cannot fit. */
export const roomFor = (limit: number, past: readonly number[], amount: number): number => limit - sum(past) - amount;

/** The requests or tokens left of a limit now, never below 0. */
export const remaining = (limit: number, { current, past }: Window): number => Math.max(0, limit - sum(past) - current);

const untilGone = (slots: number, nowMs: number): number => (slots === 0 ? 0 : slots * SLOT_MS - (nowMs % SLOT_MS));

/** Milliseconds until a window is empty, if no other request arrives. */
export const resetMs = ({ current, past }: Window, nowMs: number): number => {
  const newest = [current, ...past].findIndex((count) => count > 0);
  return newest < 0 ? 0 : untilGone(PAST_SLOTS + 1 - newest, nowMs);
};

/** Milliseconds until `amount` fits, if no other request arrives; Infinity if it never fits. */
export const retryAfterMs = (limit: number, { current, past }: Window, amount: number, nowMs: number): number => {
  if (amount > limit) return Number.POSITIVE_INFINITY;
  const counts = [current, ...past];
  for (let gone = 0; gone <= PAST_SLOTS; gone++)
    if (sum(counts.slice(0, PAST_SLOTS + 1 - gone)) + amount <= limit) return untilGone(gone, nowMs);
  return untilGone(PAST_SLOTS + 1, nowMs);
};

export type RateDimension = 'requests' | 'tokens' | 'concurrency';

/** Why a request cannot be admitted now. */
export interface RateRefusal {
  dimension: RateDimension;
  /** Until this request fits; Infinity if it is larger than the limit. */
  retryAfterMs: number;
}

// A concurrency slot becomes free when another request ends, at an unknown time.
const CONCURRENCY_RETRY_MS = 1_000;

/**
 * The exact rule: the limit that rejects one more request with `tokens` for the longest time; undefined if the
 * request fits.
 */
export const refusalOf = (limits: RateLimits, usage: LimiterUsage, tokens: number, nowMs: number): RateRefusal | undefined => {
  const waits: RateRefusal[] = [];
  const wait = (dimension: 'requests' | 'tokens', limit: number, window: Window, amount: number): void => {
    if (roomFor(limit, window.past, amount) < window.current)
      waits.push({ dimension, retryAfterMs: retryAfterMs(limit, window, amount, nowMs) });
  };
  wait('requests', limits.requestsPerMinute, usage.requests, 1);
  wait('tokens', limits.tokensPerMinute, usage.tokens, tokens);
  if (usage.inFlight >= limits.concurrency)
    waits.push({ dimension: 'concurrency', retryAfterMs: limits.concurrency > 0 ? CONCURRENCY_RETRY_MS : Number.POSITIVE_INFINITY });
  return waits.reduce<RateRefusal | undefined>(
    (longest, wait) => (longest && longest.retryAfterMs >= wait.retryAfterMs ? longest : wait),
    undefined,
  );
};
