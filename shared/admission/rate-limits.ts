import { isKeyItem } from './key.ts';
import type { LimiterItem } from './limiter.ts';
import { limitsOf, usageOf } from './limiter.ts';
import { type RateLimit, rateLimitHeaders } from './rate-limit-headers.ts';
import { type Limits, minuteOf, remaining, resetMs, type Window } from './window.ts';

/** The limits of a whole key, whichever of its shards the item is, or of an organization. */
export const wholeLimitsOf = (item: LimiterItem): Limits => {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limitsOf(item);
  return {
    requestsPerMinute: item.all_r ?? requestsPerMinute,
    tokensPerMinute: item.all_t ?? tokensPerMinute,
    concurrency: item.all_c ?? concurrency,
  };
};

const shardsOf = (item: LimiterItem): number => (isKeyItem(item) ? (item.shards ?? 1) : 1);

/** One limit as it stands; what a shard has left stands for all of them. */
const rateLimitOf = (limit: number, whole: number, window: Window, shards: number, nowMs: number): RateLimit => ({
  limit: whole,
  remaining: Math.min(whole, remaining(limit, window, nowMs) * shards),
  resetMs: resetMs(window, nowMs),
});

const rateLimitsOf = (item: LimiterItem, nowMs: number): { requests: RateLimit; tokens: RateLimit } => {
  const limits = limitsOf(item);
  const whole = wholeLimitsOf(item);
  const usage = usageOf(item, minuteOf(nowMs));
  const shards = shardsOf(item);
  return {
    requests: rateLimitOf(limits.requestsPerMinute, whole.requestsPerMinute, usage.requests, shards, nowMs),
    tokens: rateLimitOf(limits.tokensPerMinute, whole.tokensPerMinute, usage.tokens, shards, nowMs),
  };
};

const scarcest = (limits: readonly RateLimit[]): RateLimit =>
  limits.reduce((scarce, limit) => (limit.remaining < scarce.remaining ? limit : scarce));

/** The `x-ratelimit-*` headers as of images of the items that a request must pass; of each limit, the one of which least is left. */
export const limitHeaders = (items: readonly LimiterItem[], nowMs: number): Record<string, string> => {
  const all = items.map((item) => rateLimitsOf(item, nowMs));
  return rateLimitHeaders({
    requests: scarcest(all.map(({ requests }) => requests)),
    tokens: scarcest(all.map(({ tokens }) => tokens)),
  });
};
