import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** How long an operator has to look at what failed: AWS's maximum. */
const KEEP = Duration.days(14);

/** What a function could not process, until an operator has looked at it. */
export const deadLetterQueue = (scope: Construct, { fifo = false }: { fifo?: boolean } = {}): Queue => {
  const queue = new Queue(scope, 'Failures', {
    ...(fifo && { fifo }),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: KEEP,
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason: 'This is the dead-letter queue itself. Only operators receive messages from it.',
  });
  return queue;
};
