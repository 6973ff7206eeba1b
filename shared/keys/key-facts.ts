import * as z from 'zod';
import { minuteOf, remaining, resetMs, type Window } from '../limits/window.ts';
import { type LimiterItem, limitsOf, usageOf } from './limiter.ts';

const RateLimit = z.object({
  limit: z.int().meta({ description: 'The most in any minute.' }),
  remaining: z.int().meta({ description: 'What is left of it now.' }),
  reset_ms: z.int().meta({ description: 'Milliseconds until it is whole again, if nothing else is sent.' }),
});

/** A key as its own bearer sees it. */
export const KeyFacts = z.object({
  id: z.string().meta({ description: 'The public id of the key; never its secret.' }),
  object: z.literal('api_key'),
  scope: z.enum(['serverless', 'on_demand']).meta({ description: 'The host that it opens.' }),
  models: z.array(z.string()).nullable().meta({ description: 'The models that it may use; null: every one.' }),
  expires_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: never.' }),
  last_used_at: z.int().nullable().meta({ description: 'When its last request was let in: Unix time in seconds; null: never yet.' }),
  requests_per_minute: RateLimit,
  tokens_per_minute: RateLimit,
  concurrency: z.object({
    limit: z.int().meta({ description: 'The most requests at the same time.' }),
    in_flight: z.int().meta({ description: 'Those that are under way now.' }),
  }),
});
export type KeyFacts = z.infer<typeof KeyFacts>;

const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1_000));

const rateLimitOf = (limit: number, window: Window, nowMs: number): KeyFacts['requests_per_minute'] => ({
  limit,
  remaining: remaining(limit, window, nowMs),
  reset_ms: resetMs(window, nowMs),
});

/** A limiter item as its own bearer sees it at `nowMs`. */
export const keyFactsOf = (item: LimiterItem, nowMs: number): KeyFacts => {
  const limits = limitsOf(item);
  const usage = usageOf(item, minuteOf(nowMs));
  return {
    id: item.id,
    object: 'api_key',
    scope: item.scope,
    models: item.models ?? null,
    expires_at: secondsOf(item.expires_at),
    last_used_at: secondsOf(item.last_used),
    requests_per_minute: rateLimitOf(limits.requestsPerMinute, usage.requests, nowMs),
    tokens_per_minute: rateLimitOf(limits.tokensPerMinute, usage.tokens, nowMs),
    concurrency: { limit: limits.concurrency, in_flight: usage.inFlight },
  };
};
