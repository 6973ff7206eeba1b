// Assumptions of the model: values that can be measured only on AWS.

/** The billed duration of a scheduled run that finds nothing to do, with its share of cold starts. */
export const SCHEDULED_RUN_MS = 300n;

/** Billed time of a request's function besides the seconds of its answer. */
export const REQUEST_OVERHEAD_MS = 50n;

/** `rollup`: of each batch, and of each event in it. */
export const ROLLUP_MS = { batch: 500n, event: 1n } as const;

/** `billing`, when it compares an organization's usage with the thresholds of its alerts. */
export const ALERT_TASK_MS = 200n;

/** `deployments`, when it compares a deployment with what SageMaker has, once a minute. */
export const RECONCILIATION_MS = 1_000n;

/** A message is sent, received and deleted. */
export const REQUESTS_PER_MESSAGE = 3n;

/** Lambda waits for messages with five long polls of 20 seconds at a time. */
export const POLLS = { parallel: 5n, seconds: 20n } as const;

/** Bytes of what Lambda itself logs for an invocation: its start and its report. */
export const PLATFORM_LOG_BYTES = 800n;

/** Bytes of the lines of a scheduled run. */
export const SCHEDULED_LOG_BYTES = 350n;

/** DynamoDB asks KMS again for the key of a table that is in use every five minutes. */
export const KEY_CACHED_SECONDS = 300n;

/** The tables that a request uses: keys, usage and observability. */
export const TABLES_OF_A_REQUEST = 3n;

/** API Gateway's metrics of each route, with `detailedMetrics`. */
export const METRICS_PER_ROUTE = 5;
