import { nanosOf } from '../prices/dollars.ts';
import type { StoredApiKey } from './api-key.ts';
import type { KeyItem } from './key.ts';
import { shardId, shardsFor, shareOf, shareOfNanos } from './shards.ts';

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

/** The limits of one shard: its parts of the key's. */
export const limitsOfShard = (
  key: KeyLimitFields,
  shards: number,
  shard: number,
): Pick<KeyItem, 'lim_r' | 'lim_t' | 'lim_c'> & Partial<KeyItem> => {
  const share = (whole: number): number => shareOf(whole, shards, shard);
  const money = (whole: bigint | undefined): bigint | undefined => (whole === undefined ? undefined : shareOfNanos(whole, shards, shard));
  const [bud_d, bud_m, bud_t] = [money(key.day_budget_nanos), money(key.month_budget_nanos), money(key.total_budget_nanos)];
  return {
    lim_r: share(key.requests_per_minute),
    lim_t: share(key.tokens_per_minute),
    lim_c: share(key.concurrency),
    ...(bud_d !== undefined && { bud_d }),
    ...(bud_m !== undefined && { bud_m }),
    ...(bud_t !== undefined && { bud_t }),
    ...(shards > 1 && { shards, all_r: key.requests_per_minute, all_t: key.tokens_per_minute, all_c: key.concurrency }),
  };
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
export const configurationsOf = (key: Omit<StoredApiKey, 'version'>): (Partial<KeyItem> & { id: string })[] =>
  Array.from({ length: key.shards }, (_, shard) => ({
    id: shardId(key.id, shard),
    status: key.status,
    ...limitsOfShard(limitFieldsOf(key), key.shards, shard),
    ...(key.models && { models: key.models }),
    ...(key.expires_at !== null && { expires_at: key.expires_at * MS }),
    ...(key.no_content && { no_content: true as const }),
  }));

/** What a configuration may lack: it is removed from the item then. */
export const OPTIONAL_CONFIGURATION = ['bud_d', 'bud_m', 'bud_t', 'models', 'expires_at', 'no_content'] as const;
