import { MINUTE_MS } from '../../time/units.ts';
import { type LimiterItem, rateLimitsOf, usageOf, wholeRateLimitsOf } from '../item/limiter-item.ts';
import { remaining, resetMs, slotOf, type Window } from '../item/sliding-window.ts';

/** A duration as OpenAI writes it in these headers: `850ms`, `12.5s`, `1m30s`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const minutes = Math.floor(ms / MINUTE_MS);
  const seconds = Math.ceil(ms - minutes * MINUTE_MS) / 1_000;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
};

interface RateLimit {
  limit: number;
  remaining: number;
  /** Until the full limit is available again, if no other request arrives. */
  resetMs: number;
}

const headersOf = (what: string, { limit, remaining: left, resetMs: waitMs }: RateLimit): Record<string, string> => ({
  [`x-ratelimit-limit-${what}`]: String(limit),
  [`x-ratelimit-remaining-${what}`]: String(left),
  [`x-ratelimit-reset-${what}`]: formatDuration(waitMs),
});

/** The `x-ratelimit-*` headers: each limit, its rest, and the time until it is fully available again. */
export const rateLimitHeaders = ({ requests, tokens }: { requests: RateLimit; tokens: RateLimit }): Record<string, string> => ({
  ...headersOf('requests', requests),
  ...headersOf('tokens', tokens),
});

// Every shard is assumed to have as much left of its part as this one.
const rateLimitOf = (limit: number, whole: number, window: Window, nowMs: number): RateLimit => ({
  limit: whole,
  remaining: limit === whole || limit === 0 ? remaining(limit, window) : Math.floor((remaining(limit, window) * whole) / limit),
  resetMs: resetMs(window, nowMs),
});

const currentLimitsOf = (item: LimiterItem, nowMs: number): { requests: RateLimit; tokens: RateLimit } => {
  const limits = rateLimitsOf(item);
  const whole = wholeRateLimitsOf(item);
  const usage = usageOf(item, slotOf(nowMs));
  return {
    requests: rateLimitOf(limits.requestsPerMinute, whole.requestsPerMinute, usage.requests, nowMs),
    tokens: rateLimitOf(limits.tokensPerMinute, whole.tokensPerMinute, usage.tokens, nowMs),
  };
};

const scarcest = (limits: readonly RateLimit[]): RateLimit =>
  limits.reduce((scarce, limit) => (limit.remaining < scarce.remaining ? limit : scarce));

/**
 * The `x-ratelimit-*` headers from images of the limiter items that apply to a request: for each limit, the one with
 * the least left.
 */
export const limitHeaders = (items: readonly LimiterItem[], nowMs: number): Record<string, string> => {
  const all = items.map((item) => currentLimitsOf(item, nowMs));
  return rateLimitHeaders({
    requests: scarcest(all.map(({ requests }) => requests)),
    tokens: scarcest(all.map(({ tokens }) => tokens)),
  });
};
