import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** How long an operator has to look at what failed: AWS's maximum. */
const KEEP = Duration.days(14);

/** What a function could not process of a queue's messages, until an operator has looked at it. */
export const deadLetterQueue = (scope: Construct, { fifo }: { fifo: boolean }): Queue =>
  new Queue(scope, 'Failures', {
    ...(fifo && { fifo }),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: KEEP,
  });

/**
 * What a function could not process of a stream's records or of its invocations, until an operator has looked at it.
 */
export const failureQueue = (scope: Construct): Queue => {
  const queue = deadLetterQueue(scope, { fifo: false });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason: 'This is a dead-letter queue itself, but not of a queue. Only operators receive messages from it.',
  });
  return queue;
};
