import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { S3Client } from '@aws-sdk/client-s3';
import { createApiKeyStore } from '../../../functions/control/api-keys/api-key-store.ts';
import { currencyOf } from '../../../functions/control/billing/currency.ts';
import { balanceOf } from '../../../functions/control/organizations/balance.ts';
import type { CreditGrant } from '../../../functions/control/organizations/credit.ts';
import { createOrganizationStore } from '../../../functions/control/organizations/organization-store.ts';
import { createProjectStore } from '../../../functions/control/projects/project-store.ts';
import type { TicketDependencies } from '../../../functions/control/tickets/dependencies.ts';
import type { TokenizerTexts } from '../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import { createLimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import { createBilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { createBillingClient, createBillingFiles } from '../../../shared/billing/billing-files.ts';
import { createBillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import { createCreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import { createInvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createCreditStore } from '../../../shared/credit/credit-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createSdkDatabase, type SdkDatabase } from '../../../shared/database/sdk-database.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import { createUserPool, createUserPoolClient } from '../../../shared/identity/user-pool.ts';
import { createUserStore } from '../../../shared/identity/user-store.ts';
import { logToStandardError } from '../../../shared/logging/log.ts';
import { createModelStore } from '../../../shared/models/model-store.ts';
import { createOutbox } from '../../../shared/notifications/outbox.ts';
import { createRequestRowStore } from '../../../shared/observability/request-row-store.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { createClientSecrets } from '../../../shared/single-sign-on/client-secrets.ts';
import { createClocks, SupportPromise } from '../../../shared/tickets/clocks.ts';
import { createTicketStore } from '../../../shared/tickets/ticket-store.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import { createDeploymentDayStore } from '../../../shared/usage/deployment-day-store.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import { describeFailure } from '../aws-failure.ts';
import { CONNECT_MS, REQUEST_MS } from '../aws-timeouts.ts';
import {
  applyDefaults,
  bootstrap,
  createOperatorKey,
  grantByOperator,
  type Identity,
  limitByOperator,
  operatorOrigin,
} from './accounts.ts';
import { deleteData } from './delete-data/delete-data.ts';
import { type DataNames, openDataStores } from './delete-data/open-stores.ts';
import { describeLimits } from './describe-limits.ts';
import { useLocalRun } from './local-run.ts';
import { type Command, readCommand } from './options.ts';
import { PricesEdited, publishModel, TaskChanged } from './publish-model.ts';
import { type AllDependencies, rebuildAll, wasWrong } from './rebuild/rebuild-all.ts';
import { rebuildTotals } from './rebuild/rebuild-totals.ts';
import { answerTickets } from './tickets/answer-tickets.ts';
import { uploadTokenizer } from './tokenizer-files.ts';
import { createTopStores, showTop } from './top/show-top.ts';
import { UsageError, usageOf, usageOfAll } from './usage.ts';
import { describeVerification, verifyInvoice } from './verify-invoice.ts';
import { whyAlarm } from './why/why-alarm.ts';
import { whyRequest } from './why/why-request.ts';

type IdentityVariable = 'USER_POOL_ID' | 'USER_POOL_CLIENT_ID' | 'TOKEN_ISSUER';

// The environment comes first, then the stack's outputs.
const physicalName = async (
  variable:
    | 'KEYS_TABLE'
    | 'MODELS_TABLE'
    | 'DEPLOYMENTS_TABLE'
    | 'USAGE_TABLE'
    | 'ACCOUNTS_TABLE'
    | 'AUDIT_TABLE'
    | 'BILLING_TABLE'
    | 'NOTIFICATIONS_TABLE'
    | 'OBSERVABILITY_TABLE'
    | 'RESPONSES_TABLE'
    | 'TICKETS_TABLE'
    | 'SUPPORT_PROMISE'
    | 'ORGANIZATION_CONCURRENCY'
    | 'TOKENIZERS_BUCKET'
    | 'BILLING_BUCKET'
    | 'PAYLOADS_BUCKET'
    | 'TICKET_FILES_BUCKET'
    | 'WEIGHTS_BUCKET'
    | IdentityVariable,
  output: string,
  stack: string,
): Promise<string> => {
  const given = process.env[variable];
  if (given) return given;
  const { Stacks } = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: stack }));
  const name = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (!name) throw new UsageError(`The stack ${stack} has no output ${output}. Deploy it, or choose another stack with --stack.`);
  return name;
};

const upload = async (texts: TokenizerTexts, stack: string) =>
  uploadTokenizer(new S3Client(), await physicalName('TOKENIZERS_BUCKET', 'TokenizersBucket', stack), texts);

