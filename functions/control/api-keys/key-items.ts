import type { KeyItem } from '../../../shared/admission/key.ts';
import type { LimiterItem, StoredNanos } from '../../../shared/admission/limiter.ts';
import { dayOf, monthOf } from '../../../shared/admission/money.ts';
import { shardId, shardsFor, shareOf, usableShards } from '../../../shared/admission/shards.ts';
import { nanosOf } from '../../../shared/prices/dollars.ts';
import type { StoredApiKey } from './api-key.ts';
import { shareBudget } from './share-budget.ts';

/** What a key is limited to, as limiters count it. */
export interface KeyLimitFields {
  requests_per_minute: number;
  tokens_per_minute: number;
  concurrency: number;
  day_budget_nanos?: bigint | undefined;
  month_budget_nanos?: bigint | undefined;
  total_budget_nanos?: bigint | undefined;
}

const budgetsOf = ({ day_budget_nanos, month_budget_nanos, total_budget_nanos }: KeyLimitFields): bigint[] =>
  [day_budget_nanos, month_budget_nanos, total_budget_nanos].filter((budget) => budget !== undefined);

/** How many limiter items a key with these limits needs. */
export const shardsOf = (limits: KeyLimitFields): number => shardsFor(limits, budgetsOf(limits));

/** What the shards of a key have counted: in this day and month, and in all. */
export interface CountedNanos {
  day: readonly bigint[];
  month: readonly bigint[];
  total: readonly bigint[];
}

/** What the limiter items of a key have counted at `nowMs`, in the order of its shards. */
export const countedBy = (items: readonly LimiterItem[], nowMs: number): CountedNanos => {
  const sums = (counter: keyof LimiterItem): bigint[] => items.map((item) => BigInt((item[counter] as StoredNanos) ?? 0));
  return { day: sums(`d${dayOf(nowMs)}`), month: sums(`m${monthOf(nowMs)}`), total: sums('spent') };
};

type ShardLimits = Pick<KeyItem, 'lim_r' | 'lim_t' | 'lim_c'> & Partial<KeyItem>;

/** The limits of each shard: its parts of the key's. @param counted absent: of a new key, which has counted nothing */
export const limitsOfShards = (key: KeyLimitFields, shards: number, counted?: CountedNanos): ShardLimits[] => {
  const { requests_per_minute: all_r, tokens_per_minute: all_t, concurrency: all_c } = key;
  const usable = usableShards({ shards, all_r, all_c });
  const nothing = Array.from({ length: shards }, () => 0n);
  const parts = (budget: bigint | undefined, sums: readonly bigint[] = nothing): bigint[] | undefined =>
    budget === undefined ? undefined : shareBudget(budget, sums, usable);
  const [day, month, total] = [
    parts(key.day_budget_nanos, counted?.day),
    parts(key.month_budget_nanos, counted?.month),
    parts(key.total_budget_nanos, counted?.total),
  ];
  return Array.from({ length: shards }, (_, shard) => ({
    lim_r: shareOf(all_r, shards, shard),
    lim_t: shareOf(all_t, shards, shard),
    lim_c: shareOf(all_c, shards, shard),
    ...(day && { bud_d: day[shard] as bigint }),
    ...(month && { bud_m: month[shard] as bigint }),
    ...(total && { bud_t: total[shard] as bigint }),
    ...(shards > 1 && { shards, all_r, all_t, all_c }),
  }));
};

const MS = 1_000;
const nanos = (dollars: string | null): bigint | undefined => (dollars === null ? undefined : nanosOf(dollars));

/** The limits of a key of the control plane, as limiters count them. */
export const limitFieldsOf = ({ limits, budgets }: Pick<StoredApiKey, 'limits' | 'budgets'>): KeyLimitFields => ({
  ...limits,
  day_budget_nanos: nanos(budgets.day),
  month_budget_nanos: nanos(budgets.month),
  total_budget_nanos: nanos(budgets.total),
});

/** What is configured in each of a key's limiter items, in the order of its shards, beside its secret. */
export const configurationsOf = (key: Omit<StoredApiKey, 'version'>, counted?: CountedNanos): (ShardLimits & { id: string })[] =>
  limitsOfShards(limitFieldsOf(key), key.shards, counted).map((limits, shard) => ({
    ...limits,
    id: shardId(key.id, shard),
    status: key.status,
    ...(key.models && { models: key.models }),
    ...(key.expires_at !== null && { expires_at: key.expires_at * MS }),
    ...(key.no_content && { no_content: true as const }),
  }));

/** What a configuration may lack: it is removed from the item then. */
export const OPTIONAL_CONFIGURATION = ['bud_d', 'bud_m', 'bud_t', 'models', 'expires_at', 'no_content'] as const;
