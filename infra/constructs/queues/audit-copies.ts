import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { NodeFunction } from '../functions/node-function.ts';
import type { Bucket } from '../tables/bucket.ts';
import type { Table } from '../tables/table.ts';
import { readStream } from './stream-reader.ts';

const BATCH_SIZE = 100;
// Lambda's maximum. The age below ends the retries.
const RETRIES = 10_000;
// The stream keeps a record for 24 hours.
const MAX_AGE = Duration.hours(20);

/**
 * Copies every entry of the audit log to a bucket: a function that reads the table's stream, and a queue for the
 * batches that failed.
 */
export class AuditCopies extends Construct {
  readonly function: NodeFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, audit, bucket }: { config: Config; audit: Table; bucket: Bucket }) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Function', { config, name: 'audit-copy', timeout: Duration.minutes(1) });
    bucket.grantAdd(this.function);
    this.failures = readStream(this, audit, this.function, { batchSize: BATCH_SIZE, retryAttempts: RETRIES, maxRecordAge: MAX_AGE });
  }
}
