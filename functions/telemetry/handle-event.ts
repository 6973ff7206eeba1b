import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import type { DelayQueue } from '../../shared/aws/message-queue.ts';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { logInfo } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import { UsageEvent } from '../../shared/usage/event.ts';
import type { Destination } from './destinations.ts';
import { exportBodies, isRequest, SIGNALS, type TelemetrySource } from './export-bodies.ts';
import { readMessage, writeMessage } from './message.ts';
import type { PointInterval } from './metrics.ts';
import type { Send } from './send.ts';

export interface TelemetryDependencies {
  /** Each destination has its own queue, so that none waits for another. */
  destinations: readonly { destination: Destination; queue: DelayQueue }[];
  installation: TelemetrySource;
  send: Send;
  /** The time since the last batch of this process. */
  nextInterval: () => PointInterval;
}

type Attributes = Parameters<typeof readAttributes>[0];

const PARALLEL_MESSAGES = 10;

const eventOf = ({ dynamodb }: DynamoDBRecord): UsageEvent => UsageEvent.parse(readAttributes((dynamodb?.NewImage ?? {}) as Attributes));

/**
 * Queues the exports of a batch of usage events for each destination.
 * @throws AggregateError if messages could not be queued; ZodError if an event can't be read. Lambda sends the batch
 * again in halves.
 */
export const enqueue = async (
  { destinations, installation, nextInterval }: TelemetryDependencies,
  records: readonly DynamoDBRecord[],
): Promise<undefined> => {
  const events = records.map(eventOf).filter(isRequest);
  const interval = nextInterval();
  const wanted = SIGNALS.filter((signal) => destinations.some(({ destination }) => destination.signal === signal));
  const bodies = new Map(wanted.map((signal) => [signal, exportBodies(signal, events, { installation, interval })]));
  const messages = destinations.flatMap(({ destination: { signal, url }, queue }) =>
    (bodies.get(signal) ?? []).map((body) => ({ queue, body: writeMessage(url, body) })),
  );
  throwFailures(await inParallel(messages, PARALLEL_MESSAGES, ({ queue, body }) => queue.send({ body, delaySeconds: 0 })));
  logInfo('telemetry_queued', { events: events.length, messages: messages.length });
};

const deliver = async ({ destinations, send }: TelemetryDependencies, { body: text }: SQSRecord): Promise<void> => {
  const { url, body } = readMessage(text);
  const configured = destinations.find(({ destination }) => destination.url === url);
  if (!configured) throw new Error('The message has a destination that is not configured any more.');
  await send(configured.destination, body);
};

/** The work of the destinations' queues: each message is sent to its destination. */
export const deliveries = (deps: TelemetryDependencies): MessageWork<SQSRecord> => ({
  read: (record) => record,
  handle: (record) => deliver(deps, record),
  failure: 'telemetry_not_sent',
  factsOf: ({ eventSourceARN }) => ({ queue: eventSourceARN.split(':').at(-1) }),
  parallel: PARALLEL_MESSAGES,
});
