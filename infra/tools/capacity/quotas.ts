import { eventShardsOf } from '../../../shared/admission/item/shards.ts';
import { MAX_PARTITIONS } from '../../../shared/observability/request-partitions.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { readConfig } from '../../config/config.ts';
import { organizationConcurrencyOf } from '../../config/shares.ts';
import { REQUEST_OVERHEAD_MS, ROLLUP_MS } from '../cost/assumed.ts';
import { EVENT_WRITES, REQUEST_WRITES, SEARCH_ROW_WRITES } from '../cost/measured.ts';
import type { Resources } from '../cost/resources.ts';
import { SCENARIOS, type Usage } from '../cost/usage.ts';
import { type Alignment, toTable } from '../table.ts';
import { AWS_LIMITS, type AwsLimit } from './aws-limits.ts';

// A quota that requests of the serverless host use up.
interface Quota {
  name: string;
  limit: AwsLimit | { value: number; status: 'setting' };
  /** The things that the limit counts. */
  unit: string;
  /** How much of it each request a second takes. */
  uses: (usage: Usage) => number;
  raise: string;
}

const THOUSANDTHS = 1_000;
// Each request is written twice: admitted and released.
const LIMITER_WRITES = 2;
const RATE = 10_000;
const MANY_SHARDS = Number.MAX_SAFE_INTEGER;

const settingOf = (value: number): Quota['limit'] => ({ value, status: 'setting' });
const times = (limit: AwsLimit, factor: number): AwsLimit => ({ ...limit, value: limit.value * factor });

const once = (): number => 1;
const environments = ({ milliseconds }: Usage): number => Number(milliseconds + REQUEST_OVERHEAD_MS) / SECOND_MS;
const eventWrites = (): number => EVENT_WRITES / THOUSANDTHS;
const limiterWrites = ({ isPrepaid }: Usage): number => (REQUEST_WRITES[isPrepaid ? 'prepaid' : 'plain'] - EVENT_WRITES) / THOUSANDTHS;

const WARM =
  'Set [`warmThroughput`](options.md#prepare-the-tables-for-a-launch) before a launch, or grow slowly: AWS doubles it in half an hour';
const SERVICE_QUOTAS = 'In Service Quotas';

