import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import type { LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import { createLimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';

/** The limiter store, with the control plane's writes as single transactions. */
export const openLimiters = (database: Database, table: string) => {
  const store = createLimiterConfigurationStore(database, table);
  const write = (one: Write): Promise<void> => transact(database, [one]);
  return {
    ...store,
    write,
    writeAll: (writes: readonly Write[]): Promise<void> => transact(database, writes),
    /** A whole key or organization: the sum of its shards. */
    whole: async (id: string): Promise<LimiterItem | undefined> => {
      const [own, ...others] = await readAllShards(store, id);
      return own && mergeShards([own, ...others]);
    },
    create: (item: LimiterItem): Promise<void> => write(store.toCreate(item)),
    configure: (id: string, set: Partial<KeyItem>, remove: readonly (keyof KeyItem & string)[] = []): Promise<void> =>
      write(store.toConfigure<KeyItem>(id, { set, remove })),
    /** As if the key had been created while its organization was given limits. */
    unmarkOrganizationLimited: (id: string): Promise<void> => write(store.toConfigure<KeyItem>(id, { set: {}, remove: ['lim_o'] })),
  };
};

export type TestLimiters = ReturnType<typeof openLimiters>;
