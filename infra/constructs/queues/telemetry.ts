import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FilterCriteria, FilterRule } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DESTINATIONS_VARIABLE, type Destination, queueVariable } from '../../../functions/telemetry/destinations.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import type { Config, TelemetrySettings } from '../../config/config.ts';
import { acknowledgeWildcards } from '../functions/acknowledge-wildcards.ts';
import { NodeFunction } from '../functions/node-function.ts';
import type { Table } from '../tables/table.ts';
import { readStream } from './stream-reader.ts';
import { WorkQueue } from './work-queue.ts';

const TIMEOUT = Duration.minutes(1);
// About 2 KB of JSON an event.
const BATCH_SIZE = 1_000;
// The longest delay of spans. Larger bodies compress better, and their metrics have fewer points.
const BATCH_WINDOW = Duration.seconds(10);
// Lambda's maximum. The age below ends the retries.
const RETRIES = 10_000;
// The stream keeps a record for 24 hours.
const MAX_AGE = Duration.hours(20);

const RETRY_AFTER = Duration.minutes(6);
// 25 hours of retries. A message that still fails stays in the dead-letter queue for 14 days, from which it can be sent
// again.
const MAX_DELIVERIES = 250;
const KEEP = Duration.days(4);
// Each message gets the whole time of an invocation.
const MESSAGES_PER_INVOCATION = 1;
// AWS's minimum: a dead destination can occupy no more.
const CONCURRENCY = 2;

// AWS endpoints have the service and the region in their names.
const signedFor = (url: string): NonNullable<Destination['aws']> => {
  const [service = '', region = ''] = new URL(url).hostname.split('.');
  return { service, region };
};

/** The URLs of all endpoints. */
export const destinationsOf = ({ otlp }: TelemetrySettings): Destination[] =>
  otlp.flatMap(({ aws, headersSecretArn, ...urls }) =>
    (['traces', 'metrics'] as const).flatMap((signal) => {
      const url = urls[signal];
      if (url === undefined) return [];
      return [{ signal, url, ...(aws && { aws: signedFor(url) }), ...(headersSecretArn !== undefined && { headersSecretArn }) }];
    }),
  );

interface TelemetryProps {
  config: Config;
  settings: TelemetrySettings;
  usage: Table;
}

/**
 * Sends the spans and metrics of requests: a function that reads the stream of usage events into a queue for each
 * URL, and sends the messages of these queues. So a destination that does not answer delays no other one, and not the
 * stream, which no more than two functions should read.
 */
export class Telemetry extends Construct {
  readonly function: NodeFunction;
  readonly queues: readonly Queue[];
  /** The queues of events and messages that could not be read or sent. */
  readonly failures: readonly Queue[];

  constructor(scope: Construct, id: string, { config, settings, usage }: TelemetryProps) {
    super(scope, id);
    const destinations = destinationsOf(settings);
    this.function = new NodeFunction(this, 'Function', { config, name: 'telemetry', timeout: TIMEOUT });
    this.function.addEnvironment('INSTALLATION', config.name);
    this.function.addEnvironment('SLUICE_COMMIT', config.commit);
    this.function.addEnvironment(DESTINATIONS_VARIABLE, JSON.stringify(destinations));
    this.#grantDestinations(destinations);
    const queues = destinations.map((_, i) => {
      const queue = new WorkQueue(this, `Destination${i}`, {
        variable: queueVariable(i),
        fifo: false,
        keep: KEEP,
        retryAfter: RETRY_AFTER,
        maxDeliveries: MAX_DELIVERIES,
        batchSize: MESSAGES_PER_INVOCATION,
        concurrency: CONCURRENCY,
      });
      queue.grantSend(this.function);
      queue.deliverTo(this.function);
      return queue;
    });
    const unread = readStream(this, usage, this.function, {
      batchSize: BATCH_SIZE,
      maxBatchingWindow: BATCH_WINDOW,
      retryAttempts: RETRIES,
      maxRecordAge: MAX_AGE,
      // Only new events, not the totals in the same table.
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { usage_event: { S: FilterRule.beginsWith(prefixes.request) } } },
        }),
      ],
    });
    this.queues = queues.map(({ queue }) => queue);
    this.failures = [unread, ...queues.map(({ failures }) => failures)];
  }

  // AWS requires permissions of the senders of spans, which each function may write, and of metrics; other destinations
  // have secrets.
  #grantDestinations(destinations: readonly Destination[]): void {
    const secrets = new Set(destinations.flatMap(({ headersSecretArn }) => headersSecretArn ?? []));
    if (secrets.size > 0)
      this.function.addToRolePolicy(new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [...secrets] }));
    if (!destinations.some(({ signal, aws }) => aws && signal === 'metrics')) return;
    this.function.addToRolePolicy(new PolicyStatement({ actions: ['cloudwatch:PutMetricData'], resources: ['*'] }));
    acknowledgeWildcards(
      this.function.role,
      ['*'],
      'PutMetricData and the two write actions of X-Ray do not support resource-level permissions.',
    );
  }
}
