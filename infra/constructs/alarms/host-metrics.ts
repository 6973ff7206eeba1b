import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type JsonPattern } from 'aws-cdk-lib/aws-logs';
import { STEPS } from '../../../shared/usage/phases.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import { type Alarms, logMessage } from './alarms.ts';

/** Metrics of a host's requests, from the log lines of its function `inference`. */
export interface HostMetrics {
  /** Admitted requests that were answered without an error. */
  answered: Metric;
  /** Requests that failed although they were valid, within their limits and for a model that was in service. */
  failed: Metric;
  /**
   * Milliseconds from the arrival of a request to its first token, of requests that didn't wait for a deployment to
   * wake.
   */
  firstTokenMs: Metric;
  /** How many of these were later than promised. */
  firstTokenLate: Metric;
  costNanos: Metric;
  promptTokens: Metric;
  /** The prompt tokens that runtimes had cached from earlier requests. */
  cachedTokens: Metric;
  completionTokens: Metric;
  /**
   * Calls of DynamoDB that an admission needed. More than one: the environment did not know the key yet, or other
   * requests use the same limiter.
   */
  admissionRoundTrips: Metric;
  /** Requests that were rejected because of the caller's limits. */
  limited: Metric;
}

interface HostMetricsProps {
  inference: NodeFunction;
  /** The codes of 5XX errors that are no failure of the host. */
  excused: readonly string[];
  /** A first token later than this is late. */
  firstTokenMs: number;
}

const { all, any, notExists, numberValue, stringValue } = FilterPattern;

const isAnswered = all(logMessage('request'), notExists('$.error_code'));

// Errors before an answer have a line `refused`, and those in a stream a line `stream_broken`.
const isFailed = (excused: readonly string[]): JsonPattern =>
  all(
    any(logMessage('refused'), logMessage('stream_broken')),
    numberValue('$.status', '>=', 500),
    ...excused.map((code) => stringValue('$.code', '!=', code)),
  );

// A request that waited for a deployment past the promised time says nothing about the host's speed; only requests that
// asked for it wait.
const isTimed = (firstTokenMs: number): JsonPattern =>
  all(
    logMessage('request'),
    numberValue('$.time_to_first_token_ms', '>=', 0),
    any(notExists('$.may_wait'), numberValue(`$.step_ends_ms[${STEPS.indexOf('invoked')}]`, '<=', firstTokenMs)),
  );

// Spent money is a 402 on the routes of the Messages API.
const isLimited = any(numberValue('$.status', '=', 429), numberValue('$.status', '=', 402));

/**
 * Adds metrics of a host's requests. They have no dimensions: a key or an organization as a dimension would be a
 * metric of its own, with its own price.
 * @param prefix the first part of the metrics' names
 */
export const addHostMetrics = (alarms: Alarms, prefix: string, { inference, excused, firstTokenMs }: HostMetricsProps): HostMetrics => {
  const value = (name: string, field: string, pattern: JsonPattern = logMessage('request')): Metric =>
    alarms.value(`${prefix}${name}`, pattern, field, inference);
  const late = all(isTimed(firstTokenMs), numberValue('$.time_to_first_token_ms', '>', firstTokenMs));
  return {
    answered: alarms.countOrZero(`${prefix}RequestsAnswered`, isAnswered, inference),
    failed: alarms.countOrZero(`${prefix}RequestsFailed`, isFailed(excused), inference),
    firstTokenMs: value('FirstTokenMs', '$.time_to_first_token_ms', isTimed(firstTokenMs)),
    firstTokenLate: alarms.countOrZero(`${prefix}FirstTokenLate`, late, inference),
    costNanos: value('CostNanos', '$.cost_nanos'),
    promptTokens: value('PromptTokens', '$.prompt_tokens').with({ statistic: 'sum' }),
    cachedTokens: value('CachedTokens', '$.cached_tokens').with({ statistic: 'sum' }),
    completionTokens: value('CompletionTokens', '$.completion_tokens').with({ statistic: 'sum' }),
    admissionRoundTrips: value('AdmissionRoundTrips', '$.admission_round_trips'),
    limited: alarms.countOrZero(`${prefix}RequestsLimited`, all(logMessage('refused'), isLimited), inference),
  };
};
