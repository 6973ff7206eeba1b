import { pageOf } from '../../../shared/http/page.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';
import { createRoute } from '../access/route.ts';
import { SHORT_PAGES } from '../lists/filtered-page.ts';
import { ApiKey, ApiKeyUpdate, ApiKeyWithSecret, NewApiKey, Rotation } from './api-key.ts';
import { toWire, visibleKey } from './api-key-rights.ts';
import { ApiKeyUsage, apiKeyUsage, UsageQuery } from './api-key-usage.ts';
import { revokeApiKey, rotateApiKey, updateApiKey } from './change-api-key.ts';
import { createApiKey } from './create-api-key.ts';
import { KeysQuery, listApiKeys } from './list-api-keys.ts';
import { createPlaygroundKey, type PlaygroundKeyDependencies } from './playground-key.ts';

const route = createRoute<PlaygroundKeyDependencies & { rollups: RollupStore }>('API keys');
const apiKeys = '/v1/api-keys';
const oneApiKey = `${apiKeys}/{id}`;
const parameters = { id: { description: 'The id of an API key.', example: 'key_VbdBUPc4RtYvB8fK2m' } } as const;
const key = { name: 'ApiKey', schema: ApiKey };
const secret = { name: 'ApiKeyWithSecret', schema: ApiKeyWithSecret };

export const apiKeyRoutes = [
  route(
    {
      method: 'POST',
      path: apiKeys,
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        'The response contains the secret, which is shown only once. Other limits than the default ones require `keys:limit`. A member can have a limited number of keys. A `playground` key expires by itself, within an hour: a user can have five at a time.',
      access: 'keys:write',
      limits: ['api_keys', 'playground_keys'],
      body: {
        name: 'NewApiKey',
        schema: NewApiKey,
        example: { name: 'production', models: ['qwen3-8b'], limits: { requests_per_minute: 600 }, budgets: { month: '100' } },
      },
      reply: { status: 201, description: 'The API key with its secret.', json: secret },
      errors: [400, 404, 409, 429, 503],
    },
    ({ deps, actor, body }) => (body.purpose === 'playground' ? createPlaygroundKey : createApiKey)(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: apiKeys,
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: `Owners see all keys of the organization; members see their own. Playground keys and those of workloads are listed for their \`purpose\` only. ${SHORT_PAGES}`,
      access: 'keys:read',
      query: KeysQuery,
      reply: { status: 200, description: 'A page of API keys, newest first.', json: { name: 'ApiKeyList', schema: pageOf(ApiKey) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listApiKeys(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneApiKey,
      operationId: 'retrieveApiKey',
      summary: 'Retrieve an API key',
      access: 'keys:read',
      parameters,
      reply: { status: 200, description: 'The key.', json: key },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters: { id = '' } }) => toWire(deps.limiters, await visibleKey(deps, actor, id)),
  ),
  route(
    {
      method: 'PATCH',
      path: oneApiKey,
      operationId: 'updateApiKey',
      summary: 'Update an API key',
      description:
        'Fields that you omit keep their values. The change applies from the next request on. Changing limits and budgets, or loosening what an owner set, requires `keys:limit`. Temporary keys, whose purpose is not `standard`, can only be revoked.',
      access: 'keys:write',
      parameters,
      isVersioned: true,
      body: { name: 'ApiKeyUpdate', schema: ApiKeyUpdate, example: { name: 'production', budgets: { month: '250' } } },
      reply: { status: 200, description: 'The key.', json: key },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateApiKey(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneApiKey}/rotate`,
      operationId: 'rotateApiKey',
      summary: 'Rotate the secret of an API key',
      description:
        'The previous secret keeps working for the overlap that you choose. The response contains the new secret, shown only once.',
      access: 'keys:write',
      parameters,
      isVersioned: true,
      body: { name: 'Rotation', schema: Rotation, example: { overlap_seconds: 3_600 } },
      reply: { status: 200, description: 'The API key with its new secret.', json: secret },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => rotateApiKey(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: oneApiKey,
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The key stops working permanently, from its next request on. It stays in the list because usage refers to it.',
      access: 'keys:write',
      parameters,
      isVersioned: true,
      reply: { status: 200, description: 'The revoked API key.', json: key },
      errors: [404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => revokeApiKey(deps, actor, id, expected),
  ),
  route(
    {
      method: 'GET',
      path: `${oneApiKey}/usage`,
      operationId: 'retrieveApiKeyUsage',
      summary: 'Retrieve the usage of an API key',
      access: 'usage:read',
      limits: ['searches'],
      parameters,
      query: UsageQuery,
      reply: {
        status: 200,
        description: 'The usage by day and model, and what remains of the limits.',
        json: { name: 'ApiKeyUsage', schema: ApiKeyUsage },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => apiKeyUsage(deps, actor, id, query),
  ),
];
