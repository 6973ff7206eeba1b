import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deadLetterQueue } from './dead-letter-queue.ts';
import type { NodeFunction } from './node-function.ts';

/** A settlement that failed is delivered again after this time. It must not be shorter than the function's timeout. */
const RETRY_AFTER = Duration.minutes(5);
/** Retries go on for about a day, longer than outages of a database. Then an alarm tells an operator. */
const MAX_DELIVERIES = 300;
const KEEP = Duration.days(14);
const BATCH_SIZE = 10;
/** Of deliveries, so that they leave room for the sweep. AWS's minimum. */
const CONCURRENCY = 2;

/**
 * The settlements that functions could not make because of the database, and those of crashed functions. The queue is FIFO with a group for each
 * request: an `orphaned` event, which the sweep sends, comes after what the request's function had sent before.
 */
export class Settlements extends Construct {
  readonly queue: Queue;
  /** Settlements that failed to the end. */
  readonly failures: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.failures = deadLetterQueue(this, { fifo: true });
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEEP,
      visibilityTimeout: RETRY_AFTER,
      deadLetterQueue: { queue: this.failures, maxReceiveCount: MAX_DELIVERIES },
    });
  }

  /** Lets a function add settlements, and gives it the queue's URL. */
  grantSend(grantee: NodeFunction): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.queue.queueArn] }));
    grantee.addEnvironment('SETTLEMENTS_QUEUE', this.queue.queueUrl);
  }

  /** Delivers settlements to a function, which reports those that must be delivered again. */
  deliverTo(target: NodeFunction): void {
    const actions = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map((action) => `sqs:${action}`);
    target.addToRolePolicy(new PolicyStatement({ actions, resources: [this.queue.queueArn] }));
    new EventSourceMapping(this, 'Delivery', {
      target,
      eventSourceArn: this.queue.queueArn,
      batchSize: BATCH_SIZE,
      maxConcurrency: CONCURRENCY,
      reportBatchItemFailures: true,
    });
  }
}
