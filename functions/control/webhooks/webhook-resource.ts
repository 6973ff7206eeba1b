import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { MAX_URL_CHARACTERS } from '../../../shared/network/url-fault.ts';
import { Attempt, AttemptError, type Delivery, DeliveryState } from '../../../shared/notifications/delivery.ts';
import { NotificationType } from '../../../shared/notifications/notification.ts';
import { SECRET_PREFIX, SelectableType, type Webhook } from '../../../shared/notifications/webhook.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, can, type Rights } from '../access/actor.ts';
import { changeBody } from '../access/change-body.ts';
import { OrganizationId } from '../organizations/organization.ts';

// 256 bits; Standard Webhooks recommends 192 to 512.
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

const Url = z.string().min(1).max(MAX_URL_CHARACTERS);
const Types = z
  .array(SelectableType)
  .min(1)
  .refine((types) => new Set(types).size === types.length, 'expected each type once')
  .nullable();
const Description = z.string().trim().min(1).max(200).nullable();

/** A webhook on the wire, without its secrets. */
export const WebhookResource = z.object({
  id: z.string(),
  object: z.literal('webhook'),
  organization: z.string(),
  url: z.string().meta({
    description:
      'Its path and query can be a secret: without the permission `webhooks:write`, they are replaced by `[hidden]`, unless they are empty.',
  }),
  types: z.array(SelectableType).nullable().meta({ description: 'The types of events that are sent; null: all, also later ones.' }),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z.enum(['gone']).nullable().meta({
    description: '`gone`: the receiver answered 410, so the webhook was disabled.',
  }),
  previous_secret_until: z
    .int()
    .nullable()
    .meta({ description: 'After a rotation, the time until which the previous secret signs, too. Unix time in seconds.' }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type WebhookResource = z.infer<typeof WebhookResource>;

/** A webhook with its secret, which is shown only once. */
export const WebhookWithSecret = WebhookResource.extend({
  secret: z.string().meta({
    description: 'Signs the deliveries, by Standard Webhooks. It cannot be retrieved again, so save it now.',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
  }),
});
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

export const NewWebhook = z.strictObject({
  url: Url.meta({ description: 'An https URL on the public Internet, with the port 443 or one from 1024 on.' }),
  types: Types.default(null).meta({ description: 'The types of events to send; null: all, also later ones.' }),
  description: Description.default(null),
  organization: OrganizationId.optional().meta({
    description: 'The organization to notify. Admins name it here or in the query; otherwise your own organization.',
  }),
});
export type NewWebhook = z.output<typeof NewWebhook>;

/** Absent fields keep their values. */
export const WebhookUpdate = changeBody({
  url: Url.optional(),
  types: Types.optional(),
  description: Description.optional(),
  enabled: z.boolean().optional().meta({ description: 'Set it to true to enable a webhook again that was disabled.' }),
});
export type WebhookUpdate = z.output<typeof WebhookUpdate>;

const MAX_OVERLAP_SECONDS = 604_800;

export const SecretRotation = z.strictObject({
  overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).meta({
    description: 'How long the previous secret signs as well. Use 0 if it may have leaked, otherwise the time that you need to replace it.',
  }),
});
export type SecretRotation = z.output<typeof SecretRotation>;

export const DeletedWebhook = z.object({ id: z.string(), object: z.literal('webhook'), deleted: z.literal(true) });

/** The event that a test sends. */
export const WebhookTest = z.object({
  object: z.literal('webhook_test'),
  webhook: z.string(),
  event: z.string().meta({ description: 'The id of the event: the `webhook-id` of its delivery.' }),
});

/** A delivery on the wire. */
export const DeliveryResource = z.object({
  id: z.string(),
  object: z.literal('webhook_delivery'),
  webhook: z.string(),
  event: z.string().meta({ description: 'The id of the event: the `webhook-id` header of each attempt.' }),
  type: NotificationType,
  state: DeliveryState.meta({
    description: '`pending`: will be attempted again. `delivered`: an attempt was answered with a status 2xx. `dead`: given up.',
  }),
  attempts: z
    .array(
      z.object({
        at: z.int().meta({ description: 'Unix time in seconds.' }),
        duration_ms: Attempt.shape.duration_ms,
        status: z.int().nullable().meta({ description: 'The status of the response; null: there was none.' }),
        error: AttemptError.nullable().meta({ description: 'Why there was no response.' }),
      }),
    )
    .meta({ description: 'The newest attempts, at most 20, oldest first.' }),
  next_attempt_at: z.int().nullable().meta({ description: 'Unix time in seconds; null if there is no next attempt.' }),
  created_at: z.int(),
  delivered_at: z.int().nullable(),
  expires_at: z.int().meta({ description: 'The delivery is deleted some time after that, and can then no longer be replayed.' }),
});
export type DeliveryResource = z.infer<typeof DeliveryResource>;

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms));

// Receivers such as those of Slack, Discord and Teams accept events from anyone who knows their whole URL.
const withoutSecrets = (url: string): string => {
  const { origin, pathname, search, hash } = new URL(url);
  return pathname + search + hash === '/' ? url : `${origin}/[hidden]`;
};

/** Returns a webhook as an actor sees it: with its whole URL if they can change it. */
export const toWebhookResource = (webhook: Webhook, actor: Rights & Pick<Actor, 'origin'>): WebhookResource => {
  const { secret: _, previous_secret: __, previous_secret_until: until, created_at, updated_at, url, ...rest } = webhook;
  const { nowMs } = actor.origin;
  return {
    ...rest,
    url: can(actor, 'webhooks:write') ? url : withoutSecrets(url),
    object: 'webhook',
    previous_secret_until: until !== null && until > nowMs ? unixSeconds(until) : null,
    created_at: unixSeconds(created_at),
    updated_at: unixSeconds(updated_at),
  };
};

export const toDeliveryResource = (delivery: Delivery): DeliveryResource => {
  const { id, webhook, event, type, state, attempts, next_attempt_at, created_at, delivered_at, expires_at } = delivery;
  return {
    id,
    object: 'webhook_delivery',
    webhook,
    event,
    type,
    state,
    attempts: attempts.map(({ at, ...attempt }) => ({ ...attempt, at: unixSeconds(at) })),
    next_attempt_at: state === 'pending' ? unixSeconds(next_attempt_at) : null,
    created_at: unixSeconds(created_at),
    delivered_at: secondsOrNull(delivered_at),
    expires_at,
  };
};
