import { type Expected, toConfigure } from '../../../shared/admission/configuration-write.ts';
import type { ContentSetting } from '../../../shared/admission/key-item.ts';
import type { Configuration, LimiterItem } from '../../../shared/admission/limiter-item.ts';
import { createLimiterStore } from '../../../shared/admission/limiter-store.ts';
import { ConditionFailed, type Database } from '../../../shared/database/database.ts';
import { getItems } from '../../../shared/database/get-items.ts';
import type { Write } from '../../../shared/database/transaction.ts';

/** The `keys` table with the writes of the control plane, which configures limiters. */
export const createLimiterConfigurationStore = (database: Database, table: string) => ({
  ...createLimiterStore(database, table),

  /** Changes the configuration as one write of a transaction; fails with ChangedMeanwhile if the limiter is not as expected. */
  toConfigure: <Item extends LimiterItem>(id: string, configuration: Configuration<Item>, expected?: Expected): Write =>
    toConfigure(table, id, configuration, expected),

  /** Gives a key's limiter its organization's setting for content, unless it has that of the same or a later version of the organization. */
  setContent: async (id: string, { mayStore, version }: ContentSetting): Promise<void> => {
    const write = database.update({
      TableName: table,
      Key: { id },
      UpdateExpression: mayStore ? 'SET no_v = :version REMOVE no_o ADD cfg :one' : 'SET no_v = :version, no_o = :true ADD cfg :one',
      ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(no_v) OR no_v < :version)',
      ExpressionAttributeValues: { ':version': version, ':one': 1, ...(!mayStore && { ':true': true }) },
    });
    await write.catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  },

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
