import {
  ALERT_TASK_MS,
  KEY_CACHED_SECONDS,
  METRICS_PER_ROUTE,
  PLATFORM_LOG_BYTES,
  RECONCILIATION_MS,
  REQUEST_OVERHEAD_MS,
  REQUESTS_PER_MESSAGE,
  ROLLUP_MS,
  TABLES_OF_A_REQUEST,
} from './assumed.ts';
import { linesAtRest, MONTH_SECONDS } from './at-rest.ts';
import type { Line } from './line.ts';
import {
  FURTHER_EVENT_READS,
  LOG_BYTES,
  PROMPT_TOKEN_BYTES,
  REPLY_BYTES,
  REQUEST_WRITES,
  SEARCH_ROW_WRITES,
  STORED,
  TOTALS,
} from './measured.ts';
import { gigabyteMonths, gigabyteSeconds, gigabytes, type Quantity, quantity } from './quantity.ts';
import type { Resources } from './resources.ts';
import { replyBytes, type Usage } from './usage.ts';

// API Gateway counts a streamed response once for each 10 MB.
const STREAM_UNIT_BYTES = 10n * 2n ** 20n;
// Lambda streams so much of each response without charge.
const FREE_STREAM_BYTES = 6n * 2n ** 20n;
const MONTH_DAYS = 30;
const MINUTE_SECONDS = 60n;

/** The bill of a month: what is billed at rest first, then what requests add. */
export const linesOfMonth = (resources: Resources, usage: Usage): Line[] => [
  ...linesAtRest(resources, usage),
  ...linesOfUsage(resources, usage),
];

/** Returns the lines that a month's usage adds to those at rest, without those of zero. */
export const linesOfUsage = (resources: Resources, usage: Usage): Line[] => {
  const lines = [
    ...gateway(resources, usage),
    ...functions(resources, usage),
    ...database(resources, usage),
    ...messages(usage),
    ...logs(resources, usage),
    ...traces(resources, usage),
    ...encryption(resources, usage),
    ...others(usage),
  ];
  return lines.filter(({ quantity: { amount } }) => amount > 0n);
};

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

// A key's totals are written once a minute, if it has requests in every minute.
const batchesOfKeys = ({ requests, keys }: Usage): bigint => least(requests, (keys * MONTH_SECONDS) / MINUTE_SECONDS);

// One run has the events of all keys.
const rollups = ({ requests }: Usage): bigint => least(requests, MONTH_SECONDS / MINUTE_SECONDS);

// `deployments` reconciles each deployment once a minute.
const reconciliations = ({ deployments }: Usage): bigint => (deployments * MONTH_SECONDS) / MINUTE_SECONDS;

const gateway = ({ firewalls, distributions }: Resources, usage: Usage): Line[] => {
  const { requests } = usage;
  const bytes = replyBytes(usage, REPLY_BYTES);
  const units = (bytes + STREAM_UNIT_BYTES - 1n) / STREAM_UNIT_BYTES;
  const isDistributed = distributions > 0;
  return [
    { item: 'requests', price: 'apiGatewayRequest', quantity: quantity(requests * units) },
    { item: 'requests', price: 'cloudFrontRequest', quantity: quantity(isDistributed ? requests : 0n) },
    { item: 'requests', price: 'firewallRequest', quantity: quantity(firewalls > 0 ? requests : 0n) },
    { item: 'replies', price: isDistributed ? 'cloudFrontOut' : 'dataTransferOut', quantity: gigabytes(requests * bytes) },
  ];
};

const functions = ({ memoryMb }: Resources, usage: Usage): Line[] => {
  const { requests, milliseconds } = usage;
  const run = (name: string, runs: bigint, ms: bigint): Line[] => [
    { item: `\`${name}\``, price: 'lambdaRequest', quantity: quantity(runs) },
    { item: `\`${name}\``, price: 'lambdaGbSecond', quantity: gigabyteSeconds(memoryOf(memoryMb, name), ms) },
  ];
  const batches = rollups(usage);
  const beyond = replyBytes(usage, REPLY_BYTES) - FREE_STREAM_BYTES;
  return [
    ...run('inference', requests, requests * (milliseconds + REQUEST_OVERHEAD_MS)),
    ...run('rollup', batches, batches * ROLLUP_MS.batch + requests * ROLLUP_MS.event),
    ...run('billing', batchesOfKeys(usage), batchesOfKeys(usage) * ALERT_TASK_MS),
    ...run('deployments', reconciliations(usage), reconciliations(usage) * RECONCILIATION_MS),
    { item: '`inference`', price: 'lambdaStreamedGb', quantity: gigabytes(beyond > 0n ? requests * beyond : 0n) },
  ];
};

