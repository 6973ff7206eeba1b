import { createHash } from 'node:crypto';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, InvalidRequest, InvalidValue, ResourceNotFound } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { Networks } from '../../../shared/network/networks.ts';
import { urlFault } from '../../../shared/network/url-fault.ts';
import type { DeliveryStore } from '../../../shared/notifications/delivery-store.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { Webhook } from '../../../shared/notifications/webhook.ts';
import type { WebhookStore } from '../../../shared/notifications/webhook-store.ts';
import { type Actor, type ActorChecks, organizationFor } from '../access/actor.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import {
  type NewWebhook,
  newWebhookSecret,
  type SecretRotation,
  toWebhookResource,
  type WebhookResource,
  type WebhookUpdate,
  type WebhookWithSecret,
} from './webhook-resource.ts';

export interface WebhookDependencies extends AuditDependencies {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  outbox: Outbox;
  /** Decides which addresses webhooks can have. */
  networks: Networks;
  users: ActorChecks;
  organizations: Pick<OrganizationStore, 'toCheckActive'>;
}

/** The webhook of a request. `organization` is undefined unless an admin names it. */
export interface WebhookPlace {
  id: string;
  organization: string | undefined;
}

type Expected = readonly number[] | undefined;

const checkUrl = (networks: Networks, url: string): void => {
  const fault = urlFault(networks, url);
  if (fault !== undefined) throw new InvalidValue('url', fault, 'invalid_webhook_url');
};

/** Returns a webhook of the actor's organization, or of the one that an admin names. @throws 400, 404 */
export const visibleWebhook = async (
  { webhooks }: Pick<WebhookDependencies, 'webhooks'>,
  actor: Actor,
  { id, organization }: WebhookPlace,
): Promise<Webhook> => {
  const webhook = await webhooks.find(organizationFor(actor, organization), id);
  if (!webhook) throw new ResourceNotFound('webhook', id);
  return webhook;
};

// A path or a query can be a secret, as those of Slack, Discord and Teams are, so it is hashed.
const recordedUrl = (url: string): string => {
  const { origin, pathname, search } = new URL(url);
  return `${origin}/[sha256:${createHash('sha256')
    .update(pathname + search)
    .digest('hex')}]`;
};

// Without secrets.
const recorded = ({ url, types, description, enabled, disabled_reason }: Webhook) => ({
  url: recordedUrl(url),
  types,
  description,
  enabled,
  disabled_reason,
});

interface Change {
  action: string;
  before?: Webhook;
  after?: Webhook;
}

const save = (
  deps: WebhookDependencies,
  actor: Actor,
  { id, organization }: Webhook,
  { action, before, after }: Change,
  writes: readonly Write[],
): Promise<void> =>
  commit(
    deps,
    actor.origin,
    {
      action,
      organization,
      target: { type: 'webhook', id },
      ...(before && { before: recorded(before) }),
      ...(after && { after: recorded(after) }),
      texts: ['description'],
    },
    [...deps.users.toCheckActor(actor), ...writes],
  );

const differentOrganizations = (): InvalidRequest =>
  new InvalidRequest({
    param: 'organization',
    message: "'organization' has different values in the query and the body. Send it in only one of them.",
  });

/**
 * Creates a webhook with a new secret.
 * @param inQuery the organization in the query
 * @throws 400, 403 and 404 for its organization, 409
 */
export const createWebhook = async (
  deps: WebhookDependencies,
  actor: Actor,
  { organization: inBody, ...body }: NewWebhook,
  inQuery?: string,
): Promise<WebhookWithSecret> => {
  const named = inQuery ?? inBody;
  if (inBody !== undefined && inBody !== named) throw differentOrganizations();
  checkUrl(deps.networks, body.url);
  const { nowMs } = actor.origin;
  const secret = newWebhookSecret();
  const webhook: Webhook = {
    id: newTimedId('webhook', nowMs),
    organization: organizationFor(actor, named),
    ...body,
    enabled: true,
    disabled_reason: null,
    secret,
    previous_secret: null,
    previous_secret_until: null,
    created_at: nowMs,
    updated_at: nowMs,
    version: 1,
  };
  await save(deps, actor, webhook, { action: 'webhook.created', after: webhook }, [
    deps.organizations.toCheckActive(webhook.organization),
    ...deps.webhooks.toCreate(webhook),
  ]);
  return { ...toWebhookResource(webhook, actor), secret };
};

