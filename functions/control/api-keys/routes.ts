import * as z from 'zod';
import { pageOf, pageQuery } from '../../../shared/http/page.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';
import { createRoute } from '../access/route.ts';
import { ApiKey, ApiKeyUpdate, ApiKeyWithSecret, NewApiKey, Rotation } from './api-key.ts';
import { listApiKeys, toWire, visibleKey } from './api-key-rights.ts';
import { ApiKeyUsage, apiKeyUsage, UsageQuery } from './api-key-usage.ts';
import { revokeApiKey, rotateApiKey, updateApiKey } from './change-api-key.ts';
import { type ApiKeyDependencies, createApiKey } from './create-api-key.ts';

const route = createRoute<ApiKeyDependencies & { rollups: RollupStore }>();

const tag = 'API keys';
const apiKeys = '/v1/api-keys';
const oneApiKey = '/v1/api-keys/{id}';
const parameters = { id: { description: 'The id of an API key.', example: 'key_VbdBUPc4RtYvB8fK2m' } } as const;
const key = { name: 'ApiKey', schema: ApiKey };
const secret = { name: 'ApiKeyWithSecret', schema: ApiKeyWithSecret };

const KeysQuery = z.strictObject({
  ...pageQuery,
  organization: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Whose keys. For an admin, who names it; else your own organization’s.' }),
});

export const apiKeyRoutes = [
  route(
    {
      method: 'POST',
      path: apiKeys,
      operationId: 'createApiKey',
      tag,
      summary: 'Create an API key',
      description: 'The reply has the key itself, this once. A member’s keys have the default limits; owners set others.',
      access: 'member',
      body: {
        name: 'NewApiKey',
        schema: NewApiKey,
        example: { name: 'production', models: ['qwen3-8b'], limits: { requests_per_minute: 600 }, budgets: { month: '100' } },
      },
      reply: { status: 201, description: 'The key, with its secret.', json: secret },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, body }) => createApiKey(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: apiKeys,
      operationId: 'listApiKeys',
      tag,
      summary: 'List API keys',
      description: 'An owner sees those of the organization, a member their own.',
      access: 'member',
      query: KeysQuery,
      reply: { status: 200, description: 'A page of them, the newest first.', json: { name: 'ApiKeyList', schema: pageOf(ApiKey) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listApiKeys(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneApiKey,
      operationId: 'retrieveApiKey',
      tag,
      summary: 'Retrieve an API key',
      access: 'member',
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
      tag,
      summary: 'Change an API key',
      description: 'What is absent stays as it is. Requests notice at once. Limits and budgets are for owners to change.',
      access: 'member',
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
      path: '/v1/api-keys/{id}/rotate',
      operationId: 'rotateApiKey',
      tag,
      summary: 'Give an API key a new secret',
      description: 'The one before opens for as long as you say; both share the key’s limits. The reply has the new one, this once.',
      access: 'member',
      parameters,
      isVersioned: true,
      body: { name: 'Rotation', schema: Rotation, example: { overlap_seconds: 3_600 } },
      reply: { status: 200, description: 'The key, with its new secret.', json: secret },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => rotateApiKey(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'DELETE',
      path: oneApiKey,
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke an API key',
      description: 'It opens nothing from the next request on, for good. It stays listed, because the bill names it.',
      access: 'member',
      parameters,
      isVersioned: true,
      reply: { status: 200, description: 'The key, revoked.', json: key },
      errors: [404, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => revokeApiKey(deps, actor, id, expected),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/api-keys/{id}/usage',
      operationId: 'retrieveApiKeyUsage',
      tag,
      summary: 'What an API key has used',
      access: 'member',
      parameters,
      query: UsageQuery,
      reply: {
        status: 200,
        description: 'By day and model, with what is left of its limits.',
        json: { name: 'ApiKeyUsage', schema: ApiKeyUsage },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => apiKeyUsage(deps, actor, id, query),
  ),
];
