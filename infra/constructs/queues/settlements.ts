import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

// At least the function's timeout.
const RETRY_AFTER = Duration.minutes(5);
// Retries go on for about a day, longer than outages of a database. Then an alarm tells an operator.
const MAX_DELIVERIES = 300;
const KEEP = Duration.days(14);
const BATCH_SIZE = 10;
// AWS's minimum, which leaves environments for the sweep.
const CONCURRENCY = 2;

/**
 * The settlements that functions could not make because of the database, and those of crashed functions. The queue is
 * FIFO with a group for each request: an `orphaned` event, which the sweep sends, comes after what the request's
 * function had sent before.
 */
export class Settlements extends WorkQueue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      variable: 'SETTLEMENTS_QUEUE',
      fifo: true,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
    });
  }
}
