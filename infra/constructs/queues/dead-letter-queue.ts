import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

// AWS's maximum, so that an operator has time to look at failures.
const KEEP = Duration.days(14);

/** Creates the queue for messages that a function could not process, until an operator has looked at them. */
export const deadLetterQueue = (scope: Construct, { fifo }: { fifo: boolean }): Queue =>
  new Queue(scope, 'Failures', {
    ...(fifo && { fifo }),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: KEEP,
  });

/**
 * Creates the queue for records of a stream, or invocations, that a function could not process, until an operator has
 * looked at them.
 */
export const failureQueue = (scope: Construct): Queue => {
  const queue = deadLetterQueue(scope, { fifo: false });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason: 'This is a dead-letter queue itself, but not of a queue. Only operators receive messages from it.',
  });
  return queue;
};
