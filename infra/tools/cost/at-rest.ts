import { PLATFORM_LOG_BYTES, POLLS, SCHEDULED_LOG_BYTES, SCHEDULED_RUN_MS } from './assumed.ts';
import type { Line } from './line.ts';
import { scheduledRunOf } from './measured.ts';
import { gigabyteMonths, gigabyteSeconds, gigabytes, quantity } from './quantity.ts';
import type { Resources } from './resources.ts';
import type { Usage } from './usage.ts';

/** A month, as AWS's price examples count it. */
export const MONTH_HOURS = 730;
export const MONTH_SECONDS = BigInt(MONTH_HOURS) * 3_600n;

/** A line that is billed in a month without any request, and how to bring it to zero. */
export interface LineAtRest extends Line {
  toZero: string;
}

const SERVICE = 'delete the stacks';
const TABLES = 'delete the tables, which outlive their stack';
const OPERATIONS = 'delete the stack `sluice-operations`, which no other one needs';

/** Returns the lines of a month in which nobody uses the deployment, without those of zero. */
export const linesAtRest = (resources: Resources, { storedGb }: Pick<Usage, 'storedGb'>): LineAtRest[] =>
  [
    ...monitoring(resources),
    ...options(resources),
    ...storage(resources, storedGb),
    ...scheduledRuns(resources),
    ...polling(resources),
  ].filter(({ quantity: { amount } }) => amount > 0n);

/** Returns what is billed once, when the deployment gets it, without lines of zero. */
export const linesOnce = ({ warmUnits }: Resources): Line[] => {
  const lines: Line[] = [
    { item: 'warm throughput', price: 'dynamoWarmWrite', quantity: quantity(warmUnits.writes) },
    { item: 'warm throughput', price: 'dynamoWarmRead', quantity: quantity(warmUnits.reads) },
  ];
  return lines.filter(({ quantity: { amount } }) => amount > 0n);
};

const monitoring = ({ alarmMetrics, dashboards, metrics }: Resources): LineAtRest[] => [
  { item: 'metrics of alarms', price: 'alarmMetric', quantity: quantity(alarmMetrics.ofOperations), toZero: OPERATIONS },
  { item: 'metrics of alarms of releases', price: 'alarmMetric', quantity: quantity(alarmMetrics.ofReleases), toZero: '`canary: false`' },
  { item: 'dashboards', price: 'dashboard', quantity: quantity(dashboards), toZero: OPERATIONS },
  { item: 'metrics of log lines', price: 'customMetric', quantity: quantity(metrics.atRest), toZero: OPERATIONS },
];

const options = ({ keys, firewalls, firewallRules, secrets, provisioned }: Resources): LineAtRest[] => [
  { item: 'key of your own', price: 'kmsKey', quantity: quantity(keys), toZero: '`customerManagedKey: false`, then delete the key' },
  { item: 'firewalls', price: 'firewallList', quantity: quantity(firewalls), toZero: 'no `firewall`' },
  { item: 'rules of firewalls', price: 'firewallRule', quantity: quantity(firewallRules), toZero: 'no `firewall`' },
  { item: 'secrets', price: 'secret', quantity: quantity(secrets), toZero: 'no `cloudFront` in `hosts`' },
  ...provisioned.map(
    ({ memoryMb, executions }): LineAtRest => ({
      item: 'provisioned concurrency',
      price: 'lambdaProvisionedGbSecond',
      quantity: gigabyteSeconds(memoryMb, BigInt(executions) * MONTH_SECONDS * 1_000n),
      toZero: 'no `provisionedConcurrency`',
    }),
  ),
];

const storage = ({ recoverableTables }: Resources, storedGb: bigint): LineAtRest[] => [
  { item: 'stored data', price: 'dynamoStorage', quantity: quantity(storedGb), toZero: TABLES },
  {
    item: 'recovery of stored data',
    price: 'dynamoRecovery',
    quantity: quantity(recoverableTables > 0 ? storedGb : 0n),
    toZero: TABLES,
  },
];

const scheduledRuns = ({ schedules, tracedThousandths, logRetentionDays }: Resources): LineAtRest[] =>
  schedules.flatMap(({ function: name, memoryMb, seconds }): LineAtRest[] => {
    const { reads, writes } = scheduledRunOf(name);
    const runs = MONTH_SECONDS / BigInt(seconds);
    const logged = runs * (PLATFORM_LOG_BYTES + SCHEDULED_LOG_BYTES);
    const line = (price: Line['price'], amount: Line['quantity']): LineAtRest => ({
      item: `schedule of \`${name}\``,
      price,
      quantity: amount,
      toZero: SERVICE,
    });
    return [
      line('lambdaRequest', quantity(runs)),
      line('lambdaGbSecond', gigabyteSeconds(memoryMb, runs * SCHEDULED_RUN_MS)),
      line('dynamoRead', quantity(runs * BigInt(reads), 1_000)),
      line('dynamoWrite', quantity(runs * BigInt(writes), 1_000)),
      line('logIngestion', gigabytes(logged)),
      line('logStorage', gigabyteMonths(logged, logRetentionDays)),
      line('trace', quantity(runs * BigInt(tracedThousandths), 1_000)),
    ];
  });

const polling = ({ polledQueues }: Resources): LineAtRest[] => {
  const polls = (queues: number) => quantity((BigInt(queues) * POLLS.parallel * MONTH_SECONDS) / POLLS.seconds);
  return [
    { item: "Lambda's polling of standard queues", price: 'sqsStandard', quantity: polls(polledQueues.standard), toZero: SERVICE },
    { item: "Lambda's polling of FIFO queues", price: 'sqsFifo', quantity: polls(polledQueues.fifo), toZero: SERVICE },
  ];
};
