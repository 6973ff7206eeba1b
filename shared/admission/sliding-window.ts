import type { RateLimits } from './limits.ts';

/**
 * Pure arithmetic of the rate limits; counts are integers.
 * A sliding window of two one-minute buckets: the previous minute's count is weighted by the share of it that the last 60 s cover. The counters are
 * the limiter item's `r<minute>` and `t<minute>`.
 */
export const MINUTE_MS = 60_000;

/** One limit's counters in two consecutive minutes. */
export interface Window {
  current: number;
  previous: number;
}

/** The usage of a limiter as of one minute. */
export interface Usage {
  requests: Window;
  tokens: Window;
  inFlight: number;
}

/** The minute of an instant, counted from the epoch. */
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS);

/** The part of the previous minute's count that still counts at `nowMs`; rounded up so that the limit holds. */
export const carried = (previous: number, nowMs: number): number => Math.ceil((previous * (MINUTE_MS - (nowMs % MINUTE_MS))) / MINUTE_MS);

/** The highest count of the current minute to which `amount` can be added; negative if it cannot fit. */
export const roomFor = (limit: number, previous: number, amount: number, nowMs: number): number =>
  limit - carried(previous, nowMs) - amount;

/** What is left of a limit now, never below 0. */
export const remaining = (limit: number, window: Window, nowMs: number): number =>
  Math.max(0, limit - carried(window.previous, nowMs) - window.current);

/** Milliseconds until a window is empty, if no other request arrives. */
export const resetMs = (window: Window, nowMs: number): number => {
  const untilNextMinute = MINUTE_MS - (nowMs % MINUTE_MS);
  if (window.current > 0) return untilNextMinute + MINUTE_MS;
  return window.previous > 0 ? untilNextMinute : 0;
};

/**
 * Milliseconds until `amount` fits, if no other request arrives; Infinity if it never fits.
 * With c in the current and p in the previous minute and a limit L, the count at a share e of a minute is p·(1−e) + c;
 * in the next minute it is c·(1−e).
 */
export const retryAfterMs = (limit: number, window: Window, amount: number, nowMs: number): number => {
  if (amount > limit) return Number.POSITIVE_INFINITY;
  const elapsed = nowMs % MINUTE_MS;
  const share = (count: number, room: number): number => (room >= count ? 0 : Math.ceil((MINUTE_MS * (count - room)) / count));
  const room = limit - window.current - amount;
  if (room >= 0) return Math.max(0, share(window.previous, room) - elapsed);
  return MINUTE_MS - elapsed + share(window.current, limit - amount);
};

export type Dimension = 'requests' | 'tokens' | 'concurrency';

/** Why a request cannot be admitted now. */
export interface RateRefusal {
  dimension: Dimension;
  /** Until this request fits; Infinity if it is larger than the limit. */
  retryAfterMs: number;
}

/** A concurrency slot becomes free when another request ends, at an unknown time. */
const CONCURRENCY_RETRY_MS = 1_000;

/** The exact rule: the limit that rejects one more request with `tokens` for the longest time; undefined if the request fits. */
export const refusalOf = (limits: RateLimits, usage: Usage, tokens: number, nowMs: number): RateRefusal | undefined => {
  const waits: RateRefusal[] = [];
  if (roomFor(limits.requestsPerMinute, usage.requests.previous, 1, nowMs) < usage.requests.current)
    waits.push({ dimension: 'requests', retryAfterMs: retryAfterMs(limits.requestsPerMinute, usage.requests, 1, nowMs) });
  if (roomFor(limits.tokensPerMinute, usage.tokens.previous, tokens, nowMs) < usage.tokens.current)
    waits.push({ dimension: 'tokens', retryAfterMs: retryAfterMs(limits.tokensPerMinute, usage.tokens, tokens, nowMs) });
  if (usage.inFlight >= limits.concurrency)
    waits.push({ dimension: 'concurrency', retryAfterMs: limits.concurrency > 0 ? CONCURRENCY_RETRY_MS : Number.POSITIVE_INFINITY });
  return waits.reduce<RateRefusal | undefined>(
    (longest, wait) => (longest && longest.retryAfterMs >= wait.retryAfterMs ? longest : wait),
    undefined,
  );
};
