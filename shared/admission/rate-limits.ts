import { shardsOf } from './key-item.ts';
import { type LimiterItem, rateLimitsOf, usageOf, wholeRateLimitsOf } from './limiter-item.ts';
import { type RateLimit, rateLimitHeaders } from './rate-limit-headers.ts';
import { minuteOf, remaining, resetMs, type Window } from './sliding-window.ts';

/** One limit as of now. A shard's remainder is taken for that of every shard. */
const rateLimitOf = (limit: number, whole: number, window: Window, shards: number, nowMs: number): RateLimit => ({
  limit: whole,
  remaining: Math.min(whole, remaining(limit, window, nowMs) * shards),
  resetMs: resetMs(window, nowMs),
});

const currentLimitsOf = (item: LimiterItem, nowMs: number): { requests: RateLimit; tokens: RateLimit } => {
  const limits = rateLimitsOf(item);
  const whole = wholeRateLimitsOf(item);
  const usage = usageOf(item, minuteOf(nowMs));
  const shards = shardsOf(item);
  return {
    requests: rateLimitOf(limits.requestsPerMinute, whole.requestsPerMinute, usage.requests, shards, nowMs),
    tokens: rateLimitOf(limits.tokensPerMinute, whole.tokensPerMinute, usage.tokens, shards, nowMs),
  };
};

const scarcest = (limits: readonly RateLimit[]): RateLimit =>
  limits.reduce((scarce, limit) => (limit.remaining < scarce.remaining ? limit : scarce));

/** The `x-ratelimit-*` headers, from images of the limiter items that a request must pass: of each limit, the one with the least left. */
export const limitHeaders = (items: readonly LimiterItem[], nowMs: number): Record<string, string> => {
  const all = items.map((item) => currentLimitsOf(item, nowMs));
  return rateLimitHeaders({
    requests: scarcest(all.map(({ requests }) => requests)),
    tokens: scarcest(all.map(({ tokens }) => tokens)),
  });
};
