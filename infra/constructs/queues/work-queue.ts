import type { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledgeUnexercised } from '../functions/acknowledge-unexercised.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import { deadLetterQueue } from './dead-letter-queue.ts';

interface WorkQueueProps {
  /** The environment variable with the queue's URL, for functions that can send messages. */
  variable: string;
  /**
   * FIFO: the messages of a group are delivered in order, the next one after the last one was processed. Standard:
   * messages can have delays of their own.
   */
  fifo: boolean;
  /** How long each message waits before it is delivered. Default: not at all. */
  delay?: Duration;
  /** How long a message is kept. */
  keep: Duration;
  /**
   * A message that failed is delivered again after this time, in which its group waits. It must not be shorter than
   * the function's timeout. AWS advises six times as long, for retries of a throttled function; docs/decisions/0071
   * says where it is less.
   */
  retryAfter: Duration;
  /** After so many deliveries, a message that still fails goes to the dead-letter queue. */
  maxDeliveries: number;
  /** Messages of one invocation. */
  batchSize: number;
  /** Invocations at the same time. AWS's minimum is 2. */
  concurrency: number;
  /** The dead-letter queue of another queue of the same kind. Default: one of its own. */
  failures?: Queue;
}

// Without these, all groups of a queue together take 300 messages a second.
const HIGH_THROUGHPUT = {
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

/**
 * Messages from functions to a function, which reports those that must be delivered again, and a queue for those that
 * failed to the end.
 */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly failures: Queue;
  readonly #props: WorkQueueProps;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    this.#props = props;
    const { fifo, delay, keep, retryAfter, maxDeliveries } = props;
    this.failures = props.failures ?? deadLetterQueue(this, { fifo });
    this.queue = new Queue(this, 'Queue', {
      ...(fifo && { fifo, ...HIGH_THROUGHPUT }),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...(delay && { deliveryDelay: delay }),
      retentionPeriod: keep,
      visibilityTimeout: retryAfter,
      deadLetterQueue: { queue: this.failures, maxReceiveCount: maxDeliveries },
    });
  }

  /** Lets a function add messages, and gives it the queue's URL. */
  grantSend(grantee: NodeFunction): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.queue.queueArn] }));
    grantee.addEnvironment(this.#props.variable, this.queue.queueUrl);
  }

  /** Delivers the messages to a function. */
  deliverTo(target: NodeFunction): void {
    const actions = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map((action) => `sqs:${action}`);
    target.addToRolePolicy(new PolicyStatement({ actions, resources: [this.queue.queueArn] }));
    acknowledgeUnexercised(target.role, { actions }, 'Lambda receives the messages with the role of the function.');
    new EventSourceMapping(this, 'Delivery', {
      target,
      eventSourceArn: this.queue.queueArn,
      batchSize: this.#props.batchSize,
      maxConcurrency: this.#props.concurrency,
      reportBatchItemFailures: true,
    });
  }
}
