import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { createStartTimesStore } from '../../../shared/deployments/start-times-store.ts';
import { createHoldStartCredit } from '../../../shared/gpu-time/start-credit.ts';
import { type Capacity, type CapacityDependencies, createCapacity } from './capacity.ts';
import { createWaitingStore, waitingOf } from './waiting-store.ts';

interface DatabaseCapacityOptions extends Pick<CapacityDependencies, 'host' | 'models' | 'now' | 'reconcile'> {
  database: Database;
  table: string;
  keysTable: string;
  // The maximum for a deployment, and for an organization: each held request keeps an environment of this function
  // busy.
  maxHeldRequests: number;
  maxHeldRequestsOfOrganization: number;
}

/** Creates the capacity from the database. Load it on demand, because this module isn't small. */
export const createDatabaseCapacity = ({
  database,
  table,
  keysTable,
  maxHeldRequests,
  maxHeldRequestsOfOrganization,
  ...own
}: DatabaseCapacityOptions): Capacity => {
  const records = createRecordTable(database, table);
  return createCapacity({
    ...own,
    deployments: createDeploymentStore(records),
    holdStartCredit: createHoldStartCredit(database, keysTable, createCatalogueStore(records)),
    startTimes: createStartTimesStore(database, records),
    waiting: createWaitingStore(database, table, maxHeldRequests),
    waitingInOrganization: createWaitingStore(database, table, maxHeldRequestsOfOrganization, waitingOf(own.host.scope)),
    wait: async (ms, signal) => delay(ms, undefined, { signal }),
  });
};
