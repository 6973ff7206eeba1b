import { Duration } from 'aws-cdk-lib';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Telemetry } from '../queues/telemetry.ts';
import { type Alarms, ageOfStream, logMessage, PERIOD, visibleMessages } from './alarms.ts';

// The age of the oldest event that is in no queue. Batches wait for ten seconds.
const LATE = Duration.minutes(15);
// Twenty attempts, one every six minutes, failed. A day later, the messages go to the dead-letter queue.
const UNDELIVERED = Duration.hours(2);

const highest = (metrics: readonly Metric[]): MathExpression => {
  const named = metrics.map((metric, i) => [`m${i + 1}`, metric] as const);
  const expression = `MAX([${named.map(([id]) => `FILL(${id}, 0)`).join(', ')}])`;
  return new MathExpression({ expression, usingMetrics: Object.fromEntries(named), period: PERIOD });
};

/** Adds the alarms of telemetry, of which only deployments that send any have some. */
export const addTelemetryAlarms = (alarms: Alarms, { function: fn, queues, failures }: Telemetry): void => {
  const ages = queues.map((queue) => queue.metricApproximateAgeOfOldestMessage({ statistic: 'max', period: PERIOD }));
  alarms.above('TelemetryLate', ageOfStream(fn), LATE.toMilliseconds());
  alarms.above('TelemetryUndelivered', highest(ages), UNDELIVERED.toSeconds());
  alarms.above('TelemetryFailed', highest(failures.map(visibleMessages)), 0);
  alarms.above('TelemetryRejected', alarms.count('TelemetryRejection', logMessage('telemetry_rejected'), fn), 0);
};
