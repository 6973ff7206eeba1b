import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { interpret } from '../../assembly/interpret.ts';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { type LocatedResource, readProperties } from '../../assembly/located-resource.ts';
import type { Stack } from '../../assembly/read-assembly.ts';
import { createResolver } from '../../assembly/resolve.ts';
import { THROUGHPUT_OF_NEW_TABLE } from '../../config/warm-throughput.ts';
import { REQUEST_LINE, SCHEDULED_RUNS } from './measured.ts';
import { metricsOfLines } from './metrics-of-lines.ts';

/** The billed resources of a deployment, counted in its templates. */
export interface Resources {
  /** The metrics of alarms, also of those that can stop a release. An alarm on a formula has several. */
  alarmMetrics: { ofOperations: number; ofReleases: number };
  /** Each has more than 50 metrics, and so no allowance. */
  dashboards: number;
  /**
   * Metrics of log lines that have values without any request, and those that requests to the serverless host give
   * values.
   */
  metrics: { atRest: number; ofRequests: number };
  /** Routes for which API Gateway reports metrics. */
  measuredRoutes: number;
  schedules: readonly { function: string; memoryMb: number; seconds: number }[];
  /** Queues whose messages Lambda delivers. */
  polledQueues: { standard: number; fifo: number };
  /** Tables that can be recovered to any second. */
  recoverableTables: number;
  /** Units a second that tables serve from the start, beyond what new ones do. */
  warmUnits: { writes: number; reads: number };
  keys: number;
  firewalls: number;
  firewallRules: number;
  distributions: number;
  secrets: number;
  /** Environments that Lambda keeps started. */
  provisioned: readonly { memoryMb: number; executions: number }[];
  /** The memory of each function. */
  memoryMb: Readonly<Record<string, number>>;
  /** Thousandths of all invocations that are traced. */
  tracedThousandths: number;
  logRetentionDays: number;
}

const AlarmProperties = z.object({
  MetricName: z.string().optional(),
  Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).default([]),
});
const TableProperties = z.object({
  Replicas: z.array(z.object({ PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }).optional() })),
});
const WarmProperties = z.object({
  WarmThroughput: z.object({ ReadUnitsPerSecond: z.int(), WriteUnitsPerSecond: z.int() }).optional(),
});
const StageProperties = z.object({
  RestApiId: z.string(),
  MethodSettings: z.array(z.object({ MetricsEnabled: z.boolean().default(false) })),
});
const ListProperties = z.object({ Rules: z.array(z.unknown()).default([]) });
const AliasProperties = z.object({
  FunctionName: z.string(),
  ProvisionedConcurrencyConfig: z.object({ ProvisionedConcurrentExecutions: z.int() }).optional(),
});
const SamplingProperties = z.object({ SamplingRule: z.object({ FixedRate: z.number(), ReservoirSize: z.literal(0) }) });
const LogGroupProperties = z.object({ RetentionInDays: z.int() });

/**
 * Counts what of an app is billed.
 * @throws Error naming a resource that is missing, or whose properties are not supported
 */
