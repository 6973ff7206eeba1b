import type { Database } from '../../shared/database/database.ts';
import { throwFailures } from '../../shared/database/in-parallel.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { type Delivery, deliveryIdOf } from '../../shared/notifications/delivery.ts';
import { DeliveryExists, type DeliveryStore } from '../../shared/notifications/delivery-store.ts';
import type { Notification } from '../../shared/notifications/notification.ts';
import { expiryOf } from '../../shared/notifications/outbox.ts';
import { isNotifiedOf, type Webhook } from '../../shared/notifications/webhook.ts';
import type { WebhookStore } from '../../shared/notifications/webhook-store.ts';
import { toCloudEvent } from './cloud-event.ts';
import { MailExists, type MailStore, mailIdOf } from './mail/mail-store.ts';
import { type MailText, mailTextOf } from './mail/mail-text.ts';
import { billingReaders, ownersOf, type Recipient, type RecipientDependencies, ticketReaders } from './mail/recipients.ts';
import { isAboutTicket, type SupportDesk, sideOfTicketEvent, ticketMailOf } from './mail/ticket-mail.ts';
import { type MessageDependencies, sendMessage } from './messages.ts';
import type { BusDependencies } from './send-to-bus.ts';

export interface AnnounceDependencies extends MessageDependencies, Pick<BusDependencies, 'putEvent'> {
  database: Database;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  mails: MailStore;
  /** The directories of email recipients; undefined if email is not configured. */
  recipients: RecipientDependencies | undefined;
  /**
   * The addresses for emails about customers' messages, and for answers to emails about tickets. Both are optional.
   */
  supportDesk: SupportDesk;
  /** The name of the installation, for the source of events. */
  installation: string;
}

// An earlier attempt may have created the row.
const createOnce = async (database: Database, write: Write): Promise<void> => {
  try {
    await transact(database, [write]);
  } catch (error) {
    if (!(error instanceof DeliveryExists || error instanceof MailExists)) throw error;
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

interface AddressedMail {
  text: MailText;
  to: readonly Recipient[];
}

// The person on the other side of the ticket.
const ticketRecipients = async (
  recipients: RecipientDependencies,
  { email }: SupportDesk,
  notification: Notification,
): Promise<Recipient[]> => {
  const side = sideOfTicketEvent(notification);
  if (side === 'support') return ticketReaders(recipients, notification);
  return side === 'customer' && email !== undefined ? [{ to: email }] : [];
};

// Emails about tickets go to the other side, others to the addresses in the billing profile or to the owners.
const addressedMailOf = async (
  { recipients, supportDesk }: AnnounceDependencies,
  notification: Notification,
): Promise<AddressedMail | undefined> => {
  if (!recipients) return undefined;
  if (isAboutTicket(notification))
    return { text: ticketMailOf(notification, supportDesk), to: await ticketRecipients(recipients, supportDesk, notification) };
  const mail = mailTextOf(notification);
  if (!mail) return undefined;
  const readers = mail.audience === 'owners' ? ownersOf : billingReaders;
  return { text: mail.text, to: await readers(recipients, notification.organization) };
};

const mail = async (deps: AnnounceDependencies, notification: Notification, text: MailText, { to, reader }: Recipient): Promise<void> => {
  const { id: event, organization } = notification;
  const nowMs = deps.now();
  const id = mailIdOf(event, to);
  const row = { id, organization, to, ...(reader && { reader }), ...text, state: 'pending' as const, begun: 0, next_attempt_at: nowMs };
  await createOnce(deps.database, deps.mails.toCreate({ ...row, expires_at: expiryOf(notification), version: 1 }));
  await sendMessage(deps, { organization, mail: id, due_at: nowMs });
};

// From the queue, so that a bus that takes no events doesn't hold up the stream, with the notifications of all.
const toBus = (deps: AnnounceDependencies, { id, organization }: Notification): Promise<void> =>
  sendMessage(deps, { organization, bus_event: id, due_at: deps.now() });

/**
 * Creates the deliveries of a notification to its organization's webhooks, and its emails, and a message for each. A
 * repetition creates nothing twice, but sends the messages again, because an earlier attempt may have crashed before it
 * sent them.
 * @throws AggregateError if any of them fails
 */
export const announce = async (deps: AnnounceDependencies, notification: Notification): Promise<void> => {
  const { organization } = notification;
  const webhooks = (await deps.webhooks.list(organization)).filter((webhook) => isNotifiedOf(webhook, notification));
  const addressed = await addressedMailOf(deps, notification);
  const results = await Promise.allSettled([
    ...webhooks.map((webhook) => deliver(deps, notification, webhook)),
    ...(addressed ? addressed.to.map((recipient) => mail(deps, notification, addressed.text, recipient)) : []),
    ...(deps.putEvent && isAboutTicket(notification) ? [toBus(deps, notification)] : []),
  ]);
  throwFailures(results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
};
