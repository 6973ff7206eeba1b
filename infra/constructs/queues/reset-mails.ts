import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

// Six times the function's timeout.
const RETRY_AFTER = Duration.minutes(3);
const MAX_DELIVERIES = 5;
// As long as a code is valid.
const KEEP = Duration.hours(1);
// A message takes a tenth of a second, and 5 s at most.
const BATCH_SIZE = 5;
// AWS's minimum, so that most environments are left for the callers of the function.
const CONCURRENCY = 2;

/** The requests for codes with which a password is reset, so that their callers wait for no email. */
export class ResetMails extends WorkQueue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      variable: 'RESET_MAILS_QUEUE',
      fifo: false,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
    });
  }
}
