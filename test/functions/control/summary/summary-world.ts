import type { Actor } from '../../../../functions/control/access/actor.ts';
import { BUILT_IN_INSTANCE_TYPES } from '../../../../functions/control/instance-types/built-in-instance-types.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { summarize } from '../../../../functions/control/summary/summarize.ts';
import type { SummaryDependencies } from '../../../../functions/control/summary/summary-reads.ts';
import type { Summary } from '../../../../functions/control/summary/summary-resource.ts';
import { createAllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../../../shared/billing/number-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore, pageOfLiveDeployments } from '../../../../shared/deployments/deployment-store.ts';
import { createModelStore } from '../../../../shared/models/model-store.ts';
import { createDeliveryStore } from '../../../../shared/notifications/delivery-store.ts';
import { createWebhookStore } from '../../../../shared/notifications/webhook-store.ts';
import { createRefusalStore } from '../../../../shared/observability/refusal-store.ts';
import { createTicketStore } from '../../../../shared/tickets/ticket-store.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { NOW } from '../usage/usage-fixtures.ts';

// Counts calls, and fails those of some tables.
const watched = (database: Database, calls: { count: number }, failing: () => string | undefined): Database =>
  new Proxy(database, {
    get: (target, name: keyof Database) => (input: never) => {
      calls.count += 1;
      const table = failing();
      if (table !== undefined && JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).includes(table))
        return Promise.reject(new Error('The table is away.'));
      return target[name](input);
    },
  });

const dependenciesOf = (emulator: TestDatabase, database: Database): SummaryDependencies => {
  const { tables } = emulator;
  const table = (name: string) => createRecordTable(database, tables[name] as string);
  return {
    ...accountStores(emulator, database),
    organizationTotals: createOrganizationTotalsStore(database, tables.Usage as string),
    gpuEvents: createGpuEventStore(database, tables.Usage as string),
    refusals: createRefusalStore(database, tables.Observability as string),
    deployments: createDeploymentStore(table('Deployments')),
    liveDeployments: (request) => pageOfLiveDeployments(database, tables.Deployments as string, request),
    catalogue: createCatalogueStore(table('Deployments'), { runtimes: [], instanceTypes: BUILT_IN_INSTANCE_TYPES }),
    tickets: createTicketStore(database, tables.Tickets as string, table('Tickets')),
    webhooks: createWebhookStore(table('Notifications')),
    deliveries: createDeliveryStore(table('Notifications')),
    invoices: createInvoiceStore(table('Billing')),
    allInvoices: createAllInvoicesStore(table('Billing')),
    numbers: createNumberStore(table('Billing')),
    models: createModelStore(database, tables.Models as string),
  };
};

/** Summaries over the emulator with the permissions of `control`, and the stores that fill it. */
export const startSummaryWorld = async () => {
  const emulator = await startTestDatabase();
  const calls = { count: 0 };
  let failing: string | undefined;
  const deps = dependenciesOf(
    emulator,
    watched(await emulator.as('control'), calls, () => failing),
  );
  const stores = accountStores(emulator);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW });
  return {
    emulator,
    stores,
    deps,
    admin,
    /** The stores of everything that a summary reads, which may also write. */
    writing: dependenciesOf(emulator, emulator.database) as ReturnType<typeof dependenciesOf>,
    newOrganization: async (): Promise<string> => (await createOrganization(stores, admin.origin, { name: 'Acme' })).id,
    newUser: (role: Actor['role'], organization: string | null): Promise<Actor> => storeUser(stores, { role, organization, nowMs: NOW }),
    /** A summary, and the number of database calls that it took. */
    summaryFor: async (actor: Actor): Promise<{ summary: Summary; calls: number }> => {
      calls.count = 0;
      const summary = await summarize(deps, actor);
      return { summary, calls: calls.count };
    },
    /** Fails all calls of a table until the work is done. */
    without: async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      failing = emulator.tables[name];
      try {
        return await work();
      } finally {
        failing = undefined;
      }
    },
    close: () => emulator.close(),
  };
};

export type SummaryWorld = Awaited<ReturnType<typeof startSummaryWorld>>;
