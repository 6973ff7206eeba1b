import type { DynamoDBRecord, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { OUTBOX_PREFIX, readOutboxEntry } from '../../shared/notifications/outbox.ts';
import { type AnnounceDependencies, announce } from './announce.ts';
import { attemptDelivery, type DeliverDependencies } from './deliver/attempt-delivery.ts';
import { type MailDependencies, sendMail } from './mail/send-mail.ts';
import { readMessage, sendMessage } from './messages.ts';

export type NotificationsDependencies = AnnounceDependencies & DeliverDependencies & MailDependencies;

type Attributes = Parameters<typeof readAttributes>[0];

/** Notifications are announced, and deliveries attempted, so many at a time. */
const PARALLEL = 10;

/** A record of the table's stream. Only new entries of the outbox matter; the table also has webhooks, deliveries and mails. */
const handleRecord = async (deps: NotificationsDependencies, { eventName, dynamodb }: DynamoDBRecord): Promise<void> => {
  const item = readAttributes((dynamodb?.NewImage ?? {}) as Attributes);
  if (eventName !== 'INSERT' || !String(item.record).startsWith(OUTBOX_PREFIX)) return;
  const entry = readOutboxEntry(item);
  if (entry.kind === 'notification') return announce(deps, entry.notification);
  const { webhook, delivery, at } = entry.replay;
  await sendMessage(deps, { webhook, delivery, due_at: at });
};

const handleMessage = async (deps: NotificationsDependencies, { body }: SQSRecord): Promise<void> => {
  const message = readMessage(body);
  await ('mail' in message ? sendMail(deps, message) : attemptDelivery(deps, message));
};

/** A message that fails is delivered again; the others are done. */
const handleMessages = async (
  deps: NotificationsDependencies,
  records: readonly SQSRecord[],
  hasTime: () => boolean,
): Promise<SQSBatchResponse> => {
  const left = new Set(records.map(({ messageId }) => messageId));
  const handle = async (record: SQSRecord): Promise<void> => {
    try {
      await handleMessage(deps, record);
      left.delete(record.messageId);
    } catch (error) {
      logError('notification_message_failed', error, { message: record.messageId });
    }
  };
  await inParallel(records, PARALLEL, handle, hasTime);
  return { batchItemFailures: [...left].map((itemIdentifier) => ({ itemIdentifier })) };
};

const isFromQueue = (record: DynamoDBRecord | SQSRecord | undefined): record is SQSRecord => record !== undefined && 'body' in record;

/**
 * Two kinds of events: batches of the table's stream, which has the outbox, and of the queue of deliveries.
 * @returns the messages that failed
 * @throws AggregateError if records of the stream failed; Lambda sends the batch again in halves
 */
export const handleEvent = async (
  deps: NotificationsDependencies,
  { Records }: DynamoDBStreamEvent | SQSEvent,
  hasTime: () => boolean,
): Promise<SQSBatchResponse | undefined> => {
  if (isFromQueue(Records[0])) return handleMessages(deps, Records as SQSRecord[], hasTime);
  throwFailures(await inParallel(Records as DynamoDBRecord[], PARALLEL, (record) => handleRecord(deps, record), hasTime));
  logInfo('notifications_announced', { records: Records.length });
  return undefined;
};
