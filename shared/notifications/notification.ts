import * as z from 'zod';
import { newTimedId } from '../ids/id.ts';

// The `type` of each CloudEvent. A change of an event's `data` that is not an addition gets a new version.
const NOTIFICATION_TYPES = [
  'sluice.budget.threshold_reached.v1',
  'sluice.credit.threshold_reached.v1',
  'sluice.credit.expired.v1',
  'sluice.invoice.issued.v1',
  'sluice.invoice.paid.v1',
  'sluice.invoice.voided.v1',
  'sluice.credit_note.issued.v1',
  'sluice.deployment.benchmark_drifted.v1',
  'sluice.deployment.speed_drifted.v1',
  'sluice.deployment.state_changed.v1',
  'sluice.deployment.window_unpaid.v1',
  'sluice.export.completed.v1',
  'sluice.service_account.secret_expiring.v1',
  'sluice.split.stopped.v1',
  'sluice.ticket.created.v1',
  'sluice.ticket.message_added.v1',
  'sluice.ticket.status_changed.v1',
  'sluice.webhook.test.v1',
] as const;
export const NotificationType = z.enum(NOTIFICATION_TYPES);
export type NotificationType = z.infer<typeof NotificationType>;

/** Sent to one webhook, which is its subject, when someone asks for it. */
export const TEST_TYPE = 'sluice.webhook.test.v1' satisfies NotificationType;

/**
 * An event of which an organization is notified. It never changes; its id is the id of each of its deliveries, so
 * that receivers can ignore repetitions.
 */
export const Notification = z.object({
  id: z.string(),
  type: NotificationType,
  organization: z.string(),
  /** The resource, such as the id of an invoice. */
  subject: z.string(),
  /** Milliseconds since the epoch. */
  at: z.int(),
  /**
   * JSON without bigints; amounts are dollars as text. Never contains secrets or content of requests; of a ticket, it
   * has what both sides can read.
   */
  data: z.record(z.string(), z.unknown()),
  /** The address of the one person whom it concerns, for an email. Receivers of webhooks don't see it. */
  recipient: z.string().optional(),
  /** The user with that address. Absent in notifications of earlier releases. */
  user: z.string().optional(),
});
export type Notification = z.infer<typeof Notification>;

/** Creates a notification of something that happened at `at`. */
export const newNotification = (facts: Omit<Notification, 'id'>): Notification => ({ id: newTimedId('event', facts.at), ...facts });