const memoryOf = (memoryMb: Resources['memoryMb'], name: string): number => {
  const memory = memoryMb[name];
  if (memory === undefined)
    throw new Error(`The templates have no function '${name}'. The model in infra/tools/cost/ must be changed with them.`);
  return memory;
};

const database = ({ recoverableTables }: Resources, usage: Usage): Line[] => {
  const { requests, isPrepaid } = usage;
  const batches = batchesOfKeys(usage);
  const thousandths = (amount: bigint): Quantity => quantity(amount, 1_000);
  const stored = (price: 'dynamoStorage' | 'dynamoRecovery'): Line[] => [
    { item: 'events', price, quantity: gigabyteMonths(requests * BigInt(STORED.event), MONTH_DAYS) },
    { item: 'rows for the search', price, quantity: gigabyteMonths(requests * BigInt(STORED.searchRow), STORED.searchRowDays) },
  ];
  return [
    {
      item: 'admission, event and release',
      price: 'dynamoWrite',
      quantity: thousandths(requests * BigInt(isPrepaid ? REQUEST_WRITES.prepaid : REQUEST_WRITES.plain)),
    },
    { item: 'rows for the search', price: 'dynamoWrite', quantity: thousandths(requests * BigInt(SEARCH_ROW_WRITES)) },
    { item: 'totals', price: 'dynamoWrite', quantity: thousandths(batches * BigInt(TOTALS.writes)) },
    {
      item: 'totals',
      price: 'dynamoRead',
      quantity: thousandths(batches * BigInt(TOTALS.reads) + (requests - batches) * BigInt(FURTHER_EVENT_READS)),
    },
    ...stored('dynamoStorage'),
    ...(recoverableTables > 0 ? stored('dynamoRecovery') : []),
  ];
};

const messages = (usage: Usage): Line[] => [
  { item: 'tasks of `billing`', price: 'sqsFifo', quantity: quantity(batchesOfKeys(usage) * REQUESTS_PER_MESSAGE) },
  { item: 'reconciliations', price: 'sqsStandard', quantity: quantity(reconciliations(usage) * REQUESTS_PER_MESSAGE) },
];

const logs = ({ metrics, measuredRoutes, logRetentionDays }: Resources, usage: Usage): Line[] => {
  const { requests } = usage;
  const aRequest = BigInt(LOG_BYTES.request + LOG_BYTES.access) + PLATFORM_LOG_BYTES;
  const bytes = requests * aRequest + (rollups(usage) + batchesOfKeys(usage) + reconciliations(usage)) * PLATFORM_LOG_BYTES;
  const whenUsed = (count: number) => quantity(requests > 0n ? count : 0);
  return [
    { item: 'log lines', price: 'logIngestion', quantity: gigabytes(bytes) },
    { item: 'log lines', price: 'logStorage', quantity: gigabyteMonths(bytes, logRetentionDays) },
    { item: 'metrics of log lines', price: 'customMetric', quantity: whenUsed(metrics.ofRequests) },
    { item: 'metrics of routes', price: 'customMetric', quantity: whenUsed(measuredRoutes * METRICS_PER_ROUTE) },
  ];
};

const traces = ({ tracedThousandths }: Resources, usage: Usage): Line[] => {
  const invocations = usage.requests + rollups(usage) + batchesOfKeys(usage) + reconciliations(usage);
  return [{ item: 'traces', price: 'trace', quantity: quantity(invocations * BigInt(tracedThousandths), 1_000) }];
};

const encryption = ({ keys }: Resources, { requests }: Usage): Line[] => {
  const calls = least(requests, MONTH_SECONDS / KEY_CACHED_SECONDS) * TABLES_OF_A_REQUEST;
  return [{ item: 'keys of tables', price: 'kmsRequest', quantity: quantity(keys > 0 ? calls : 0n) }];
};

const others = (usage: Usage): Line[] => {
  const { requests, promptTokens, users, hasPayloadLog, instanceHours } = usage;
  const payloads = hasPayloadLog ? requests : 0n;
  const payloadBytes = promptTokens * BigInt(PROMPT_TOKEN_BYTES) + replyBytes({ ...usage, isStreamed: false }, REPLY_BYTES);
  return [
    { item: 'payload log', price: 's3Put', quantity: quantity(payloads) },
    { item: 'payload log', price: 's3Storage', quantity: gigabyteMonths(payloads * payloadBytes, MONTH_DAYS) },
    { item: 'users', price: 'cognitoUser', quantity: quantity(users) },
    { item: 'instances', price: 'sagemakerHour', quantity: quantity(instanceHours) },
  ];
};
