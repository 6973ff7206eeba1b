import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { readAttributes } from '../../shared/database/attribute-values.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { logInfo } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import { OUTBOX_PREFIX, readOutboxEntry } from '../../shared/notifications/outbox.ts';
import { type AnnounceDependencies, announce } from './announce.ts';
import { attemptDelivery, type DeliverDependencies } from './deliver/attempt-delivery.ts';
import { type MailDependencies, sendMail } from './mail/send-mail.ts';
import { readMessage, sendMessage } from './messages.ts';
import { type BusDependencies, sendToBus } from './send-to-bus.ts';

export type NotificationsDependencies = AnnounceDependencies & DeliverDependencies & MailDependencies & BusDependencies;

type Attributes = Parameters<typeof readAttributes>[0];

const PARALLEL_NOTIFICATIONS = 10;

// The table also has webhooks, deliveries and mails.
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
  if ('mail' in message) return sendMail(deps, message);
  if ('bus_event' in message) return sendToBus(deps, message);
  await attemptDelivery(deps, message);
};

/** The work of the queue of deliveries. */
export const deliveries = (deps: NotificationsDependencies): MessageWork<SQSRecord> => ({
  read: (record) => record,
  handle: (record) => handleMessage(deps, record),
  failure: 'notification_message_failed',
  factsOf: (_, { messageId }) => ({ message_id: messageId }),
  parallel: PARALLEL_NOTIFICATIONS,
});

/**
 * Announces the new outbox entries in a batch of the table's stream.
 * @throws AggregateError if records failed; Lambda sends the batch again in halves
 */
export const announceRecords = async (
  deps: NotificationsDependencies,
  records: readonly DynamoDBRecord[],
  hasTime: () => boolean,
): Promise<undefined> => {
  throwFailures(await inParallel(records, PARALLEL_NOTIFICATIONS, (record) => handleRecord(deps, record), hasTime));
  logInfo('notifications_announced', { records: records.length });
};
