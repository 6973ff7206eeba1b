import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { prefixes } from '../../shared/ids/id.ts';
import type { Config } from '../config/config.ts';
import { NodeFunction } from './node-function.ts';
import type { Table } from './table.ts';

/** To read events is work for the processor: one whole one. */
const MEMORY_MB = 1_769;
const TIMEOUT = Duration.minutes(5);
/** Totals are this late at the most; the longer, the more seldom the same events are read again. */
const BATCH_WINDOW = Duration.seconds(60);
/** The most that Lambda takes: a busy key's ten minutes are read once a window, not once a thousand events. */
const BATCH_SIZE = 10_000;
/** An outage of the database is waited for. What is still not rolled up then is told to an operator, who rebuilds the day. */
const RETRIES = 100;
const MAX_AGE = Duration.hours(6);
const KEEP_FAILURES = Duration.days(14);

/** What keeps totals beside the usage events: a consumer of the table's stream, and a queue of the batches that it gave up. */
export class Rollups extends Construct {
  readonly function: NodeFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, usage }: { config: Config; usage: Table }) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Function', { config, name: 'rollup', memoryMb: MEMORY_MB, timeout: TIMEOUT });
    usage.grant(this.function, 'Query', 'PutItem');
    usage.grantStream(this.function);
    this.failures = new Queue(this, 'Failures', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEEP_FAILURES,
    });
    this.function.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.failures.queueArn] }));
    Validations.of(this.failures).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'It is itself where failures end up: nothing takes messages from it but an operator.',
    });
    new EventSourceMapping(this, 'Stream', {
      target: this.function,
      eventSourceArn: usage.streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: BATCH_SIZE,
      maxBatchingWindow: BATCH_WINDOW,
      bisectBatchOnError: true,
      retryAttempts: RETRIES,
      maxRecordAge: MAX_AGE,
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
      // New events, and not the totals that are made of them.
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { usage_event: { S: FilterRule.beginsWith(prefixes.request) } } },
        }),
      ],
    });
  }
}
