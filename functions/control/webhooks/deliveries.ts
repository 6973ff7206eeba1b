import { commit } from '../../../shared/audit/commit.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import type { Delivery, DeliveryState } from '../../../shared/notifications/delivery.ts';
import { newNotification, TEST_TYPE } from '../../../shared/notifications/notification.ts';
import type { Webhook } from '../../../shared/notifications/webhook.ts';
import type { Actor } from '../access/actor.ts';
import { visibleWebhook, type WebhookDependencies, type WebhookPlace } from './manage-webhooks.ts';
import { type DeliveryResource, toDeliveryResource } from './webhook-resource.ts';

/** @throws 409 */
const requireEnabled = ({ enabled }: Webhook): void => {
  if (!enabled)
    throw new Conflict({ code: 'webhook_disabled', message: 'This webhook is disabled, so nothing is sent to it. Enable it first.' });
};

/** Sends a test event to a webhook and no other. @throws 404, 409 */
export const testWebhook = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
): Promise<{ object: 'webhook_test'; webhook: string; event: string }> => {
  const webhook = await visibleWebhook(deps, actor, place);
  requireEnabled(webhook);
  const { id, organization } = webhook;
  const { nowMs } = actor.origin;
  const notification = newNotification({ type: TEST_TYPE, organization, subject: id, at: nowMs, data: { webhook: id } });
  const change = { action: 'webhook.tested', organization, target: { type: 'webhook', id } };
  await commit(deps, actor.origin, change, [...deps.users.toCheckActor(actor), deps.outbox.toEmit(notification)]);
  return { object: 'webhook_test', webhook: id, event: notification.id };
};

/** A page of a webhook's deliveries, newest first. @throws 400, 404 */
export const listDeliveries = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
  request: PageRequest & { state?: DeliveryState | undefined },
): Promise<Page<DeliveryResource>> => {
  const { id } = await visibleWebhook(deps, actor, place);
  const { deliveries, next } = await deps.deliveries.list(id, request);
  return { object: 'list', data: deliveries.map(toDeliveryResource), has_more: next !== null, next };
};

/**
 * Makes a delivery again, with the same `webhook-id` and body: at once, or after an attempt that is being made. It gets all its attempts again.
 * @throws 404, 409, 412
 */
export const replayDelivery = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
  deliveryId: string,
): Promise<DeliveryResource> => {
  const webhook = await visibleWebhook(deps, actor, place);
  const before = await deps.deliveries.find(webhook.id, deliveryId);
  if (!before) throw new ResourceNotFound('delivery', deliveryId);
  requireEnabled(webhook);
  const { nowMs } = actor.origin;
  const { organization, id } = webhook;
  const after: Delivery = { ...before, state: 'pending', begun: 0, next_attempt_at: nowMs, delivered_at: null };
  const change = {
    action: 'webhook.delivery_replayed',
    organization,
    target: { type: 'webhook_delivery', id: deliveryId },
    before: { state: before.state },
    after: { state: after.state },
  };
  await commit(deps, actor.origin, change, [
    ...deps.users.toCheckActor(actor),
    deps.deliveries.toReplace(after),
    deps.outbox.toReplay(organization, { event: before.event, webhook: id, delivery: deliveryId, at: nowMs }),
  ]);
  return toDeliveryResource(after);
};
