import * as z from 'zod';
import { type Notification, NotificationType, TEST_TYPE } from './notification.ts';

/** Prefix of a secret; the rest is the key in base64 (Standard Webhooks). */
export const SECRET_PREFIX = 'whsec_';

/** The types of events that a webhook can select: all except the test, which goes to one webhook. */
export const SelectableType = NotificationType.exclude([TEST_TYPE]);

/** A webhook at rest: where an organization's notifications are sent. */
export const Webhook = z.object({
  id: z.string(),
  organization: z.string(),
  url: z.string(),
  /** null: all, including those that are added later. */
  types: z.array(SelectableType).nullable(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  /** `gone`: the receiver answered 410. */
  disabled_reason: z.enum(['gone']).nullable(),
  /** Signs each delivery, so unlike the secret of an API key it can't be a hash: docs/decisions/0042. */
  secret: z.string(),
  /** After a rotation, signs as well until then. */
  previous_secret: z.string().nullable(),
  /** Milliseconds since the epoch, as the other times. */
  previous_secret_until: z.int().nullable(),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int().min(1),
});
export type Webhook = z.infer<typeof Webhook>;

/** Returns true if a notification is sent to a webhook of its organization. */
export const isNotifiedOf = ({ id, enabled, types }: Webhook, { type, subject }: Pick<Notification, 'type' | 'subject'>): boolean => {
  if (!enabled) return false;
  return type === TEST_TYPE ? subject === id : types === null || types.includes(type);
};