const quotasOf = ({ tracedThousandths }: Pick<Resources, 'tracedThousandths'>): Quota[] => {
  const config = readConfig({ reservedConcurrency: {} });
  const { hosts, reservedConcurrency } = config;
  return [
    {
      name: 'requests of an organization in flight',
      limit: settingOf(organizationConcurrencyOf(config)),
      unit: 'requests',
      uses: environments,
      raise:
        'Raise the limit of the organization, as an admin; [`organizationConcurrency`](settings.md#organizationconcurrency) is the default',
    },
    {
      name: 'environments of `inference`',
      limit: settingOf(reservedConcurrency?.inference ?? 0),
      unit: 'environments',
      uses: environments,
      raise: 'Set [`reservedConcurrency`](options.md#reserve-concurrency), within the quota of the account',
    },
    {
      name: 'environments of all functions of the account',
      limit: AWS_LIMITS.lambdaEnvironments,
      unit: 'environments',
      uses: environments,
      raise: `${SERVICE_QUOTAS}: Lambda, concurrent executions. A new account has 10`,
    },
    {
      name: 'requests a second of all functions',
      limit: times(AWS_LIMITS.lambdaRequestsPerEnvironment, AWS_LIMITS.lambdaEnvironments.value),
      unit: 'requests a second',
      uses: once,
      raise: 'It is ten times the concurrent executions, and increases with them',
    },
    {
      name: 'environments that a function gets within ten seconds',
      limit: AWS_LIMITS.lambdaEnvironmentsInTenSeconds,
      unit: 'environments',
      uses: environments,
      raise: "It can't be raised. Keep environments started: [`provisionedConcurrency`](settings.md#provisionedconcurrency)",
    },
    {
      name: 'throttle of the serverless host',
      limit: settingOf(hosts.serverless.requestsPerSecond),
      unit: 'requests a second',
      uses: once,
      raise: 'Set [`hosts.serverless.requestsPerSecond`](options.md#limit-each-host) and `burst`',
    },
    {
      name: 'requests a second of all APIs of the account',
      limit: AWS_LIMITS.gatewayRequests,
      unit: 'requests a second',
      uses: once,
      raise: `${SERVICE_QUOTAS}: API Gateway, throttle rate and burst rate`,
    },
    {
      name: 'one limiter item',
      limit: AWS_LIMITS.partitionWrites,
      unit: 'write units a second',
      uses: () => LIMITER_WRITES,
      raise:
        'Create the key with limits above 400 requests a second or 12 in flight: then it has several items. Organizations get them under load',
    },
    {
      name: 'new table `keys`',
      limit: AWS_LIMITS.newTableWrites,
      unit: 'write units a second',
      uses: limiterWrites,
      raise: WARM,
    },
    { name: 'new table `usage`', limit: AWS_LIMITS.newTableWrites, unit: 'write units a second', uses: eventWrites, raise: WARM },
    {
      name: 'new table `observability`',
      limit: AWS_LIMITS.newTableWrites,
      unit: 'write units a second',
      uses: () => SEARCH_ROW_WRITES / THOUSANDTHS,
      raise: 'Nothing to do: rows of the search are written after the reply, only later',
    },
    {
      name: 'any table of a new account',
      limit: AWS_LIMITS.tableWrites,
      unit: 'write units a second',
      uses: limiterWrites,
      raise: `${SERVICE_QUOTAS}: DynamoDB, table-level write throughput`,
    },
    {
      name: 'usage events of one key',
      limit: times(AWS_LIMITS.partitionWrites, eventShardsOf(MANY_SHARDS)),
      unit: 'write units a second',
      uses: eventWrites,
      raise: 'Use several keys. Above about 5,000 a second, its parts are spread unevenly: see below',
    },
    {
      name: "rows of one organization's search",
      limit: times(AWS_LIMITS.partitionWrites, MAX_PARTITIONS),
      unit: 'write units a second',
      uses: () => SEARCH_ROW_WRITES / THOUSANDTHS,
      raise: "It can't be raised. Rows are written later, and the search lacks them until then",
    },
    {
      name: 'totals: one reader of each partition of a new `usage`',
      limit: { ...times(AWS_LIMITS.newTableWrites, SECOND_MS / AWS_LIMITS.partitionWrites.value), status: 'assumed' },
      unit: 'ms of `rollup` a second',
      uses: () => Number(ROLLUP_MS.event),
      raise: 'It grows with the table. Until then, totals are late; bills are made from events, and are complete',
    },
    {
      name: 'traces',
      limit: AWS_LIMITS.tracedSegments,
      unit: 'segments a second',
      uses: () => tracedThousandths / THOUSANDTHS,
      raise: `${SERVICE_QUOTAS}: X-Ray, segments per second. Traces above it are lost, requests are not`,
    },
    {
      name: 'one copy of a model',
      limit: AWS_LIMITS.sequencesOfCopy,
      unit: 'sequences at the same time',
      uses: ({ milliseconds }) => Number(milliseconds) / SECOND_MS,
      raise: 'Run more copies or larger GPUs; [economics.md](economics.md) measures a model. SageMaker publishes no quota of invocations',
    },
    {
      name: 'payload log, if a key has it',
      limit: AWS_LIMITS.objectPuts,
      unit: 'objects a second',
      uses: once,
      raise: 'S3 raises it by itself as the load goes on. Payloads wait in a queue until then',
    },
  ];
};

const shown = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

const statusOf = ({ limit }: Quota): string => ('source' in limit ? `[${limit.status}](${limit.source})` : 'setting');

const HEAD = [
  'Quota',
  'Default',
  'Short chats a second',
  'Long streams a second',
  `For ${shown(RATE)} short chats a second`,
  'To raise it',
  'Known',
];
const ALIGNMENTS: readonly Alignment[] = ['left', 'left', 'right', 'right', 'right', 'left', 'left'];

/**
 * A table of the quotas that requests use: the requests a second at which each is reached, the first one first.
 * @param resources of the default settings
 */
export const quotasTable = (resources: Pick<Resources, 'tracedThousandths'>): string => {
  const { 'short chats': chats, 'long streams': streams } = SCENARIOS;
  const metBy = ({ limit, uses }: Quota, usage: Usage): number => limit.value / uses(usage);
  const rows = quotasOf(resources)
    .toSorted((one, other) => metBy(one, chats) - metBy(other, chats))
    .map((quota) => [
      quota.name,
      `${shown(quota.limit.value)} ${quota.unit}`,
      shown(metBy(quota, chats)),
      shown(metBy(quota, streams)),
      shown(RATE * quota.uses(chats)),
      quota.raise,
      statusOf(quota),
    ]);
  return toTable([HEAD, ...rows], ALIGNMENTS);
};
