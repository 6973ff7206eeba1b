import * as z from 'zod';
import { dollarsOf } from '../../prices/dollars.ts';
import { unixSeconds } from '../../time/units.ts';
import type { KeyItem } from './key-item.ts';
import { countedNanosAt, type LimiterItem, limitsOf, usageOf, wholeRateLimitsOf } from './limiter-item.ts';
import type { BudgetPeriod } from './limits.ts';
import { remaining, resetMs, slotOf, type Window } from './sliding-window.ts';

const RateLimit = z.object({
  limit: z.int().meta({ description: 'The maximum per minute.' }),
  remaining: z.int().meta({ description: 'The amount that is left now.' }),
  reset_ms: z.int().meta({ description: 'Milliseconds until the full limit is available again, if no more requests are sent.' }),
});

const BudgetFacts = z.object({
  limit: z.string().meta({ description: 'The budget in dollars: an exact decimal number.' }),
  remaining: z.string().meta({ description: 'Dollars that are neither spent nor reserved for requests in progress.' }),
});
type BudgetFacts = z.infer<typeof BudgetFacts>;

/** A key as its own caller sees it. */
export const KeyFacts = z.object({
  id: z.string().meta({ description: 'The public id of the key, which is not its secret.' }),
  object: z.literal('api_key'),
  scope: z.enum(['serverless', 'on_demand']).meta({ description: 'The host that accepts the key.' }),
  models: z.array(z.string()).nullable().meta({ description: 'The models that the key can use; null: all models.' }),
  expires_at: z.int().nullable().meta({ description: 'When the key expires. Unix time in seconds; null: never.' }),
  last_used_at: z.int().nullable().meta({ description: 'When its last request was admitted. Unix time in seconds; null: not used yet.' }),
  requests_per_minute: RateLimit,
  tokens_per_minute: RateLimit,
  concurrency: z.object({
    limit: z.int().meta({ description: 'The maximum number of requests at the same time.' }),
    in_flight: z.int().meta({ description: 'The number of requests in progress.' }),
  }),
  budgets: z
    .object({ day: BudgetFacts.nullable(), month: BudgetFacts.nullable(), total: BudgetFacts.nullable() })
    .meta({ description: 'The most that the key can spend per day, per month (UTC) and in total; null: no such budget.' }),
});
export type KeyFacts = z.infer<typeof KeyFacts>;

const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : unixSeconds(ms));

const rateLimitOf = (limit: number, windows: readonly Window[], nowMs: number): KeyFacts['requests_per_minute'] => {
  const current = windows.reduce((sum, window) => sum + window.current, 0);
  const past = windows[0]?.past.map((_, i) => windows.reduce((sum, window) => sum + (window.past[i] ?? 0), 0)) ?? [];
  return { limit, remaining: remaining(limit, { current, past }), reset_ms: resetMs({ current, past }, nowMs) };
};

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

const budgetOf = (shards: readonly LimiterItem[], period: BudgetPeriod, nowMs: number): BudgetFacts | null => {
  const parts = shards.map((shard) => limitsOf(shard).budgets[period]).filter((part) => part !== undefined);
  if (parts.length === 0) return null;
  const whole = sum(parts);
  const counted = sum(shards.map((shard) => countedNanosAt(shard, nowMs)[period]));
  return { limit: dollarsOf(whole), remaining: dollarsOf(counted < whole ? whole - counted : 0n) };
};

/** The budgets at `nowMs` of the limiter items that share them. */
export const budgetFactsOf = (items: readonly LimiterItem[], nowMs: number): KeyFacts['budgets'] => ({
  day: budgetOf(items, 'day', nowMs),
  month: budgetOf(items, 'month', nowMs),
  total: budgetOf(items, 'total', nowMs),
});

/** The facts of a key at `nowMs`, from the limiter items that share its limits. */
export const keyFactsOf = (items: readonly [KeyItem, ...LimiterItem[]], nowMs: number): KeyFacts => {
  const [item] = items;
  const limits = wholeRateLimitsOf(item);
  const usages = items.map((shard) => usageOf(shard, slotOf(nowMs)));
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
    budgets: budgetFactsOf(items, nowMs),
  };
};