const publish = async (
  database: Database,
  operator: Origin,
  { model, tokenizer, stack }: Extract<Command, { command: 'publish-model' }>,
): Promise<void> => {
  const models = createModelStore(database, await physicalName('MODELS_TABLE', 'ModelsTable', stack));
  const audit = createRecordTable(database, await physicalName('AUDIT_TABLE', 'AuditTable', stack));
  const files = tokenizer && (await upload(tokenizer, stack));
  try {
    await publishModel({ database, audit: createAuditStore(audit), models }, operator, { ...model, ...(files && { tokenizer: files }) });
  } catch (error) {
    const isUsage = [PricesEdited, TaskChanged, InvalidRequest].some((kind) => error instanceof kind);
    throw isUsage ? new UsageError((error as Error).message) : error;
  }
};

const accountTables = async (database: Database, stack: string) => ({
  database,
  keysTable: await physicalName('KEYS_TABLE', 'KeysTable', stack),
  accountsTable: await physicalName('ACCOUNTS_TABLE', 'AccountsTable', stack),
  auditTable: await physicalName('AUDIT_TABLE', 'AuditTable', stack),
  observabilityTable: await physicalName('OBSERVABILITY_TABLE', 'ObservabilityTable', stack),
});

const organizationTables = async (database: Database, stack: string) => ({
  ...(await accountTables(database, stack)),
  defaultConcurrency: Number(await physicalName('ORGANIZATION_CONCURRENCY', 'OrganizationConcurrency', stack)),
});

const identityOf = async (dataStack: string): Promise<Identity> => {
  const stack = dataStack.replace(/-data$/, '-identity');
  const poolId = await physicalName('USER_POOL_ID', 'UserPoolId', stack);
  const clientId = await physicalName('USER_POOL_CLIENT_ID', 'UserPoolClientId', stack);
  const userPool = createUserPool(createUserPoolClient(), { poolId, clientIds: { api: clientId } });
  return { userPool, issuer: await physicalName('TOKEN_ISSUER', 'TokenIssuer', stack) };
};

const creditStores = async (database: Database, stack: string) => {
  const usageTable = await physicalName('USAGE_TABLE', 'UsageTable', stack);
  return {
    limiters: createLimiterConfigurationStore(database, await physicalName('KEYS_TABLE', 'KeysTable', stack)),
    credit: createCreditStore(database, await physicalName('ACCOUNTS_TABLE', 'AccountsTable', stack)),
    rollups: createRollupStore(database, usageTable),
    gpuEvents: createGpuEventStore(database, usageTable),
    deployments: createDeploymentStore(createRecordTable(database, await physicalName('DEPLOYMENTS_TABLE', 'DeploymentsTable', stack))),
  };
};

const invoiceStores = async (database: Database, stack: string) => {
  const billing = createRecordTable(database, await physicalName('BILLING_TABLE', 'BillingTable', stack));
  const usageTable = await physicalName('USAGE_TABLE', 'UsageTable', stack);
  return {
    invoices: createInvoiceStore(billing),
    creditNotes: createCreditNoteStore(billing),
    credit: createCreditStore(database, await physicalName('ACCOUNTS_TABLE', 'AccountsTable', stack)),
    billedMonths: createBilledMonthsStore(billing),
    files: createBillingFiles(createBillingClient(), await physicalName('BILLING_BUCKET', 'BillingBucket', stack)),
    limiters: createLimiterConfigurationStore(database, await physicalName('KEYS_TABLE', 'KeysTable', stack)),
    usage: createUsageStore(database, usageTable),
    gpuEvents: createGpuEventStore(database, usageTable),
    rollups: createRollupStore(database, usageTable),
  };
};

const deskOf = async (database: Database, stack: string): Promise<TicketDependencies> => {
  const tables = await accountTables(database, stack);
  const accounts = createRecordTable(database, tables.accountsTable);
  const ticketsTable = await physicalName('TICKETS_TABLE', 'TicketsTable', stack);
  const promise = SupportPromise.parse(JSON.parse(await physicalName('SUPPORT_PROMISE', 'SupportPromise', stack)));
  return {
    database,
    audit: createAuditStore(createRecordTable(database, tables.auditTable)),
    users: createUserStore(accounts),
    apiKeys: createApiKeyStore(accounts),
    tickets: createTicketStore(database, ticketsTable, createRecordTable(database, ticketsTable)),
    outbox: createOutbox(createRecordTable(database, await physicalName('NOTIFICATIONS_TABLE', 'NotificationsTable', stack))),
    clocks: createClocks(promise),
  };
};

