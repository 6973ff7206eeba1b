import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

// At least the function's timeout. A receiver that fails is no failed message: the function sends another message with
// a delay.
const RETRY_AFTER = Duration.minutes(6);
// Retries go on for about a day, longer than outages of a database.
const MAX_DELIVERIES = 300;
const KEEP = Duration.days(4);
// Each receiver gets the whole time of an invocation, so a slow one delays no other.
const BATCH_SIZE = 1;

/**
 * The attempts to deliver notifications to webhooks. The queue is a standard one, because only these have a delay for
 * each message.
 */
export class Deliveries extends WorkQueue {
  /** Few enough deliveries at the same time to leave room for the stream of notifications. */
  static readonly CONCURRENCY = 8;

  constructor(scope: Construct, id: string) {
    super(scope, id, {
      variable: 'DELIVERIES_QUEUE',
      fifo: false,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: Deliveries.CONCURRENCY,
    });
  }
}
