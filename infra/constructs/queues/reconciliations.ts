import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

// A deployment in transition is reconciled after this time.
const NEXT_PASS_DELAY = Duration.seconds(15);
// At least the function's timeout.
const RETRY_AFTER = Duration.seconds(90);
const MAX_DELIVERIES = 5;
// Every minute brings a new message for each deployment, so an old one is of no use.
const KEEP = Duration.hours(1);
// Each deployment gets the whole time of an invocation.
const BATCH_SIZE = 1;
/**
 * The deployments to reconcile next. The queue is FIFO with a group for each deployment, so that it is delivered once
 * at a time.
 */
export class Reconciliations extends WorkQueue {
  /** Leaves environments for changes by owners and requests. */
  static readonly CONCURRENCY = 6;

  constructor(scope: Construct, id: string) {
    super(scope, id, {
      variable: 'RECONCILIATIONS_QUEUE',
      fifo: true,
      delay: NEXT_PASS_DELAY,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: Reconciliations.CONCURRENCY,
    });
  }
}
