import * as z from 'zod';
import { dollarsOf } from '../prices/dollars.ts';
import type { KeyItem } from './key-item.ts';
import { countedNanosAt, type LimiterItem, limitsOf, usageOf, wholeRateLimitsOf } from './limiter-item.ts';
import type { Period } from './limits.ts';
import { minuteOf, remaining, resetMs, type Window } from './sliding-window.ts';

const RateLimit = z.object({
  limit: z.int().meta({ description: 'The maximum per minute.' }),
  remaining: z.int().meta({ description: 'What is left of the limit now.' }),
  reset_ms: z.int().meta({ description: 'Milliseconds until the full limit is available again, if no other request is sent.' }),
});

const BudgetFacts = z.object({
  limit: z.string().meta({ description: 'The budget in dollars: an exact decimal number.' }),
  remaining: z.string().meta({ description: 'The dollars that are neither spent nor held for requests in flight.' }),
});
type BudgetFacts = z.infer<typeof BudgetFacts>;

/** A key's facts for the caller who presents it. */
export const KeyFacts = z.object({
  id: z.string().meta({ description: 'The public id of the key, not its secret.' }),
  object: z.literal('api_key'),
  scope: z.enum(['serverless', 'on_demand']).meta({ description: 'The host that the key works on.' }),
  models: z.array(z.string()).nullable().meta({ description: 'The models that the key can use; null: all models.' }),
  expires_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: the key does not expire.' }),
  last_used_at: z.int().nullable().meta({ description: 'When the last request was admitted. Unix time in seconds; null: never used.' }),
  requests_per_minute: RateLimit,
  tokens_per_minute: RateLimit,
  concurrency: z.object({
    limit: z.int().meta({ description: 'The maximum number of concurrent requests.' }),
    in_flight: z.int().meta({ description: 'The number of requests in flight now.' }),
  }),
  budgets: z
    .object({ day: BudgetFacts.nullable(), month: BudgetFacts.nullable(), total: BudgetFacts.nullable() })
    .meta({ description: 'The budgets per day, per month (UTC) and in total; null: no such budget.' }),
});
export type KeyFacts = z.infer<typeof KeyFacts>;

const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1_000));

const rateLimitOf = (limit: number, windows: readonly Window[], nowMs: number): KeyFacts['requests_per_minute'] => {
  const current = windows.reduce((sum, window) => sum + window.current, 0);
  const previous = windows.reduce((sum, window) => sum + window.previous, 0);
  return { limit, remaining: remaining(limit, { current, previous }, nowMs), reset_ms: resetMs({ current, previous }, nowMs) };
};

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** A budget of the whole key: the sum of its shards' parts and of their counts. */
const budgetOf = (shards: readonly LimiterItem[], period: Period, nowMs: number): BudgetFacts | null => {
  const parts = shards.map((shard) => limitsOf(shard).budgets[period]).filter((part) => part !== undefined);
  if (parts.length === 0) return null;
  const whole = sum(parts);
  const counted = sum(shards.map((shard) => countedNanosAt(shard, nowMs)[period]));
  return { limit: dollarsOf(whole), remaining: dollarsOf(counted < whole ? whole - counted : 0n) };
};

/** A key's facts at `nowMs`, from the limiter items that share its limits. */
export const keyFactsOf = (items: readonly [KeyItem, ...LimiterItem[]], nowMs: number): KeyFacts => {
  const [item] = items;
  const limits = wholeRateLimitsOf(item);
  const usages = items.map((shard) => usageOf(shard, minuteOf(nowMs)));
  const uses = items.flatMap(({ last_used }) => (last_used === undefined ? [] : [last_used]));
  return {
    id: item.id,
    object: 'api_key',
    scope: item.scope,
    models: item.models ?? null,
    expires_at: secondsOf(item.expires_at),
    last_used_at: secondsOf(uses.length > 0 ? Math.max(...uses) : undefined),
    requests_per_minute: rateLimitOf(
      limits.requestsPerMinute,
      usages.map(({ requests }) => requests),
      nowMs,
    ),
    tokens_per_minute: rateLimitOf(
      limits.tokensPerMinute,
      usages.map(({ tokens }) => tokens),
      nowMs,
    ),
    concurrency: { limit: limits.concurrency, in_flight: usages.reduce((sum, { inFlight }) => sum + inFlight, 0) },
    budgets: {
      day: budgetOf(items, 'day', nowMs),
      month: budgetOf(items, 'month', nowMs),
      total: budgetOf(items, 'total', nowMs),
    },
  };
};
