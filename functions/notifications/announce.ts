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
import { billingReaders, type Recipient, type RecipientDependencies, ticketReaders } from './mail/recipients.ts';
import { isAboutTicket, type SupportDesk, sideOfTicketEvent, ticketMailOf } from './mail/ticket-mail.ts';
import { type MessageDependencies, sendMessage } from './messages.ts';
import type { PutEvent } from './put-event.ts';

export interface AnnounceDependencies extends MessageDependencies {
  database: Database;
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  mails: MailStore;
  /** Who gets e-mails; undefined: e-mail is not configured. */
  recipients: RecipientDependencies | undefined;
  /**
   * Where e-mails about customers' messages to support go, and where answers to e-mails about tickets go; both can be
   * absent.
   */
  supportDesk: SupportDesk;
  /** Puts an event on EventBridge's bus; undefined: that is not configured. */
  putEvent: PutEvent | undefined;
  /** The name of the installation, for the source of events. */
  installation: string;
}

/** Creates a row, unless an earlier attempt has created it. */
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

/** An e-mail, and whom it goes to. */
interface Mailing {
  text: MailText;
  to: readonly Recipient[];
}

/** Who is told about a ticket: the person on the other side. */
const readersOfTicketEvent = async (
  recipients: RecipientDependencies,
  { email }: SupportDesk,
  notification: Notification,
): Promise<Recipient[]> => {
  const side = sideOfTicketEvent(notification);
  if (side === 'support') return ticketReaders(recipients, notification);
  return side === 'customer' && email !== undefined ? [{ to: email }] : [];
};

/**
 * About tickets to the person on the other side, about money to the addresses in the billing profile. Undefined:
 * nobody gets an e-mail.
 */
const mailingOf = async ({ recipients, supportDesk }: AnnounceDependencies, notification: Notification): Promise<Mailing | undefined> => {
  if (!recipients) return undefined;
  if (isAboutTicket(notification))
    return { text: ticketMailOf(notification, supportDesk), to: await readersOfTicketEvent(recipients, supportDesk, notification) };
  const text = mailTextOf(notification);
  return text && { text, to: await billingReaders(recipients, notification.organization) };
};

const mail = async (deps: AnnounceDependencies, notification: Notification, text: MailText, { to, reader }: Recipient): Promise<void> => {
  const { id: event, organization } = notification;
  const nowMs = deps.now();
  const id = mailIdOf(event, to);
  const row = { id, organization, to, ...(reader && { reader }), ...text, state: 'pending' as const, begun: 0, next_attempt_at: nowMs };
  await createOnce(deps.database, deps.mails.toCreate({ ...row, expires_at: expiryOf(notification), version: 1 }));
  await sendMessage(deps, { organization, mail: id, due_at: nowMs });
};

/**
 * Creates the deliveries of a notification to its organization's webhooks, and its e-mails, and a message for each. A
 * repetition creates nothing twice; it sends the messages again, because an earlier attempt can have crashed before
 * it did.
 * @throws AggregateError if any of them fails
 */
export const announce = async (deps: AnnounceDependencies, notification: Notification): Promise<void> => {
  const { organization } = notification;
  const webhooks = (await deps.webhooks.list(organization)).filter((webhook) => isNotifiedOf(webhook, notification));
  const mailing = await mailingOf(deps, notification);
  const made = await Promise.allSettled([
    ...webhooks.map((webhook) => deliver(deps, notification, webhook)),
    ...(mailing ? mailing.to.map((recipient) => mail(deps, notification, mailing.text, recipient)) : []),
    ...(deps.putEvent && isAboutTicket(notification) ? [deps.putEvent(notification)] : []),
  ]);
  throwFailures(made.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
};
