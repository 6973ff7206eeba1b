import type { SQSBatchResponse } from 'aws-lambda';
import { createLimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createInvokeLater } from '../../shared/aws/invoke-function.ts';
import { createMessageQueue } from '../../shared/aws/message-queue.ts';
import { createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { createActivityStore } from '../../shared/deployments/activity-store.ts';
import { createBenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore, listLiveDeployments } from '../../shared/deployments/deployment-store.ts';
import { createShadowStore } from '../../shared/deployments/shadow-store.ts';
import { createStartTimesStore } from '../../shared/deployments/start-times-store.ts';
import type { DeploymentFindings } from '../../shared/deployments/validation.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createHoldStartCredit } from '../../shared/gpu-time/start-credit.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createModelStore } from '../../shared/models/model-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createRequestRowStore } from '../../shared/observability/request-row-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { createAdapterFiles } from './adapters/adapter-files.ts';
import { createPackingShares } from './adapters/packing-shares.ts';
import { createClients } from './aws/clients.ts';
import { createContainerLog } from './aws/container-log.ts';
import { createSageMaker } from './aws/sagemaker.ts';
import { createScaling } from './aws/scaling.ts';
import { createListTagged, createTaggingCaller } from './aws/tagged-resources.ts';
import { watchSpeed } from './drift/watch-speed.ts';
import { createMeterPass, repeatForCredit } from './gpu-time/gpu-time.ts';
import { type HandlerDependencies, handleEvent, queuedReconciliations } from './handle-event.ts';
import { isInUse } from './idle/in-use.ts';
import { lastEventAt } from './idle/last-event.ts';
import { type ReconcileDependencies, reconcile } from './reconcile/reconcile.ts';
import { createReconciliations } from './reconciliations.ts';
import { resumeBenchmark } from './resume-benchmark.ts';
import { instancesUsed } from './validate/instances-used.ts';
import { validate } from './validate/validate.ts';

const now = Date.now;
const database = createSdkDatabase();
const table = environmentVariable('DEPLOYMENTS_TABLE');
const keysTable = environmentVariable('KEYS_TABLE');
const rows = createRecordTable(database, table);
const deployments = createDeploymentStore(rows);
const activity = createActivityStore(database, table);
const startTimes = createStartTimesStore(database, rows);
const catalogue = createCatalogueStore(rows);
const limiters = createLimiterStore(database, keysTable);
const usage = createUsageStore(database, environmentVariable('USAGE_TABLE'));
const { sageMaker, autoScaling, logs, s3, s3Files, serviceQuotas } = createClients();
const reconciliations = createReconciliations(createMessageQueue(environmentVariable('RECONCILIATIONS_QUEUE')));

const billingTasks = createBillingTasks(createMessageQueue(environmentVariable('BILLING_QUEUE')));

const benchmarks = createBenchmarkStore(rows);
const invokeLater = createInvokeLater();
const benchmarkFunction = environmentVariable('BENCHMARK_FUNCTION');
const startBenchmark = (id: string): Promise<void> => invokeLater(benchmarkFunction, { benchmark: id });

const weightsBucket = environmentVariable('WEIGHTS_BUCKET');
const installation = {
  name: environmentVariable('INSTALLATION'),
  endpointTag: environmentVariable('ENDPOINT_TAG'),
  executionRoleArn: environmentVariable('EXECUTION_ROLE_ARN'),
  hubExecutionRoleArn: process.env.HUB_EXECUTION_ROLE_ARN,
  detailedMetrics: process.env.DETAILED_METRICS === 'true',
  weightsBucket,
};

const dependencies: Omit<ReconcileDependencies, 'aws'> & { aws: Omit<ReconcileDependencies['aws'], 'hasTime'> } = {
  database,
  deployments,
  models: createModelStore(database, environmentVariable('MODELS_TABLE')),
  audit: createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE'))),
  outbox: createOutbox(createRecordTable(database, environmentVariable('NOTIFICATIONS_TABLE'))),
  aws: {
    sageMaker: createSageMaker(sageMaker),
    scaling: createScaling(autoScaling),
    log: createContainerLog(logs),
    listTagged: createListTagged(createTaggingCaller()),
    files: createAdapterFiles(s3Files, weightsBucket),
    installation,
  },
  adapterPrices: async () => (await catalogue.adapterPrices()).prices,
  meterPass: createMeterPass({
    database,
    usageTable: environmentVariable('USAGE_TABLE'),
    keysTable,
    pricesOf: catalogue.prices,
  }),
  repeatForCredit,
  lastEventAt: (deployment) => lastEventAt(activity, deployment),
  usageLagMs: Number(environmentVariable('USAGE_LAG_SECONDS')) * 1_000,
  isInUse: (deployment) => isInUse({ limiters, usage, now }, deployment),
  isSuspended: async (organization) => (await limiters.get(organization))?.status === 'suspended',
  shadows: createShadowStore(database, table),
  packingShares: createPackingShares(rows, { now, random: Math.random }),
  holdStartCredit: createHoldStartCredit(database, keysTable, catalogue),
  startSecondsOf: startTimes.secondsOf,
  recordStart: (instanceType, { seconds }) => startTimes.record(instanceType, seconds),
  reconciliations,
  evaluateAlerts: (organization) => billingTasks.send({ task: 'alert', organization, keys: [] }, now()),
  now,
};

const listLive = () => listLiveDeployments(database, table);
const validationDependencies = { s3, serviceQuotas, instancesUsed: () => instancesUsed(listLive(), deployments.find) };

// A pass stops making calls this long before the function's timeout.
const RESERVE_MS = 10_000;

const watchDependencies = {
  database,
  benchmarks,
  requestRows: createRequestRowStore(database, environmentVariable('OBSERVABILITY_TABLE')),
  outbox: dependencies.outbox,
  now,
};

const handlerDependencies: HandlerDependencies = {
  reconcile: (id, hasTime) => reconcile({ ...dependencies, aws: { ...dependencies.aws, hasTime } }, id),
  attendBenchmark: async (id, { deployment }) => {
    const benchmark = await resumeBenchmark({ benchmarks, invoke: startBenchmark, now }, id);
    if (benchmark && deployment) await watchSpeed(watchDependencies, benchmark, deployment);
  },
  validate: (question) => validate(validationDependencies, question),
  reconciliations,
  listLive,
  stateOf: async (id) => (await deployments.find(id))?.state,
  installation: installation.name,
  now,
};

/** Handles messages of the queue, and the events of `events.ts`. */
export const handler = middy<unknown, DeploymentFindings | SQSBatchResponse | undefined>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .use(queueMessages(queuedReconciliations(handlerDependencies)))
  .handler((event, { hasTime }) => handleEvent(handlerDependencies, event, hasTime));