export const readResources = (stacks: readonly Stack[]): Resources => {
  const resolve = createResolver(stacks);
  const located = stacks.flatMap((stack) => [...stack.resources].map(([logicalId, resource]) => ({ stack, logicalId, resource, resolve })));
  const all = (type: string): LocatedResource[] => located.filter(({ resource }) => resource.type === type);
  const { functions, schedules, queueSources } = interpret(stacks);
  const functionOf = (arn: string) => functions.find((fn) => fn.arn === arn || fn.name === arn) as LambdaFunction;
  const count = (type: string): number => all(type).length;
  const filters = all('AWS::Logs::MetricFilter');
  return {
    alarmMetrics: countAlarmMetrics(all('AWS::CloudWatch::Alarm'), all('AWS::CodeDeploy::DeploymentGroup')),
    dashboards: count('AWS::CloudWatch::Dashboard'),
    metrics: {
      atRest: metricsOfLines(filters, functions, (name) => SCHEDULED_RUNS[name]?.lines ?? []).size,
      ofRequests: metricsOfLines(filters, functions, (name) => (name === 'inference' ? [REQUEST_LINE] : [])).size,
    },
    measuredRoutes: sumOf(all('AWS::ApiGateway::Stage').map((at) => routesMeasuredBy(at, all('AWS::ApiGateway::Method')))),
    schedules: schedules.map(({ functionArn, periodMs }) => {
      const { shortName, memoryMiB } = functionOf(functionArn);
      return { function: shortName, memoryMb: memoryMiB, seconds: periodMs / SECOND_MS };
    }),
    polledQueues: {
      standard: queueSources.filter(({ isFifo }) => !isFifo).length,
      fifo: queueSources.filter(({ isFifo }) => isFifo).length,
    },
    recoverableTables: all('AWS::DynamoDB::GlobalTable').filter(isRecoverable).length,
    warmUnits: warmUnitsOf(all('AWS::DynamoDB::GlobalTable')),
    keys: count('AWS::KMS::Key'),
    firewalls: count('AWS::WAFv2::WebACL'),
    firewallRules: sumOf(all('AWS::WAFv2::WebACL').map((at) => readProperties(at, ListProperties).Rules.length)),
    distributions: count('AWS::CloudFront::Distribution'),
    secrets: count('AWS::SecretsManager::Secret'),
    provisioned: all('AWS::Lambda::Alias').flatMap((at) => {
      const { FunctionName, ProvisionedConcurrencyConfig: config } = readProperties(at, AliasProperties);
      return config ? [{ memoryMb: functionOf(FunctionName).memoryMiB, executions: config.ProvisionedConcurrentExecutions }] : [];
    }),
    memoryMb: Object.fromEntries(functions.map(({ shortName, memoryMiB }) => [shortName, memoryMiB])),
    tracedThousandths: tracedThousandths(all('AWS::XRay::SamplingRule')),
    logRetentionDays: Math.max(...all('AWS::Logs::LogGroup').map((at) => readProperties(at, LogGroupProperties).RetentionInDays)),
  };
};

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

const tracedThousandths = ([rule]: readonly LocatedResource[]): number => {
  if (!rule) throw new Error('The templates have no sampling rule of X-Ray, which says how many invocations are traced.');
  return Math.round(readProperties(rule, SamplingProperties).SamplingRule.FixedRate * 1_000);
};

const metricsOfAlarm = (at: LocatedResource): number => {
  const { MetricName, Metrics } = readProperties(at, AlarmProperties);
  return MetricName === undefined ? Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length : 1;
};

// The alarms that can stop a release are in the stack of its host.
const countAlarmMetrics = (alarms: readonly LocatedResource[], releases: readonly LocatedResource[]): Resources['alarmMetrics'] => {
  const isOfRelease = ({ stack }: LocatedResource): boolean => releases.some((release) => release.stack === stack);
  return {
    ofOperations: sumOf(alarms.filter((at) => !isOfRelease(at)).map(metricsOfAlarm)),
    ofReleases: sumOf(alarms.filter(isOfRelease).map(metricsOfAlarm)),
  };
};

const isRecoverable = (at: LocatedResource): boolean =>
  readProperties(at, TableProperties).Replicas.some(
    ({ PointInTimeRecoverySpecification: recovery }) => recovery?.PointInTimeRecoveryEnabled,
  );

const warmUnitsOf = (tables: readonly LocatedResource[]): Resources['warmUnits'] => {
  const warm = tables.flatMap((at) => readProperties(at, WarmProperties).WarmThroughput ?? []);
  return {
    writes: sumOf(warm.map(({ WriteUnitsPerSecond }) => WriteUnitsPerSecond - THROUGHPUT_OF_NEW_TABLE.writes)),
    reads: sumOf(warm.map(({ ReadUnitsPerSecond }) => ReadUnitsPerSecond - THROUGHPUT_OF_NEW_TABLE.reads)),
  };
};

const routesMeasuredBy = (stage: LocatedResource, methods: readonly LocatedResource[]): number => {
  const { MethodSettings } = readProperties(stage, StageProperties);
  return MethodSettings.some(({ MetricsEnabled }) => MetricsEnabled) ? methods.filter(({ stack }) => stack === stage.stack).length : 0;
};