const allStores = async (database: SdkDatabase, stack: string, hasRequestRows: boolean): Promise<AllDependencies> => {
  const { keysTable, accountsTable, auditTable, observabilityTable } = await accountTables(database, stack);
  const usageTable = await physicalName('USAGE_TABLE', 'UsageTable', stack);
  const accounts = createRecordTable(database, accountsTable);
  return {
    ...(await creditStores(database, stack)),
    database,
    keysTable,
    usageTable,
    limiters: createLimiterConfigurationStore(database, keysTable),
    usage: createUsageStore(database, usageTable),
    totals: createOrganizationTotalsStore(database, usageTable),
    deploymentDays: createDeploymentDayStore(database, usageTable),
    organizations: createOrganizationStore(accounts),
    projects: createProjectStore(accounts),
    apiKeys: createApiKeyStore(accounts),
    audit: createAuditStore(createRecordTable(database, auditTable)),
    payloadLogs: createPayloadLogStore(createRecordTable(database, observabilityTable)),
    ...(hasRequestRows && { requestRows: createRequestRowStore(database, observabilityTable) }),
    now: Date.now,
  };
};

const dataNames = async (stack: string): Promise<DataNames> => ({
  tables: {
    accounts: await physicalName('ACCOUNTS_TABLE', 'AccountsTable', stack),
    audit: await physicalName('AUDIT_TABLE', 'AuditTable', stack),
    billing: await physicalName('BILLING_TABLE', 'BillingTable', stack),
    deployments: await physicalName('DEPLOYMENTS_TABLE', 'DeploymentsTable', stack),
    keys: await physicalName('KEYS_TABLE', 'KeysTable', stack),
    models: await physicalName('MODELS_TABLE', 'ModelsTable', stack),
    notifications: await physicalName('NOTIFICATIONS_TABLE', 'NotificationsTable', stack),
    observability: await physicalName('OBSERVABILITY_TABLE', 'ObservabilityTable', stack),
    responses: await physicalName('RESPONSES_TABLE', 'ResponsesTable', stack),
    tickets: await physicalName('TICKETS_TABLE', 'TicketsTable', stack),
    usage: await physicalName('USAGE_TABLE', 'UsageTable', stack),
  },
  buckets: {
    billing: await physicalName('BILLING_BUCKET', 'BillingBucket', stack),
    payloads: await physicalName('PAYLOADS_BUCKET', 'PayloadsBucket', stack),
    ticketFiles: await physicalName('TICKET_FILES_BUCKET', 'TicketFilesBucket', stack),
    weights: await physicalName('WEIGHTS_BUCKET', 'WeightsBucket', stack),
  },
});

const deleteOrganizationData = async (
  database: SdkDatabase,
  operator: Origin,
  { organization, isDeleting, stack }: Extract<Command, { command: 'delete-data' }>,
): Promise<void> => {
  const { userPool } = await identityOf(stack);
  const clientSecrets = createClientSecrets(`${stack.replace(/-data$/, '-control')}/providers/`);
  const deps = openDataStores(database, await dataNames(stack), { userPool, clientSecrets, s3: new S3Client() });
  console.log(toJson(await deleteData(deps, operator, organization, isDeleting)));
  if (!isDeleting) console.log(`Nothing was deleted. To delete all of this, repeat the command with --confirm ${organization}.`);
};

// A deduction has a negative amount.
const describeGrant = ({ amount, organization, number }: CreditGrant): string =>
  amount.startsWith('-')
    ? `Deducted ${amount.slice(1)} of credit from ${organization} (grant ${number}).`
    : `Granted ${amount} of credit to ${organization} (grant ${number}).`;

const explainSubject = async (database: Database, { subject, hours, stack }: Extract<Command, { command: 'why' }>): Promise<string> => {
  const logs = new CloudWatchLogsClient();
  const prefix = stack.replace(/-data$/, '');
  const range = { startMs: Date.now() - hours * HOUR_MS, endMs: Date.now() };
  if (subject.kind === 'alarm') return whyAlarm(logs, subject.name, prefix, range);
  const requests = async () => ({
    limiters: createLimiterConfigurationStore(database, await physicalName('KEYS_TABLE', 'KeysTable', stack)),
    usage: createUsageStore(database, await physicalName('USAGE_TABLE', 'UsageTable', stack)),
    models: createModelStore(database, await physicalName('MODELS_TABLE', 'ModelsTable', stack)),
  });
  const currency = async () => {
    const billing = createRecordTable(database, await physicalName('BILLING_TABLE', 'BillingTable', stack));
    return currencyOf(await createBillingSettingsStore(billing).getSeller());
  };
  return whyRequest({ logs, requests, currency }, subject.id, prefix, range);
};

const toJson = (report: object): string =>
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), 2);

