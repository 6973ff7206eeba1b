import { keyConfiguration } from '../../../shared/admission/key-item.ts';
import { countedNanosAt } from '../../../shared/admission/limiter-item.ts';
import type { Limits, Period } from '../../../shared/admission/limits.ts';
import { shardIds } from '../../../shared/admission/shards.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import type { LimiterConfigurationStore } from '../limits/limiter-configuration-store.ts';
import { toLimits } from '../limits/limits.ts';
import type { StoredApiKey } from './api-key.ts';
import { type Counted, settingsOf } from './share-limits.ts';

/** The periods whose budget is not spent. In these, each shard must stay within its part, or the shards together could exceed the budget. */
const unspentPeriods = ({ budgets }: Limits, counted: Counted): Period[] =>
  (Object.keys(budgets) as Period[]).filter(
    (period) => counted.reduce((sum, nanos) => sum + nanos[period], 0n) < (budgets[period] as bigint),
  );

/** The writes that configure each limiter item of a key based on its current counts. They fail with CountedMore if an item counts more meanwhile. */
export const configureShards = async (limiters: LimiterConfigurationStore, key: StoredApiKey, nowMs: number): Promise<Write[]> => {
  const ids = shardIds(key.id, key.shards);
  const items = await Promise.all(ids.map((id) => limiters.get(id)));
  const counted = items.filter((item) => item !== undefined).map((item) => countedNanosAt(item, nowMs));
  const periods = unspentPeriods(toLimits(key), counted);
  return settingsOf(key, counted).map((settings, shard) => {
    const nanos = Object.fromEntries(periods.map((period) => [period, settings.limits.budgets[period]])) as Limits['budgets'];
    return limiters.toConfigure(ids[shard] as string, keyConfiguration(settings), { nanos, atMs: nowMs });
  });
};
