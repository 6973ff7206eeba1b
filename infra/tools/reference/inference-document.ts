import { Health } from '../../../functions/catalog/model-health.ts';
import { keyOperation, modelOperations, responseOperations } from '../../../functions/catalog/operations.ts';
import { chatOperation, chatParts } from '../../../functions/inference/chat/operation.ts';
import { completionOperation } from '../../../functions/inference/completions/operation.ts';
import { embeddingsOperation } from '../../../functions/inference/embeddings/operation.ts';
import { messagesOperations } from '../../../functions/inference/messages/operation.ts';
import { rerankOperations } from '../../../functions/inference/rerank/operation.ts';
import { responseOperation } from '../../../functions/inference/responses/operation.ts';
import { tokenizeOperations } from '../../../functions/inference/tokenize/operations.ts';
import type { HostScope } from '../../../shared/hosts/host.ts';
import { type InferenceTag, type OperationsById, routesOfHost } from '../../../shared/hosts/inference-routes.ts';
import type { Operation } from '../../../shared/hosts/operation.ts';
import { API_VERSIONS } from '../../../shared/hosts/service-routes.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';
import { createDocument, type HostDocument } from './document.ts';
import { fieldDocs } from './field-docs.ts';
import { inferenceErrorReplies } from './inference-errors.ts';
import type { JsonSchema } from './json-schema.ts';
import { onDemandErrorReplies } from './on-demand-errors.ts';
import { OwnHealth, onDemandOperation } from './on-demand-operations.ts';
import { serviceOperations } from './service-operations.ts';

type Tag = InferenceTag | 'Service';

const SERVERLESS_DESCRIPTION = `This host generates text and is compatible with OpenAI's clients. Set a client's base URL to this host's \`/v1\`, and its API key to one of your keys.

Send the API key in the header \`Authorization: Bearer <API key>\`. The \`x-ratelimit-*\` headers of responses show the key's limits. After a 429,
wait for the time in \`retry-after\`. Every response has an \`x-request-id\`. Errors have one format: \`error\` with \`message\`, \`type\`, \`param\` and
\`code\`. In a 401, \`error\` is a string. Every path supports OPTIONS, and HEAD if it supports GET. Other methods return 405 and list the supported
ones in \`allow\`.`;

const ON_DEMAND_DESCRIPTION = `This host serves your own deployments and is compatible with OpenAI's clients. Set a client's base URL to this host's \`/v1\`, and its API key to an
on-demand key. Send the header \`X-User-Id\` with every request.

Send the API key in the header \`Authorization: Bearer <API key>\`; keys for the serverless host do not work here. \`model\` is the served name of a
deployment of your organization. \`GET ${MODELS_PATH}\` lists the deployments that the key can use. \`X-User-Id\` is the id of your end user, a UUID. Requests
of one user go to the same target of a deployment for as long as that target is available, and the id is stored with the usage of each request.

The \`x-ratelimit-*\` headers of responses show the key's limits. After a 429 or a 503, wait for the time in \`retry-after\`. Every response has an
\`x-request-id\`. Errors have one format: \`error\` with \`message\`, \`type\`, \`param\` and \`code\`. In a 401, \`error\` is a string. Every path
supports OPTIONS, and HEAD if it supports GET. Other methods return 405 and list the supported ones in \`allow\`.`;

const TAGS = {
  Inference: 'Generate text.',
  Embeddings: 'Create the vectors of texts, for search and comparison, and rank documents.',
  Messages: 'Create messages with the Messages API of Anthropic.',
  Responses: 'Create and manage responses with the Responses API.',
  Tokens: 'Convert text to tokens and back.',
  Models: 'The models that can be called, and their prices.',
  Key: 'Your own API key.',
  Service: 'The health, the version and the reference of this host.',
} as const satisfies Record<InferenceTag | 'Service', string>;

const facts = {
  version: API_VERSIONS.inference,
  security: { api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' } },
  tags: TAGS,
  fieldDocs,
  parts: chatParts,
  replyDirection: 'input',
  idempotency:
    'A key of your choice, up to 255 visible ASCII characters. Use a new key for each new request. A request that is repeated with the same key within 24 hours returns the first result and is charged only once. While the first request is in progress, the response is a 409. The same key with a different body returns 422. Only completed results are stored, and no result of an API key with `no_content` or a response with `store: false`: repeating such a request is a 409. After a request was rejected or failed, its key can be used again.',
  impliedErrors: ({ access }) => (access === 'public' ? [] : [401, 429]),
} as const satisfies Partial<HostDocument<Tag>>;

const HOSTS: Readonly<Record<HostScope, HostDocument<Tag>>> = {
  serverless: { ...facts, title: 'Sluice', description: SERVERLESS_DESCRIPTION, errorReplies: inferenceErrorReplies },
  on_demand: { ...facts, title: 'Sluice on-demand', description: ON_DEMAND_DESCRIPTION, errorReplies: onDemandErrorReplies },
};

const health = (models: Record<string, string>, schema = Health) => ({
  name: 'Health',
  schema,
  examples: { health: { summary: 'Healthy', value: { status: 'ok', models } } },
});

/** All operations of a host, in the order of the reference. */
export const operations = (host: HostScope): Operation<Tag>[] => {
  const factsById: Required<OperationsById> = {
    createChatCompletion: chatOperation,
    createCompletion: completionOperation,
    createEmbeddings: embeddingsOperation,
    ...rerankOperations,
    createResponse: responseOperation,
    ...messagesOperations,
    ...responseOperations,
    ...tokenizeOperations,
    ...modelOperations,
    retrieveKey: keyOperation(host),
  };
  const served = routesOfHost(host).map(({ id, method, path }): Operation<Tag> => ({ operationId: id, method, path, ...factsById[id] }));
  if (host === 'on_demand') return [...served.map(onDemandOperation), ...serviceOperations(health({}, OwnHealth))];
  return [...served, ...serviceOperations(health({ 'qwen3-8b': 'available' }))];
};

/** The OpenAPI 3.1 document of a host that serves models. */
export const openApiDocument = (host: HostScope): JsonSchema => createDocument(operations(host), HOSTS[host]);
