import * as z from 'zod';
import { pageOf, pageQueryOf } from '../../../shared/http/page.ts';
import { DeliveryState } from '../../../shared/notifications/delivery.ts';
import { createRoute } from '../access/route.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { listDeliveries, replayDelivery, testWebhook } from './deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateWebhook,
  updateWebhook,
  visibleWebhook,
  type WebhookDependencies,
} from './manage-webhooks.ts';
import {
  DeletedWebhook,
  DeliveryResource,
  NewWebhook,
  SecretRotation,
  toWebhookResource,
  WebhookResource,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from './webhook-resource.ts';

const route = createRoute<WebhookDependencies>('Webhooks');
const webhooks = '/v1/webhooks';
const oneWebhook = `${webhooks}/{id}`;
const deliveries = `${oneWebhook}/deliveries`;
const parameters = { id: { description: 'The id of a webhook.', example: 'wh_VbdBUPc4RtYvB8fK2m' } } as const;
const webhook = { name: 'Webhook', schema: WebhookResource };
const secret = { name: 'WebhookWithSecret', schema: WebhookWithSecret };

const organization = OrganizationId.optional().meta({
  description: 'The organization of the webhook. Required for admins; otherwise your own organization.',
});
const OrganizationQuery = z.strictObject({ organization });
const DeliveriesQuery = z.strictObject({
  ...pageQueryOf('delivery'),
  organization,
  state: DeliveryState.optional().meta({ description: 'Only deliveries in this state. `dead` lists those that were given up.' }),
});

const placeOf = ({ id = '' }: Record<string, string>, query: { organization?: string | undefined }) => ({
  id,
  organization: query.organization,
});

export const webhookRoutes = [
  route(
    {
      method: 'POST',
      path: webhooks,
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The response contains the secret that signs the deliveries, which is shown only once. An organization can have at most 20 webhooks.',
      access: 'webhooks:write',
      query: z.strictObject({
        organization: OrganizationId.optional().meta({
          description: 'The organization to notify. Admins name it here or in the body; otherwise your own organization.',
        }),
      }),
      body: {
        name: 'NewWebhook',
        schema: NewWebhook,
        example: { url: 'https://example.com/webhooks', types: ['sluice.invoice.issued.v1'], description: 'Accounting' },
      },
      reply: { status: 201, description: 'The webhook with its secret.', json: secret },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, query, body }) => createWebhook(deps, actor, body, query.organization),
  ),
  route(
    {
      method: 'GET',
      path: webhooks,
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      access: 'webhooks:read',
      query: OrganizationQuery,
      reply: {
        status: 200,
        description: 'All webhooks of the organization, oldest first.',
        json: { name: 'WebhookList', schema: pageOf(WebhookResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listWebhooks(deps, actor, query.organization),
  ),
  route(
    {
      method: 'GET',
      path: oneWebhook,
      operationId: 'retrieveWebhook',
      summary: 'Retrieve a webhook',
      access: 'webhooks:read',
      parameters,
      query: OrganizationQuery,
      reply: { status: 200, description: 'The webhook, without its secret.', json: webhook },
      errors: [400, 404, 503],
    },
    async ({ deps, actor, parameters: path, query }) => toWebhookResource(await visibleWebhook(deps, actor, placeOf(path, query)), actor),
  ),
  route(
    {
      method: 'PATCH',
      path: oneWebhook,
      operationId: 'updateWebhook',
      summary: 'Update a webhook',
      description:
        'Fields that you omit keep their values. Pending deliveries are sent to the new URL. While a webhook is disabled, no events are sent to it, and deliveries that come due become `dead`.',
      access: 'webhooks:write',
      parameters,
      query: OrganizationQuery,
      isVersioned: true,
      body: { name: 'WebhookUpdate', schema: WebhookUpdate, example: { enabled: false } },
      reply: { status: 200, description: 'The webhook.', json: webhook },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, query, body, expected }) => updateWebhook(deps, actor, placeOf(path, query), body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneWebhook}/rotate`,
      operationId: 'rotateWebhook',
      summary: 'Rotate the secret of a webhook',
      description: 'During the overlap, each delivery has two signatures. The response contains the new secret, shown only once.',
      access: 'webhooks:write',
      parameters,
      query: OrganizationQuery,
      isVersioned: true,
      body: { name: 'SecretRotation', schema: SecretRotation, example: { overlap_seconds: 86_400 } },
      reply: { status: 200, description: 'The webhook with its new secret.', json: secret },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: path, query, body, expected }) => rotateWebhook(deps, actor, placeOf(path, query), body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneWebhook}/test`,
      operationId: 'testWebhook',
      summary: 'Test a webhook',
      description:
        'Sends an event of the type `sluice.webhook.test.v1` to this webhook. Its delivery is in the list of deliveries shortly after.',
      access: 'webhooks:write',
      limits: ['webhook_tests'],
      parameters,
      query: OrganizationQuery,
      reply: { status: 202, description: 'The event.', json: { name: 'WebhookTest', schema: WebhookTest } },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, parameters: path, query }) => testWebhook(deps, actor, placeOf(path, query)),
  ),
  route(
    {
      method: 'DELETE',
      path: oneWebhook,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Its pending deliveries are dropped.',
      access: 'webhooks:write',
      parameters,
      query: OrganizationQuery,
      isVersioned: true,
      reply: { status: 200, description: 'The webhook was deleted.', json: { name: 'DeletedWebhook', schema: DeletedWebhook } },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, query, expected }) => deleteWebhook(deps, actor, placeOf(path, query), expected),
  ),
  route(
    {
      method: 'GET',
      path: deliveries,
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description:
        'Deliveries are kept for 45 days. A page of one state can be short or empty although there are more; continue with `next`.',
      access: 'webhooks:read',
      limits: ['searches'],
      parameters,
      query: DeliveriesQuery,
      reply: {
        status: 200,
        description: 'A page of deliveries, newest first.',
        json: { name: 'WebhookDeliveryList', schema: pageOf(DeliveryResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: path, query }) => listDeliveries(deps, actor, placeOf(path, query), query),
  ),
  route(
    {
      method: 'POST',
      path: `${deliveries}/{delivery}/replay`,
      operationId: 'replayWebhookDelivery',
      summary: 'Replay a delivery',
      description:
        'Sends the event again with the same `webhook-id` and body, whatever became of the delivery. It gets all its attempts again. While an attempt is being made, or is about to be, the response is a 409 `attempt_under_way`.',
      access: 'webhooks:write',
      limits: ['webhook_replays'],
      parameters: { ...parameters, delivery: { description: 'The id of a delivery.', example: 'dlv_VbdBUPc4RtYvB8fK2m' } },
      query: OrganizationQuery,
      reply: { status: 202, description: 'The delivery, pending again.', json: { name: 'WebhookDelivery', schema: DeliveryResource } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: path, query }) => replayDelivery(deps, actor, placeOf(path, query), path.delivery ?? ''),
  ),
];
