import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

/** Lambda's maximum: a month of a large organization, or many events to rate again. */
export const BILLING_TIMEOUT = Duration.minutes(15);
const RETRY_AFTER = BILLING_TIMEOUT.plus(Duration.minutes(1));
/** About five hours of retries, longer than most outages. Then an alarm tells an operator. */
const MAX_DELIVERIES = 20;
const KEEP = Duration.days(14);
/** Each task gets the whole time of an invocation. */
const BATCH_SIZE = 1;
/** Of deliveries, so that they leave room for the hourly schedule. */
const CONCURRENCY = 8;

/** The tasks of the function `billing`. The queue is FIFO with a group for each kind of task and organization, so that a month is closed once at a time. */
export class BillingTasks extends WorkQueue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      variable: 'BILLING_QUEUE',
      fifo: true,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
    });
  }
}