// Returns true if nothing was wrong.
const rebuild = async (
  database: SdkDatabase,
  { day, stack, hasRequestRows }: Extract<Command, { command: 'rebuild' }>,
): Promise<boolean> => {
  if (day === undefined) {
    const report = await rebuildAll(await allStores(database, stack, hasRequestRows));
    console.log(toJson(report));
    return !wasWrong(report);
  }
  const keys = await physicalName('KEYS_TABLE', 'KeysTable', stack);
  const usage = await physicalName('USAGE_TABLE', 'UsageTable', stack);
  const deployments = await physicalName('DEPLOYMENTS_TABLE', 'DeploymentsTable', stack);
  const report = await rebuildTotals(database, { keys, usage, deployments }, day);
  console.log(toJson(report));
  return report.drift.rows + report.organizations.drift.rows + report.gpu_time.rows === 0;
};

// Returns true if nothing was wrong.
const run = async (args: readonly string[]): Promise<boolean> => {
  const task = readCommand(args, Date.now());
  if (task.isLocal) useLocalRun('.sluice');
  // The CDK accepts both variables, the SDK only the first.
  else if (process.env.AWS_DEFAULT_REGION) process.env.AWS_REGION ??= process.env.AWS_DEFAULT_REGION;
  const database = createSdkDatabase({ connectMs: CONNECT_MS, requestTimeoutMs: REQUEST_MS });
  const operator = operatorOrigin(task.actor, Date.now());
  if (task.command === 'publish-model') {
    await publish(database, operator, task);
    console.log(`Published ${task.model.name}. It can be called within 30 s.`);
  } else if (task.command === 'register-tokenizer') {
    console.log(toJson(await upload(task.tokenizer, task.stack)));
  } else if (task.command === 'rebuild') {
    return rebuild(database, task);
  } else if (task.command === 'delete-data') {
    await deleteOrganizationData(database, operator, task);
  } else if (task.command === 'limit-organization') {
    const tables = await organizationTables(database, task.stack);
    const { before, after } = await limitByOperator(tables, operator, task.organization, task.limits);
    console.log(`Set the limits of ${task.organization}. They apply to all of its keys.\n${describeLimits(before, after)}`);
  } else if (task.command === 'apply-default-limits') {
    const changed = await applyDefaults(await organizationTables(database, task.stack), operator);
    for (const id of changed) console.log(id);
    console.log(`Changed ${changed.length} organizations.`);
  } else if (task.command === 'grant-credit') {
    const grant = await grantByOperator(await organizationTables(database, task.stack), operator, task.organization, task.grant);
    console.log(describeGrant(grant));
  } else if (task.command === 'balance') {
    const balance = await balanceOf(await creditStores(database, task.stack), task.organization);
    console.log(JSON.stringify(balance, (_, value) => (typeof value === 'bigint' ? dollarsOf(value) : value), 2));
    return balance.drift === 0n;
  } else if (task.command === 'verify-invoice') {
    const verification = await verifyInvoice(await invoiceStores(database, task.stack), task.invoice);
    console.log(describeVerification(verification));
    return verification.differences.length === 0;
  } else if (task.command === 'top') {
    const usage = await physicalName('USAGE_TABLE', 'UsageTable', task.stack);
    const keys = await physicalName('KEYS_TABLE', 'KeysTable', task.stack);
    const accounts = await physicalName('ACCOUNTS_TABLE', 'AccountsTable', task.stack);
    await showTop(createTopStores(database, { usage, keys, accounts }), task);
  } else if (task.command === 'why') {
    process.stdout.write(await explainSubject(database, task));
  } else if (task.command === 'tickets') {
    process.stdout.write(await answerTickets(await deskOf(database, task.stack), operator, task));
  } else if (task.command === 'bootstrap') {
    const tables = await accountTables(database, task.stack);
    const { user, password } = await bootstrap(tables, await identityOf(task.stack), operator, task);
    const next = task.isExempt ? 'Log in with it and choose another.' : 'Log in with it, choose another, and set up a second factor.';
    console.log(`Created the admin ${user.email}. The temporary password is shown only once. ${next}\n${password}`);
  } else {
    const { key_id, secret } = await createOperatorKey(await organizationTables(database, task.stack), operator, task.key);
    console.log(`Created ${key_id}. Its secret is shown only once:\n${secret}`);
  }
  return true;
};

/** Runs a command line. @returns the exit code */
export const admin = async (args: readonly string[]): Promise<number> => {
  if (args.includes('--help')) {
    process.stdout.write(args.length === 1 ? usageOfAll() : usageOf(args));
    return 0;
  }
  using _logs = logToStandardError();
  try {
    return (await run(args)) ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${usageOf(args)}`);
    else console.error(describeFailure(error));
    return 1;
  }
};

if (import.meta.main) process.exitCode = await admin(process.argv.slice(2));
