import { BUILT_IN_INSTANCE_TYPES } from '../../functions/control/instance-types/built-in-instance-types.ts';
import { BUILT_IN_RUNTIMES } from '../../functions/control/runtimes/built-in-runtimes.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import type { TestDatabase } from './database.ts';

/** The catalogue of a test database, with the entries of the release. */
export const catalogueOf = ({ database, tables }: Pick<TestDatabase, 'database' | 'tables'>) =>
  createCatalogueStore(createAccountTable(database, tables.Deployments as string), {
    runtimes: BUILT_IN_RUNTIMES,
    instanceTypes: BUILT_IN_INSTANCE_TYPES,
  });
