import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SubscriptionFilter } from 'aws-cdk-lib/aws-logs';
import { LambdaDestination } from 'aws-cdk-lib/aws-logs-destinations';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from '../../config/config.ts';
import { logMessage } from '../alarms/alarms.ts';
import { acknowledgeUnexercised } from '../functions/acknowledge-unexercised.ts';
import { NodeFunction } from '../functions/node-function.ts';
import { failureQueue } from '../queues/dead-letter-queue.ts';
import type { Table } from '../tables/table.ts';
import type { InferenceHost } from './inference-host.ts';

const TIMEOUT = Duration.minutes(1);
// Lambda's maximum, after one and two minutes.
const RETRIES = 2;
// Lambda's maximum, for deliveries that wait for an environment.
const MAX_AGE = Duration.hours(6);

interface RefusalsProps {
  config: Config;
  observability: Table;
}

/**
 * Counts refused requests from the logs of the inference hosts: a function that gets their lines, and a queue for the
 * batches that failed.
 */
export class Refusals extends Construct {
  readonly function: NodeFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, observability }: RefusalsProps) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Function', { config, name: 'refusals', timeout: TIMEOUT });
    observability.grant(this.function, 'GetItem', 'PutItem', 'UpdateItem');
    this.failures = failureQueue(this);
    this.function.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.failures.queueArn] }));
    acknowledgeUnexercised(
      this.function.role,
      { actions: ['sqs:SendMessage'], resource: this.failures.queueArn },
      'Lambda sends the invocations that failed with the role of the function.',
    );
    this.function.configureAsyncInvoke({
      retryAttempts: RETRIES,
      maxEventAge: MAX_AGE,
      onFailure: { bind: () => ({ destination: this.failures.queueArn }) },
    });
  }

  /** Counts the requests that a host refuses. A log group can have two subscription filters; this is one. */
  countOf(host: InferenceHost): void {
    for (const { logGroup, node } of [host.inference, host.catalog])
      new SubscriptionFilter(host, `${node.id}Refusals`, {
        logGroup,
        filterPattern: logMessage('refused'),
        destination: new LambdaDestination(this.function),
      });
  }
}
