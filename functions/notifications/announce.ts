import type { Database } from '../../shared/database/database.ts';
import { throwFailures } from '../../shared/database/in-parallel.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { type Delivery, deliveryIdOf } from '../../shared/notifications/delivery.ts';
import { AlreadyCreated, type DeliveryStore } from '../../shared/notifications/delivery-store.ts';
import type { Notification } from '../../shared/notifications/notification.ts';
import { expiryOf } from '../../shared/notifications/outbox.ts';
import { isNotifiedOf, type Webhook } from '../../shared/notifications/webhook.ts';
import type { WebhookStore } from '../../shared/notifications/webhook-store.ts';
import { toCloudEvent } from './cloud-event.ts';
import { MailExists, type MailStore, mailIdOf } from './mail/mail-store.ts';
import { mailTextOf } from './mail/mail-text.ts';
import { type MessageDependencies, sendMessage } from './messages.ts';

export interface AnnounceDependencies extends MessageDependencies {
  database: Database;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  mails: MailStore;
  /** The addresses that an organization's e-mails go to; undefined: e-mail is not configured. */
  emailsOf: ((organization: string) => Promise<readonly string[]>) | undefined;
  /** The name of the installation, for the source of events. */
  installation: string;
}

/** Creates a row, unless an earlier attempt has created it. */
const createOnce = async (database: Database, write: Write): Promise<void> => {
  try {
    await transact(database, [write]);
  } catch (error) {
    if (!(error instanceof AlreadyCreated || error instanceof MailExists)) throw error;
  }
};

const deliver = async (deps: AnnounceDependencies, notification: Notification, { id: webhook }: Webhook): Promise<void> => {
  const { id: event, organization, type } = notification;
  const nowMs = deps.now();
  const delivery: Delivery = {
    id: deliveryIdOf(event, webhook),
    webhook,
    organization,
    event,
    type,
    body: toCloudEvent(deps.installation, notification),
    state: 'pending',
    attempts: [],
    begun: 0,
    next_attempt_at: nowMs,
    leased_until: 0,
    created_at: nowMs,
    delivered_at: null,
    expires_at: expiryOf(notification),
    version: 1,
  };
  await createOnce(deps.database, deps.deliveries.toCreate(delivery));
  await sendMessage(deps, { webhook, delivery: delivery.id, due_at: nowMs });
};

const mail = async (deps: AnnounceDependencies, notification: Notification, to: string): Promise<void> => {
  const text = mailTextOf(notification);
  if (!text) return;
  const { id: event, organization } = notification;
  const nowMs = deps.now();
  const id = mailIdOf(event, to);
  const row = { id, organization, to, ...text, state: 'pending' as const, begun: 0, next_attempt_at: nowMs };
  await createOnce(deps.database, deps.mails.toCreate({ ...row, expires_at: expiryOf(notification), version: 1 }));
  await sendMessage(deps, { organization, mail: id, due_at: nowMs });
};

/**
 * Creates the deliveries of a notification to its organization's webhooks, and its e-mails, and a message for each. A repetition creates nothing twice;
 * it sends the messages again, because an earlier attempt can have crashed before it did.
 * @throws AggregateError if any of them fails
 */
export const announce = async (deps: AnnounceDependencies, notification: Notification): Promise<void> => {
  const { organization } = notification;
  const webhooks = (await deps.webhooks.list(organization)).filter((webhook) => isNotifiedOf(webhook, notification));
  const addresses = deps.emailsOf && mailTextOf(notification) ? await deps.emailsOf(organization) : [];
  const made = await Promise.allSettled([
    ...webhooks.map((webhook) => deliver(deps, notification, webhook)),
    ...[...new Set(addresses)].map((address) => mail(deps, notification, address)),
  ]);
  throwFailures(made.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
};
