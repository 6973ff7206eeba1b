import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SQSBatchResponse } from 'aws-lambda';
import { createLimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createInvokeFunction } from '../../shared/aws/invoke-function.ts';
import { createMessageQueue } from '../../shared/aws/message-queue.ts';
import { createAllInvoicesStore } from '../../shared/billing/all-invoices-store.ts';
import { createBilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import { createBillingClient, createBillingFiles } from '../../shared/billing/billing-files.ts';
import { createBillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import { createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import { createCreditNoteStore } from '../../shared/billing/credit-note-store.ts';
import { createExportStore } from '../../shared/billing/export-store.ts';
import { createInvoiceStore } from '../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../shared/billing/number-store.ts';
import { createOrganizationDirectory } from '../../shared/billing/organization-directory.ts';
import { createRerateStore } from '../../shared/billing/rerate-store.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createModelStore } from '../../shared/models/model-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createSecretExpiries } from '../../shared/service-accounts/secret-expiries.ts';
import { createServiceAccountStore } from '../../shared/service-accounts/service-account-store.ts';
import { createPromiseStore } from '../../shared/service-levels/promise-store.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { createAlertStore } from './alerts/alert-store.ts';
import { createTaxFunction, noTaxes } from './close/taxes.ts';
import type { BillingTaskDependencies } from './dependencies.ts';
import { createDueStore } from './due/due-store.ts';
import { sendDueTasks } from './due/send-due-tasks.ts';
import { handleSchedule, queuedTasks } from './handle-event.ts';
import { createMeterStore } from './meters/meter-store.ts';
import { createFonts, FONTS_FOLDER } from './render/fonts.ts';
import { createWriteOnceFiles } from './render/write-once-files.ts';
import { rules, runTask } from './rules.ts';

const database = createSdkDatabase();
const tableOf = (variable: string) => createRecordTable(database, environmentVariable(variable));
const accounts = tableOf('ACCOUNTS_TABLE');
const billing = tableOf('BILLING_TABLE');
const keysTable = environmentVariable('KEYS_TABLE');
const usageTable = environmentVariable('USAGE_TABLE');
const billingTable = environmentVariable('BILLING_TABLE');
const bucket = environmentVariable('BILLING_BUCKET');
const s3 = createBillingClient();
const organizations = createOrganizationDirectory(accounts);
const { TAX_FUNCTION: taxFunction, STRIPE_SECRET: stripeSecret } = process.env;

const dependencies: Omit<BillingTaskDependencies, 'hasTime'> = {
  database,
  audit: createAuditStore(tableOf('AUDIT_TABLE')),
  organizations,
  nameOf: organizations.nameOf,
  limiters: createLimiterConfigurationStore(database, keysTable),
  keysTable,
  credit: createCreditStore(database, environmentVariable('ACCOUNTS_TABLE')),
  // Closing a month makes thousands of queries for each key, and the SDK's client takes several times as much CPU for
  // each.
  usage: createUsageStore(createDirectDatabases().database, usageTable),
  gpuEvents: createGpuEventStore(database, usageTable),
  rollups: createRollupStore(database, usageTable),
  totals: createOrganizationTotalsStore(database, usageTable),
  deployments: createDeploymentStore(tableOf('DEPLOYMENTS_TABLE')),
  models: createModelStore(database, environmentVariable('MODELS_TABLE')),
  catalogue: createCatalogueStore(tableOf('DEPLOYMENTS_TABLE')),
  settings: createBillingSettingsStore(billing),
  invoices: createInvoiceStore(billing),
  creditNotes: createCreditNoteStore(billing),
  numbers: createNumberStore(billing),
  billedMonths: createBilledMonthsStore(billing),
  rerates: createRerateStore(billing),
  servicePromises: createPromiseStore(billing),
  exports: createExportStore(billing),
  alerts: createAlertStore(database, billingTable),
  meters: createMeterStore(billing),
  files: { ...createBillingFiles(s3, bucket), ...createWriteOnceFiles(s3, bucket) },
  s3,
  bucket,
  fonts: createFonts(path.join(import.meta.dirname, FONTS_FOLDER)),
  taxes: taxFunction === undefined ? noTaxes : createTaxFunction(createInvokeFunction(), taxFunction),
  stripeSecret,
  outbox: createOutbox(tableOf('NOTIFICATIONS_TABLE')),
  tasks: createBillingTasks(
    createMessageQueue(environmentVariable('BILLING_QUEUE')),
    createMessageQueue(environmentVariable('CLOSINGS_QUEUE')),
  ),
  release: environmentVariable('SLUICE_VERSION'),
  now: Date.now,
  wait: delay,
};
const dueDependencies = {
  ...dependencies,
  due: createDueStore(database, billingTable),
  allInvoices: createAllInvoicesStore(billing),
  secretExpiries: createSecretExpiries(accounts),
  serviceAccounts: createServiceAccountStore(accounts),
  hasMeters: stripeSecret !== undefined,
};

// A task saves its progress and ends this long before the function's timeout.
const RESERVE_MS = 60_000;

/** Handles tasks of the queue, and the hourly schedule. */
export const handler = middy<unknown, SQSBatchResponse | undefined>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .use(queueMessages(queuedTasks((task, hasTime) => runTask(rules, { ...dependencies, hasTime }, task))))
  .handler((event, { hasTime }) => handleSchedule(() => sendDueTasks({ ...dueDependencies, hasTime }), event));
