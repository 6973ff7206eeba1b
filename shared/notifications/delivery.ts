import { createHash } from 'node:crypto';
import * as z from 'zod';
import { base62Of } from '../ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS } from '../ids/id.ts';
import { NotificationType } from './notification.ts';

const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export const DeliveryState = z.enum(DELIVERY_STATES);
export type DeliveryState = z.infer<typeof DeliveryState>;

/**
 * Why an attempt had no response. The receiver's response is never stored: it could be a page of a network that only we
 * can reach.
 */
export const AttemptError = z.enum([
  'url_refused',
  'address_refused',
  'dns_failed',
  'connection_failed',
  'tls_failed',
  'timed_out',
  'webhook_disabled',
  'organization_suspended',
]);
export type AttemptError = z.infer<typeof AttemptError>;

/** An attempt to deliver: its response's status, or why there was none. */
export const Attempt = z.object({ at: z.int(), duration_ms: z.int(), status: z.int().nullable(), error: AttemptError.nullable() });
export type Attempt = z.infer<typeof Attempt>;

/** The newest attempts that a delivery keeps. */
export const MAX_ATTEMPTS_KEPT = 20;

/**
 * The delivery of a notification to a webhook, at rest. Times are milliseconds since the epoch. `pending`: will be
 * attempted again. `dead`: given up, until it is replayed.
 */
export const Delivery = z.object({
  id: z.string(),
  webhook: z.string(),
  organization: z.string(),
  /** The notification's id: the `webhook-id` of each attempt. */
  event: z.string(),
  type: NotificationType,
  /** The same bytes for each attempt. */
  body: z.string(),
  state: DeliveryState,
  /** The newest, oldest first. */
  attempts: z.array(Attempt).max(MAX_ATTEMPTS_KEPT),
  /** Attempts since it was created or replayed. */
  begun: z.int().min(0),
  next_attempt_at: z.int(),
  /** An attempt is being made, or has crashed, until this time. 0: no attempt is being made. */
  leased_until: z.int(),
  created_at: z.int(),
  delivered_at: z.int().nullable(),
  /** Unix time in seconds. */
  expires_at: z.int(),
  version: z.int().min(1),
});
export type Delivery = z.infer<typeof Delivery>;

/**
 * The id of a notification's delivery to a webhook: always the same. It begins with the notification's time, so that
 * deliveries sort by it.
 */
export const deliveryIdOf = (event: string, webhook: string): string => {
  const hash = createHash('sha256').update(`${event}/${webhook}`).digest();
  const time = event.slice(prefixes.event.length, prefixes.event.length + TIME_CHARACTERS);
  return prefixes.delivery + time + base62Of(hash, RANDOM_CHARACTERS - TIME_CHARACTERS);
};
