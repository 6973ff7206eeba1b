import { KeyFacts } from '../../shared/admission/item/key-facts.ts';
import type { HostScope } from '../../shared/hosts/host.ts';
import type { OperationFacts, OperationsById } from '../../shared/hosts/inference-routes.ts';
import { DEPRECATION_HEADERS, LIMIT_HEADERS } from '../../shared/http/reply-headers.ts';
import { InputItemsQuery, listInputItems } from '../../shared/responses/input-items.ts';
import { DeletedResponse, InputItemList, ResponseReply } from '../../shared/responses/reply-schema.ts';
import { ModelEntry, ModelList, modelListOf } from './model-entry.ts';

const entry: ModelEntry = {
  id: 'qwen3-8b',
  object: 'model',
  type: 'model',
  display_name: 'qwen3-8b',
  created: 1_795_219_200,
  created_at: '2026-11-21T00:00:00.000Z',
  owned_by: 'sluice',
  alias_of: null,
  task: 'generate',
  embedding: null,
  fallbacks: [],
  context_length: 32_768,
  max_output_tokens: 8_192,
  max_input_tokens: 32_768,
  max_tokens: 8_192,
  pricing: { prompt: '0.00000005', cached_prompt: '0.000000005', completion: '0.0000002' },
  capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false, structured_outputs: true },
  deprecation: null,
};

const keyOf = (scope: HostScope) => ({
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

const responseId = 'resp_8fK2mQx0ZpLw4RtYvB';
const ofResponse = {
  tag: 'Responses',
  access: 'api_key',
  parameters: { id: { description: 'The id of a response of your organization.', example: responseId } },
} as const;
const items = listInputItems(
  { response: { id: responseId, output: [] }, input: [{ role: 'user', content: 'What is a sluice?' }], before: [], depth: 1 },
  InputItemsQuery.parse({}),
);

/** The stored responses of an organization. */
export const responseOperations = {
  retrieveResponse: {
    ...ofResponse,
    summary: 'Retrieve a response',
    description: 'Returns the response as it was created. A stored response cannot be streamed: `stream=true` returns 400.',
    reply: { status: 200, description: 'The response.', json: { name: 'Response', schema: ResponseReply }, headers: LIMIT_HEADERS },
    errors: [400, 404, 429, 503],
  },
  deleteResponse: {
    ...ofResponse,
    summary: 'Delete a response',
    description:
      'A deleted response can no longer be retrieved or continued, and its result is deleted under its idempotency key too. Responses that already continue it keep its conversation. A response that is still in progress returns 404, and will not be stored.',
    reply: {
      status: 200,
      description: 'The response was deleted.',
      json: {
        name: 'DeletedResponse',
        schema: DeletedResponse,
        examples: { deleted: { summary: 'A deleted response', value: { id: responseId, object: 'response', deleted: true } } },
      },
      headers: LIMIT_HEADERS,
    },
    errors: [404, 429, 503],
  },
  listInputItems: {
    ...ofResponse,
    summary: 'List the input items of a response',
    description: 'Lists the items of the `input` of the response, without the conversation that it continues.',
    query: InputItemsQuery,
    reply: {
      status: 200,
      description: 'A page of items.',
      json: { name: 'InputItemList', schema: InputItemList, examples: { list: { summary: 'One message', value: items } } },
      headers: LIMIT_HEADERS,
    },
    errors: [400, 404, 429, 503],
  },
} as const satisfies OperationsById;

/** The models that can be called. */
export const modelOperations = {
  listModels: {
    tag: 'Models',
    summary: 'List models',
    description:
      'Lists the models that can be called, by name, with their context lengths and prices. An alias is an entry of its own, with its model in `alias_of`. `limit`, `after_id` and `before_id` have no effect.',
    access: 'public',
    reply: {
      status: 200,
      description: 'All published models.',
      json: {
        name: 'ModelList',
        schema: ModelList,
        examples: { list: { summary: 'One model', value: modelListOf([entry]) } },
      },
      headers: ['etag', 'cache-control'],
    },
    errors: [503],
  },
  retrieveModel: {
    tag: 'Models',
    summary: 'Retrieve a model',
    access: 'public',
    parameters: {
      model: { description: 'The name of the model, or an alias. Slashes can be sent as they are or percent-encoded.', example: entry.id },
    },
    reply: {
      status: 200,
      description: 'The model.',
      json: { name: 'Model', schema: ModelEntry, examples: { model: { summary: 'A model', value: entry } } },
      headers: ['etag', 'cache-control', ...DEPRECATION_HEADERS],
    },
    errors: [404, 503],
  },
} as const satisfies OperationsById;

/** The key that calls this host. */
export const keyOperation = (scope: HostScope): OperationFacts => ({
  tag: 'Key',
  summary: 'Retrieve your own API key',
  description:
    'Returns the permissions of the key, its remaining limits and its requests in progress. Does not count towards the limits of the key, but a key can read only about ten times per second: 429 above that.',
  access: 'api_key',
  reply: {
    status: 200,
    description: 'The key that sent the request.',
    json: { name: 'Key', schema: KeyFacts, examples: { key: { summary: 'A key without an allow-list', value: keyOf(scope) } } },
    headers: LIMIT_HEADERS,
  },
  errors: [429, 503],
});
