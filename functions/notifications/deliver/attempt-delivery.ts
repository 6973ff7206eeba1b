import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { OrganizationDirectory } from '../../../shared/billing/organization-directory.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { WorkShares } from '../../../shared/database/work-shares.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { Attempt, Delivery } from '../../../shared/notifications/delivery.ts';
import type { DeliveryStore } from '../../../shared/notifications/delivery-store.ts';
import type { Webhook } from '../../../shared/notifications/webhook.ts';
import type { WebhookStore } from '../../../shared/notifications/webhook-store.ts';
import { CLOUD_EVENT_TYPE } from '../cloud-event.ts';
import { type MessageDependencies, postpone, type QueuedWork, sendMessage } from '../messages.ts';
import { LEASE_MS } from '../organization-shares.ts';
import { afterAttempt, GONE } from './after-attempt.ts';
import type { Post, PostResult } from './post.ts';
import { signedHeaders } from './sign.ts';

export interface DeliverDependencies extends MessageDependencies, AuditDependencies {
  deliveries: DeliveryStore;
  webhooks: WebhookStore;
  organizations: Pick<OrganizationDirectory, 'isActive'>;
  post: Post;
  shares: WorkShares;
}

// Changes of a delivery compete only with replays.
const MAX_RECORD_ATTEMPTS = 5;

const USER_AGENT = 'Sluice-Webhooks/1';

// While a delivery is pending, at least one message for it is queued. Messages of finished deliveries are dropped.
const sendAgain = (deps: DeliverDependencies, { webhook, id }: Delivery, dueAtMs: number): Promise<void> =>
  sendMessage(deps, { webhook, delivery: id, due_at: dueAtMs });

// If the webhook was changed meanwhile, the next 410 disables it.
const disable = async (deps: DeliverDependencies, webhook: Webhook): Promise<void> => {
  const { id, organization, url } = webhook;
  const nowMs = deps.now();
  const after: Webhook = { ...webhook, enabled: false, disabled_reason: 'gone', updated_at: nowMs };
  const change = {
    action: 'webhook.disabled',
    organization,
    target: { type: 'webhook', id },
    reason: `${new URL(url).host} answered ${GONE} Gone.`,
    before: { enabled: true, disabled_reason: null },
    after: { enabled: false, disabled_reason: 'gone' },
  };
  try {
    await commit(deps, systemOrigin('notifications', nowMs), change, [deps.webhooks.toReplace(after)]);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
  }
};

const attempt = async (deps: DeliverDependencies, delivery: Delivery): Promise<PostResult> => {
  const webhook = await deps.webhooks.find(delivery.organization, delivery.webhook);
  if (!webhook?.enabled) return { status: null, error: 'webhook_disabled' };
  if (!(await deps.organizations.isActive(delivery.organization))) return { status: null, error: 'organization_suspended' };
  const headers = { 'content-type': CLOUD_EVENT_TYPE, 'user-agent': USER_AGENT, ...signedHeaders(webhook, delivery, deps.now()) };
  const result = await deps.post(webhook.url, { headers, body: delivery.body });
  if (result.status === GONE) await disable(deps, webhook);
  return result;
};

const record = async (deps: DeliverDependencies, claimed: Delivery, finished: Attempt): Promise<Delivery | undefined> => {
  let current: Delivery | undefined = claimed;
  for (let changes = 0; changes < MAX_RECORD_ATTEMPTS; changes++) {
    const fields = afterAttempt(current, claimed.begun, finished, deps.now(), deps.random());
    const changed = await deps.deliveries.change(current, fields);
    if (changed) return changed;
    current = await deps.deliveries.find(claimed.webhook, claimed.id);
    if (current?.state !== 'pending') return undefined;
  }
  throw new DatabaseUnavailable(new Error(`${claimed.id} changed during each of ${MAX_RECORD_ATTEMPTS} attempts to record one.`));
};

// If another function holds the lease, the message returns when the lease ends.
const makeAttempt = async (deps: DeliverDependencies, delivery: Delivery, startedAt: number): Promise<void> => {
  const leasedUntil = startedAt + LEASE_MS;
  const claimed = await deps.deliveries.change(delivery, { leased_until: leasedUntil, begun: delivery.begun + 1 });
  if (!claimed) return sendAgain(deps, delivery, leasedUntil);
  const result = await attempt(deps, claimed);
  const after = await record(deps, claimed, { at: startedAt, duration_ms: deps.now() - startedAt, ...result });
  const { id, webhook, organization, type, begun } = claimed;
  logInfo('delivery_attempt', { delivery: id, webhook, organization, type, attempt: begun, ...result, state: after?.state });
  if (after?.state === 'pending') await sendAgain(deps, after, Math.max(after.next_attempt_at, after.leased_until));
};

/**
 * Attempts a delivery that is due, if no other function attempts it and the organization has a share left. Finished and
 * expired deliveries are skipped. If the function crashes, the message is delivered again, and the attempt is repeated
 * with the same id after its lease has ended.
 */
export const attemptDelivery = async (deps: DeliverDependencies, message: Extract<QueuedWork, { delivery: string }>): Promise<void> => {
  const delivery = await deps.deliveries.find(message.webhook, message.delivery);
  if (delivery?.state !== 'pending') return;
  const startedAt = deps.now();
  const dueAt = Math.max(delivery.next_attempt_at, delivery.leased_until);
  if (dueAt > startedAt) return sendAgain(deps, delivery, dueAt);
  const isDone = await deps.shares.use(delivery.organization, () => makeAttempt(deps, delivery, startedAt));
  if (!isDone) await postpone(deps, message);
};
