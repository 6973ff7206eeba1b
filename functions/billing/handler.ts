import type { Context } from 'aws-lambda';
import { createLimiterConfigurationStore } from '../../shared/admission/limiter-configuration-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createMessageQueue } from '../../shared/aws/message-queue.ts';
import { createBilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import { createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import { createOrganizationDirectory } from '../../shared/billing/organization-directory.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createModelStore } from '../../shared/models/model-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import type { BillingDependencies } from './dependencies.ts';
import { createDueStore } from './due/due-store.ts';
import { sendDueTasks } from './due/send-due-tasks.ts';
import { handleEvent } from './handle-event.ts';
import { rules, runTask } from './rules.ts';

const now = Date.now;
const database = createSdkDatabase();
const tableOf = (variable: string) => createAccountTable(database, environmentVariable(variable));
const usageTable = environmentVariable('USAGE_TABLE');
const billingTable = environmentVariable('BILLING_TABLE');
const billing = createAccountTable(database, billingTable);
const keysTable = environmentVariable('KEYS_TABLE');

const dependencies: Omit<BillingDependencies, 'hasTime'> = {
  database,
  audit: createAuditStore(tableOf('AUDIT_TABLE')),
  billing,
  billingTable,
  billedMonths: createBilledMonthsStore(billing),
  organizations: createOrganizationDirectory(tableOf('ACCOUNTS_TABLE')),
  limiters: createLimiterConfigurationStore(database, keysTable),
  keysTable,
  credit: createCreditStore(database, environmentVariable('ACCOUNTS_TABLE')),
  usageTable,
  usage: createUsageStore(database, usageTable),
  gpuEvents: createGpuEventStore(database, usageTable),
  rollups: createRollupStore(database, usageTable),
  models: createModelStore(database, environmentVariable('MODELS_TABLE')),
  catalogue: createCatalogueStore(tableOf('DEPLOYMENTS_TABLE')),
  outbox: createOutbox(tableOf('NOTIFICATIONS_TABLE')),
  tasks: createBillingTasks(createMessageQueue(environmentVariable('BILLING_QUEUE'))),
  now,
};
const due = createDueStore(database, billingTable);
const hasMeters = process.env.STRIPE_SECRET !== undefined;

/** A task saves its progress and ends this long before the function's timeout. */
const RESERVE_MS = 60_000;

/** Two kinds of events: a task of the queue, and the hourly schedule. */
export const handler = (event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>) => {
  const hasTime = (): boolean => context.getRemainingTimeInMillis() > RESERVE_MS;
  const deps = { ...dependencies, hasTime };
  return handleEvent(
    { run: (task) => runTask(rules, deps, task), sendDueTasks: () => sendDueTasks({ ...deps, due, hasMeters }), hasTime },
    event,
  );
};
