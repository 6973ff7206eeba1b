import type { Database } from '../../shared/database/database.ts';
import { createOrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';

/** The stores that totals are made with. @param maxUsers of a span of an organization */
export const rollupStores = (database: Database, table: string, maxUsers?: number) => ({
  usage: createUsageStore(database, table),
  rollups: createRollupStore(database, table),
  totals: createOrganizationTotalsStore(database, table, maxUsers),
  ...(maxUsers !== undefined && { maxUsers }),
});
