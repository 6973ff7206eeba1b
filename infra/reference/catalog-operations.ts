import { ModelEntry, ModelList } from '../../functions/catalog/model-entry.ts';
import { Health } from '../../functions/catalog/model-health.ts';
import { KeyFacts } from '../../shared/admission/key-facts.ts';
import type { Scope } from '../../shared/admission/secret.ts';
import { DEPRECATION_HEADERS, LIMIT_HEADERS } from './headers.ts';
import type { Operation } from './operation.ts';
import { serviceOperations } from './service-operations.ts';

const entry = {
  id: 'qwen3-8b',
  object: 'model',
  created: 1_795_219_200,
  owned_by: 'sluice',
  context_length: 32_768,
  max_output_tokens: 8_192,
  pricing: { prompt: '0.00000005', cached_prompt: '0.000000005', completion: '0.0000002' },
  capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false },
  deprecation: null,
};

const keyOf = (scope: Scope) => ({
  id: 'key_4RtYvB8fK2mQx0ZpLw',
  object: 'api_key',
  scope,
  models: null,
  expires_at: null,
  last_used_at: 1_795_219_200,
  requests_per_minute: { limit: 600, remaining: 598, reset_ms: 74_210 },
  tokens_per_minute: { limit: 200_000, remaining: 198_900, reset_ms: 74_210 },
  concurrency: { limit: 32, in_flight: 1 },
  budgets: { day: { limit: '5', remaining: '4.9979' }, month: null, total: null },
});

/** What can be called. */
export const modelOperations: Operation[] = [
  {
    method: 'get',
    path: '/v1/models',
    operationId: 'listModels',
    tag: 'Models',
    summary: 'List models',
    description: 'The models that can be called, by name, with their sizes and prices.',
    isPublic: true,
    success: {
      description: 'Every published model.',
      json: {
        name: 'ModelList',
        schema: ModelList,
        examples: { list: { summary: 'One model', value: { object: 'list', data: [entry] } } },
      },
      headers: ['etag', 'cache-control'],
    },
    errors: [503],
  },
  {
    method: 'get',
    path: '/v1/models/{model}',
    operationId: 'retrieveModel',
    tag: 'Models',
    summary: 'Retrieve a model',
    isPublic: true,
    pathParameters: [
      { name: 'model', description: 'Its name. Slashes in it may be sent as they are or percent-encoded.', example: 'qwen3-8b' },
    ],
    success: {
      description: 'The model.',
      json: { name: 'Model', schema: ModelEntry, examples: { model: { summary: 'A model', value: entry } } },
      headers: ['etag', 'cache-control', ...DEPRECATION_HEADERS],
    },
    errors: [404, 503],
  },
];

/** GET /v1/key of a host. */
export const keyOperation = (scope: Scope): Operation => ({
  method: 'get',
  path: '/v1/key',
  operationId: 'retrieveKey',
  tag: 'Key',
  summary: 'Retrieve your own API key',
  description: 'What the key may do, what is left of its limits, and what it has under way. Asking counts against no limit.',
  success: {
    description: 'The key that was sent.',
    json: { name: 'Key', schema: KeyFacts, examples: { key: { summary: 'A key without an allow-list', value: keyOf(scope) } } },
    headers: LIMIT_HEADERS,
  },
  errors: [503],
});

/** GET /health of a host that generates text. */
export const healthOperation: Operation = {
  method: 'get',
  path: '/health',
  operationId: 'retrieveHealth',
  tag: 'Service',
  summary: 'Whether the host can serve',
  isPublic: true,
  success: {
    description: 'What every request needs answers.',
    json: {
      name: 'Health',
      schema: Health,
      examples: { health: { summary: 'All is well', value: { status: 'ok', models: { 'qwen3-8b': 'available' } } } },
    },
  },
  errors: [503],
};

/** What the serverless host answers by itself, without a model. */
export const catalogOperations: Operation[] = [...modelOperations, keyOperation('serverless'), healthOperation, ...serviceOperations];
