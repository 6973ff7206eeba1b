import { type Expected, toConfigure } from '../../../shared/admission/configuration-write.ts';
import type { Configuration, LimiterItem } from '../../../shared/admission/limiter-item.ts';
import { createLimiterStore } from '../../../shared/admission/limiter-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { getItems } from '../../../shared/database/get-items.ts';
import type { Write } from '../../../shared/database/transaction.ts';

/** The `keys` table with the writes of the control plane, which configures limiters. */
export const createLimiterConfigurationStore = (database: Database, table: string) => ({
  ...createLimiterStore(database, table),

  /** Changes the configuration as one write of a transaction; fails with ChangedMeanwhile if the limiter is not as expected. */
  toConfigure: <Item extends LimiterItem>(id: string, configuration: Configuration<Item>, expected?: Expected): Write =>
    toConfigure(table, id, configuration, expected),

  toCreate: (item: LimiterItem): Write => ({
    item: { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' } },
  }),

  /** The time of each limiter's last admission, in ms since the epoch; limiters without admissions are absent. For at most 100 limiters. */
  lastUses: async (ids: readonly string[]): Promise<Map<string, number>> => {
    const Keys = ids.map((id) => ({ id }));
    const items = await getItems(database, table, { Keys, ProjectionExpression: 'id, last_used' });
    return new Map(items.flatMap(({ id, last_used }) => (last_used === undefined ? [] : [[String(id), Number(last_used)] as const])));
  },
});

export type LimiterConfigurationStore = ReturnType<typeof createLimiterConfigurationStore>;
