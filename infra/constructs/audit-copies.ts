import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import type { Bucket } from './bucket.ts';
import { NodeFunction } from './node-function.ts';
import type { Table } from './table.ts';

const BATCH_SIZE = 100;
/** Lambda's maximum. The age below ends the retries. */
const RETRIES = 10_000;
/** The stream keeps a record for 24 hours. */
const MAX_AGE = Duration.hours(20);
const KEEP_FAILURES = Duration.days(14);

/** Copies every entry of the audit log to a bucket: a function that reads the table's stream, and a queue for the batches that failed. */
export class AuditCopies extends Construct {
  readonly function: NodeFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, audit, bucket }: { config: Config; audit: Table; bucket: Bucket }) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Function', { config, name: 'audit-copy', memoryMb: 256, timeout: Duration.minutes(1) });
    audit.grantStream(this.function);
    bucket.grantAdd(this.function);
    this.failures = new Queue(this, 'Failures', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEEP_FAILURES,
    });
    this.function.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.failures.queueArn] }));
    Validations.of(this.failures).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'This is the dead-letter queue itself. Only operators receive messages from it.',
    });
    new EventSourceMapping(this, 'Stream', {
      target: this.function,
      eventSourceArn: audit.streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: BATCH_SIZE,
      bisectBatchOnError: true,
      retryAttempts: RETRIES,
      maxRecordAge: MAX_AGE,
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
    });
  }
}
