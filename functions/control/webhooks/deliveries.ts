import { commit } from '../../../shared/audit/commit.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import type { Delivery, DeliveryState } from '../../../shared/notifications/delivery.ts';
import { newNotification, TEST_TYPE } from '../../../shared/notifications/notification.ts';
import type { Webhook } from '../../../shared/notifications/webhook.ts';
import type { Actor } from '../access/actor.ts';
import { visibleWebhook, type WebhookDependencies, type WebhookPlace } from './manage-webhooks.ts';
import { type DeliveryResource, toDeliveryResource } from './webhook-resource.ts';

const requireEnabled = ({ enabled }: Webhook): void => {
  if (!enabled)
    throw new Conflict({ code: 'webhook_disabled', message: 'This webhook is disabled, so nothing is sent to it. Enable it first.' });
};

// An attempt that has not begun so long after it was due was lost, and the delivery can be replayed.
const LOST_AFTER_MS = 15 * 60_000;

class AttemptUnderWay extends Conflict {
  constructor() {
    super({
      code: 'attempt_under_way',
      message: 'This delivery is being attempted now, or is about to be. Replay it when the attempt is over.',
    });
  }
}

// Each replay is an attempt, so there is one at a time. Between attempts of a failed delivery, none is being made.
const requireNoAttempt = ({ state, begun, next_attempt_at, leased_until }: Delivery, nowMs: number): void => {
  const isAboutToBegin = state === 'pending' && begun === 0 && nowMs < next_attempt_at + LOST_AFTER_MS;
  if (isAboutToBegin || leased_until > nowMs) throw new AttemptUnderWay();
};

/** Sends a test event to a webhook and no other. @throws 400, 404, 409 */
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

/** Lists a webhook's deliveries, newest first. @throws 400, 404 */
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
 * Replays a delivery at once, with the same `webhook-id` and body. It gets all its attempts again.
 * @throws 400, 404, 409, 412
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
  requireNoAttempt(before, nowMs);
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
    deps.deliveries.toForgetGivenUp(before),
    deps.outbox.toReplay(organization, { event: before.event, webhook: id, delivery: deliveryId, at: nowMs }),
  ]);
  return toDeliveryResource(after);
};
