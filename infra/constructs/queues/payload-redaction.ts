import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { prefixes } from '../../../shared/ids/id.ts';
import { UNREDACTED } from '../../../shared/payload-log/waiting-payloads.ts';
import type { Config } from '../../config/config.ts';
import { NodeFunction } from '../functions/node-function.ts';
import type { Bucket } from '../tables/bucket.ts';
import type { Table } from '../tables/table.ts';
import { WorkQueue } from './work-queue.ts';

const TIMEOUT = Duration.minutes(1);
const RETRY_AFTER = Duration.minutes(6);
// Retries go on for about half an hour. Then an operator has until the bucket deletes the content.
const MAX_DELIVERIES = 5;
// As long as the bucket keeps the content.
const KEEP = Duration.days(1);
const BATCH_SIZE = 5;
// Batches at the same time. The payloads of an organization are a group, and a group has one batch at a time: so an
// organization occupies at most one of these.
const CONCURRENCY = 5;

interface PayloadRedactionProps {
  config: Config;
  observability: Table;
  payloads: Bucket;
}

/**
 * Redacts payloads that are too large for the environments of their requests: a queue of what waits, without content,
 * and a function. The content is in the bucket of payloads, under a prefix that only this function can read.
 */
export class PayloadRedaction extends Construct {
  readonly function: NodeFunction;
  readonly #queue: WorkQueue;
  readonly #payloads: Bucket;

  constructor(scope: Construct, id: string, { config, observability, payloads }: PayloadRedactionProps) {
    super(scope, id);
    this.#payloads = payloads;
    this.function = new NodeFunction(this, 'Function', { config, name: 'payloads', timeout: TIMEOUT });
    // The settings of payload logs, and how many payloads of an organization wait.
    observability.grant(this.function, 'BatchGetItem', 'UpdateItem');
    payloads.grantUnder(this.function, UNREDACTED, 's3:GetObject', 's3:DeleteObject');
    payloads.grantUnder(this.function, prefixes.organization, 's3:PutObject', 's3:PutObjectTagging');
    this.#queue = new WorkQueue(this, 'Payloads', {
      variable: 'PAYLOADS_QUEUE',
      fifo: true,
      keep: KEEP,
      retryAfter: RETRY_AFTER,
      maxDeliveries: MAX_DELIVERIES,
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
    });
    this.#queue.deliverTo(this.function);
  }

  /** Payloads that wait for redaction. */
  get queue(): Queue {
    return this.#queue.queue;
  }

  /** Payloads whose redaction failed after all retries. */
  get failures(): Queue {
    return this.#queue.failures;
  }

  /** Lets a function write small payloads itself, and send others to their redaction. */
  grantSend(grantee: NodeFunction): void {
    this.#payloads.grantUnder(grantee, prefixes.organization, 's3:PutObject', 's3:PutObjectTagging');
    this.#payloads.grantUnder(grantee, UNREDACTED, 's3:PutObject');
    this.#queue.grantSend(grantee);
  }
}
