import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deadLetterQueue } from './dead-letter-queue.ts';
import type { NodeFunction } from './node-function.ts';

/** How often a deployment in transition is reconciled. */
const DELAY = Duration.seconds(15);
/** A reconciliation that failed is repeated after this time. It must not be shorter than the function's timeout. */
const RETRY_AFTER = Duration.seconds(90);
const MAX_DELIVERIES = 5;
/** Every minute brings a new message for each deployment, so an old one is of no use. */
const KEEP = Duration.hours(1);
/** Each deployment gets the whole time of an invocation. */
const BATCH_SIZE = 1;
/** Of deliveries, so that they leave room for changes by owners and requests. */
const CONCURRENCY = 6;

/** The deployments to reconcile next. The queue is FIFO with a group for each deployment, so that it is delivered once at a time. */
export class Reconciliations extends Construct {
  readonly queue: Queue;
  /** Reconciliations that failed to the end. */
  readonly failures: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.failures = deadLetterQueue(this, { fifo: true });
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deliveryDelay: DELAY,
      retentionPeriod: KEEP,
      visibilityTimeout: RETRY_AFTER,
      deadLetterQueue: { queue: this.failures, maxReceiveCount: MAX_DELIVERIES },
    });
  }

  /** Lets a function add deployments, and gives it the queue's URL. */
  grantSend(grantee: NodeFunction): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.queue.queueArn] }));
    grantee.addEnvironment('RECONCILIATIONS_QUEUE', this.queue.queueUrl);
  }

  /** Delivers deployments to the function that reconciles them. */
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
