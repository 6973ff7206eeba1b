import * as z from 'zod';
import { KeyFacts, keyFactsOf } from '../../../shared/admission/item/key-facts.ts';
import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import type { LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { exactInteger } from '../../../shared/http/json/json-numbers.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';
import type { Actor } from '../access/actor.ts';
import { type ApiKeyReads, visibleKey } from './api-key-rights.ts';

const MAX_DAYS = 92;

const Day = z.iso.date('expected a date, such as 2026-10-31').regex(/^20/, 'expected a date from 2000 to 2099');

export const UsageQuery = z.strictObject({
  from: Day.optional().meta({ description: 'The first day (UTC). Default: seven days before `to`.' }),
  to: Day.optional().meta({ description: `The last day (UTC), at most ${MAX_DAYS} days after \`from\`. Default: today.` }),
});
export type UsageQuery = z.output<typeof UsageQuery>;

// An integer of any size: sums of tokens are bigints.
const Tokens = z.unknown().meta({ type: 'integer', minimum: 0 });

const UsageDay = z.object({
  day: z.string().meta({ description: 'The day (UTC).', examples: ['2026-11-21'] }),
  model: z.string(),
  requests: z.int(),
  failed_requests: z.int().meta({ description: 'The requests that did not complete.' }),
  prompt_tokens: Tokens,
  cached_tokens: Tokens.meta({ description: 'The prompt tokens that the runtime read from its cache.' }),
  completion_tokens: Tokens,
  cost: z.string().meta({ description: 'The cost in dollars: an exact decimal number.' }),
});

/** A key's usage by day, and what remains of its limits. */
export const ApiKeyUsage = z.object({
  object: z.literal('api_key_usage'),
  api_key: z.string(),
  from: z.string(),
  to: z.string(),
  cost: z.string().meta({ description: 'The total cost of these days in dollars.' }),
  days: z.array(UsageDay).meta({ description: 'The usage by day and model. The last few minutes can be missing.' }),
  now: KeyFacts.pick({ requests_per_minute: true, tokens_per_minute: true, concurrency: true, budgets: true }).meta({
    description: 'The current state of its limits.',
  }),
});
export type ApiKeyUsage = z.infer<typeof ApiKeyUsage>;

const rangeOf = ({ from, to }: UsageQuery, nowMs: number): { from: string; to: string } => {
  const last = to ?? dayOf(nowMs);
  const first = from ?? dayOf(Date.parse(last) - 7 * DAY_MS);
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS;
  if (days < 0 || days > MAX_DAYS) throw new InvalidValue('from', `expected a date from 0 to ${MAX_DAYS} days before 'to'`);
  return { from: first, to: last };
};

/** Returns the usage of a key that the actor can see. @throws 400, 404 */
export const apiKeyUsage = async (
  deps: ApiKeyReads & { rollups: RollupStore },
  actor: Actor,
  id: string,
  query: UsageQuery,
): Promise<ApiKeyUsage> => {
  const { nowMs } = actor.origin;
  const range = rangeOf(query, nowMs);
  const { shards } = await visibleKey(deps, actor, id);
  const items = await deps.limiters.getMany(shardIds(id, shards));
  const days: ApiKeyUsage['days'] = [];
  let costNanos = 0n;
  for await (const { day, model, totals } of deps.rollups.listDays(id, range.from, range.to)) {
    costNanos += totals.cost_nanos;
    days.push({
      day,
      model,
      requests: totals.requests,
      failed_requests: totals.requests - (totals.outcomes.get('completed') ?? 0),
      prompt_tokens: exactInteger(totals.prompt_tokens),
      cached_tokens: exactInteger(totals.cached_tokens),
      completion_tokens: exactInteger(totals.completion_tokens),
      cost: dollarsOf(totals.cost_nanos),
    });
  }
  const facts = keyFactsOf(items as unknown as readonly [KeyItem, ...LimiterItem[]], nowMs);
  const { requests_per_minute, tokens_per_minute, concurrency, budgets } = facts;
  const now = { requests_per_minute, tokens_per_minute, concurrency, budgets };
  return { object: 'api_key_usage', api_key: id, ...range, cost: dollarsOf(costNanos), days, now };
};
