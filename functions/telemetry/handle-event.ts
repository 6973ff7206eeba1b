import type { DynamoDBRecord, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { DelayQueue } from '../../shared/aws/message-queue.ts';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { UsageEvent } from '../../shared/usage/event.ts';
import type { Destination } from './destinations.ts';
import { exportBodies, type Installation, isRequest, SIGNALS } from './export-bodies.ts';
import { readMessage, writeMessage } from './message.ts';
import type { Interval } from './metrics.ts';
import type { Send } from './send.ts';

export interface TelemetryDependencies {
  /** Each with its own queue, so that none waits for another one. */
  destinations: readonly { destination: Destination; queue: DelayQueue }[];
  installation: Installation;
  send: Send;
  /** The time since the last batch of this process. */
  nextInterval: () => Interval;
}

type Attributes = Parameters<typeof readAttributes>[0];

/** Messages are added so many at a time. */
const PARALLEL = 10;

const eventOf = ({ dynamodb }: DynamoDBRecord): UsageEvent => UsageEvent.parse(readAttributes((dynamodb?.NewImage ?? {}) as Attributes));

/** Adds what a batch of events means for a destination to the destination's queue. */
const enqueue = async (
  { destinations, installation, nextInterval }: TelemetryDependencies,
  records: readonly DynamoDBRecord[],
): Promise<void> => {
  const events = records.map(eventOf).filter(isRequest);
  const interval = nextInterval();
  const wanted = SIGNALS.filter((signal) => destinations.some(({ destination }) => destination.signal === signal));
  const bodies = new Map(wanted.map((signal) => [signal, exportBodies(signal, events, { installation, interval })]));
  const messages = destinations.flatMap(({ destination: { signal, url }, queue }) =>
    (bodies.get(signal) ?? []).map((body) => ({ queue, body: writeMessage(url, body) })),
  );
  throwFailures(await inParallel(messages, PARALLEL, ({ queue, body }) => queue.send({ body, delaySeconds: 0 })));
  logInfo('telemetry_queued', { events: events.length, messages: messages.length });
};

const deliver = async ({ destinations, send }: TelemetryDependencies, { body: text }: SQSRecord): Promise<void> => {
  const { url, body } = readMessage(text);
  const found = destinations.find(({ destination }) => destination.url === url);
  if (!found) throw new Error('The message has a destination that is not configured any more.');
  await send(found.destination, body);
};

const deliverAll = async (deps: TelemetryDependencies, records: readonly SQSRecord[]): Promise<SQSBatchResponse> => {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  const deliverOne = async (record: SQSRecord): Promise<void> => {
    try {
      await deliver(deps, record);
    } catch (error) {
      logError('telemetry_not_sent', error, { queue: record.eventSourceARN.split(':').at(-1) });
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  };
  await inParallel(records, PARALLEL, deliverOne);
  return { batchItemFailures };
};

const isFromQueue = (record: DynamoDBRecord | SQSRecord | undefined): record is SQSRecord => record !== undefined && 'body' in record;

/**
 * Two kinds of events: batches of the stream of usage events, whose telemetry it adds to the queue of each destination, and of these queues, whose
 * messages it sends.
 * @returns the messages that no destination took
 * @throws AggregateError if messages could not be added; ZodError if an event can't be read. Lambda sends the batch again in halves.
 */
export const handleEvent = async (
  deps: TelemetryDependencies,
  { Records }: DynamoDBStreamEvent | SQSEvent,
): Promise<SQSBatchResponse | undefined> => {
  if (isFromQueue(Records[0])) return deliverAll(deps, Records as SQSRecord[]);
  await enqueue(deps, Records as DynamoDBRecord[]);
  return undefined;
};