const replace = async (
  deps: WebhookDependencies,
  actor: Actor,
  before: Webhook,
  action: string,
  fields: Partial<Webhook>,
): Promise<WebhookResource> => {
  const { nowMs } = actor.origin;
  const after: Webhook = { ...before, ...fields, updated_at: nowMs };
  await save(deps, actor, before, { action, before, after }, [deps.webhooks.toReplace(after)]);
  return toWebhookResource({ ...after, version: after.version + 1 }, actor);
};

/**
 * Changes a webhook; absent fields keep their values. The next attempt of each delivery uses them.
 * @throws 400, 404, 412
 */
export const updateWebhook = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
  body: WebhookUpdate,
  expected?: Expected,
): Promise<WebhookResource> => {
  const before = checkVersion(await visibleWebhook(deps, actor, place), expected);
  if (body.url !== undefined) checkUrl(deps.networks, body.url);
  const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<Webhook>;
  return replace(deps, actor, before, 'webhook.updated', { ...changes, ...(body.enabled && { disabled_reason: null }) });
};

// A client that repeats a rotation because its response was lost would end the secret that its receiver knows.
const rotating = (): Conflict =>
  new Conflict({
    code: 'rotation_under_way',
    message:
      "The previous secret is still valid during its overlap; rotating again would revoke it now. To rotate anyway, send the webhook's ETag in If-Match, or set overlap_seconds to 0.",
  });

/**
 * Gives a webhook a new secret. The previous one signs as well during the overlap; earlier ones do not.
 * @throws 400, 404, 409, 412
 */
export const rotateWebhook = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
  { overlap_seconds }: SecretRotation,
  expected?: Expected,
): Promise<WebhookWithSecret> => {
  const before = checkVersion(await visibleWebhook(deps, actor, place), expected);
  const { nowMs } = actor.origin;
  const overlaps = overlap_seconds > 0;
  if (overlaps && !expected && (before.previous_secret_until ?? 0) > nowMs) throw rotating();
  const secret = newWebhookSecret();
  const resource = await replace(deps, actor, before, 'webhook.rotated', {
    secret,
    previous_secret: overlaps ? before.secret : null,
    previous_secret_until: overlaps ? nowMs + overlap_seconds * 1_000 : null,
  });
  return { ...resource, secret };
};

/** Deletes a webhook. Its pending deliveries are dropped. @throws 400, 404, 412 */
export const deleteWebhook = async (
  deps: WebhookDependencies,
  actor: Actor,
  place: WebhookPlace,
  expected?: Expected,
): Promise<{ id: string; object: 'webhook'; deleted: true }> => {
  const before = checkVersion(await visibleWebhook(deps, actor, place), expected);
  await save(deps, actor, before, { action: 'webhook.deleted', before }, deps.webhooks.toDelete(before));
  return { id: before.id, object: 'webhook', deleted: true };
};

/** Lists an organization's webhooks, oldest first. @throws 400, 404 */
export const listWebhooks = async (
  { webhooks }: WebhookDependencies,
  actor: Actor,
  organization: string | undefined,
): Promise<{ object: 'list'; data: WebhookResource[]; has_more: false; next: null }> => {
  const listed = await webhooks.list(organizationFor(actor, organization));
  const data = listed.map((webhook) => toWebhookResource(webhook, actor));
  return { object: 'list', data, has_more: false, next: null };
};
