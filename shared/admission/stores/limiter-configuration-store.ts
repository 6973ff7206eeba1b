import type { Database } from '../../database/database.ts';
import { getItems } from '../../database/get-items.ts';
import { isWritten } from '../../database/is-written.ts';
import { DatabaseUnavailable } from '../../database/outage.ts';
import { transact, type Write } from '../../database/transaction.ts';
import type { ContentSetting, KeyItem, PayloadLogSetting } from '../item/key-item.ts';
import { availableNanosOf, type Configuration, type LimiterItem, shardsOf } from '../item/limiter-item.ts';
import { shardIds } from '../item/shards.ts';
import { ChangedMeanwhile, type Expected, toConfigure } from '../plans/configuration-write.ts';
import { type MoneyCounts, toCorrect } from '../plans/correct-money.ts';
import { planCollection, toCollect, toGrant } from '../plans/credit-grant.ts';
import { createLimiterStore } from './limiter-store.ts';
import { createSpread } from './spread-configuration.ts';

// Requests change the shards meanwhile, so some of the transactions that collect credit fail.
const MAX_DEDUCTION_ATTEMPTS = 40;

/** The `keys` table with the writes of the control plane, which configures limiters. */
export const createLimiterConfigurationStore = (database: Database, table: string) => {
  const store = createLimiterStore(database, table);
  const { apply, get, getMany } = store;
  return {
    ...store,
    ...createSpread(database, table),

    /**
     * Adds the grant with this number to the credit once; false if it was added before. Grants must be added in the
     * order of their numbers.
     * @throws 503 if the shards change too often meanwhile
     */
    addGrant: async (id: string, number: number, amountNanos: bigint): Promise<boolean> => {
      for (let attempt = 0; attempt < MAX_DEDUCTION_ATTEMPTS; attempt++) {
        const own = await get(id);
        if (!own || (own.grants ?? 0) !== number - 1) return false;
        const missing = amountNanos < 0n ? -amountNanos - availableNanosOf(own) : 0n;
        const others = missing > 0n ? await getMany(shardIds(id, shardsOf(own)).slice(1)) : [];
        const donations = planCollection(others, missing);
        const items = donations.length > 0 ? toCollect(table, id, donations) : [toGrant(table, own, number, amountNanos)];
        try {
          await transact(
            database,
            items.map((item) => ({ item, refused: () => new ChangedMeanwhile() })),
          );
          if (donations.length === 0) return true;
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
        }
      }
      throw new DatabaseUnavailable(new Error(`The credit of ${id} changed during each of ${MAX_DEDUCTION_ATTEMPTS} attempts.`));
    },

    /**
     * Changes the configuration as one write of a transaction; fails with ChangedMeanwhile if the limiter is not as
     * expected.
     */
    toConfigure: <Item extends LimiterItem>(id: string, configuration: Configuration<Item>, expected?: Expected): Write =>
      toConfigure(table, id, configuration, expected),

    /**
     * Gives a key's limiter its organization's setting for content, unless it has that of the same or a later version
     * of the organization.
     */
    setContent: (id: string, { mayStore, version }: ContentSetting): Promise<void> =>
      apply(id, {
        UpdateExpression: mayStore ? 'SET no_v = :version REMOVE no_o ADD cfg :one' : 'SET no_v = :version, no_o = :true ADD cfg :one',
        ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(no_v) OR no_v < :version)',
        ExpressionAttributeValues: { ':version': version, ':one': 1, ...(!mayStore && { ':true': true }) },
      }),

    /**
     * Gives a key's limiter its organization's setting for the payload log, unless it has the same or a later version
     * of that setting.
     */
    setPayloadLog: (id: string, { isOn, version }: PayloadLogSetting): Promise<void> =>
      apply(id, {
        UpdateExpression: isOn ? 'SET log_v = :version, log_o = :true ADD cfg :one' : 'SET log_v = :version REMOVE log_o ADD cfg :one',
        ConditionExpression: 'attribute_exists(id) AND (attribute_not_exists(log_v) OR log_v < :version)',
        ExpressionAttributeValues: { ':version': version, ':one': 1, ...(isOn && { ':true': true }) },
      }),

    /**
     * Adds corrections to what an item has counted; false if it has counted something since it was read, and then
     * nothing is done.
     */
    correct: (read: LimiterItem, corrections: MoneyCounts): Promise<boolean> =>
      isWritten(database.update({ TableName: table, Key: { id: read.id }, ...toCorrect(read, corrections) })),

    toCreate: (item: LimiterItem): Write => ({
      item: { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' } },
    }),

    /**
     * Replaces the limiter of a key that has ended by a new one, as it was read without requests in flight: the new
     * one has counted nothing. Fails with ChangedMeanwhile if it has admitted a request since. Its last use stays,
     * because bills find the events of a key by it.
     */
    toRenew: (item: KeyItem, { cfg, last_used }: LimiterItem): Write => ({
      item: {
        Put: {
          TableName: table,
          Item: { ...item, cfg: cfg + 1, ...(last_used !== undefined && { last_used }) },
          ConditionExpression: `cfg = :cfg AND size(fl) = :none AND ${last_used === undefined ? 'attribute_not_exists(last_used)' : 'last_used = :last'}`,
          ExpressionAttributeValues: { ':cfg': cfg, ':none': 0, ...(last_used !== undefined && { ':last': last_used }) },
        },
      },
      refused: () => new ChangedMeanwhile(),
    }),

    /**
     * The time of each limiter's last admission, in ms since the epoch; limiters without admissions are absent. For
     * at most 100 limiters.
     */
    lastUses: async (ids: readonly string[]): Promise<Map<string, number>> => {
      const Keys = ids.map((id) => ({ id }));
      const items = await getItems(database, table, { Keys, ProjectionExpression: 'id, last_used' });
      return new Map(items.flatMap(({ id, last_used }) => (last_used === undefined ? [] : [[String(id), Number(last_used)] as const])));
    },
  };
};

export type LimiterConfigurationStore = ReturnType<typeof createLimiterConfigurationStore>;
