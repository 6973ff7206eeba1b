import { Health } from '../../functions/catalog/model-health.ts';
import { keyOperation, modelOperations, responseOperations } from '../../functions/catalog/operations.ts';
import { chatOperation, chatParts } from '../../functions/inference/chat/operation.ts';
import { completionOperation } from '../../functions/inference/completions/operation.ts';
import { responseOperation } from '../../functions/inference/responses/operation.ts';
import { tokenizeOperations } from '../../functions/inference/tokenize/operations.ts';
import type { Scope } from '../../shared/hosts/host.ts';
import type { InferenceTag } from '../../shared/hosts/inference-routes.ts';
import type { Operation } from '../../shared/hosts/operation.ts';
import { API_VERSIONS } from '../../shared/hosts/service-routes.ts';
import { createDocument, type HostDocument } from './document.ts';
import { fieldDocs } from './field-docs.ts';
import { inferenceErrorReplies } from './inference-errors.ts';
import type { JsonSchema } from './json-schema.ts';
import { onDemandErrorReplies } from './on-demand-errors.ts';
import { OwnHealth, ofDeployment, ofKey } from './on-demand-operations.ts';
import { serviceOperations } from './service-operations.ts';

type Tag = InferenceTag | 'Service';

/** What a deployment decides about the document. */
export interface DocumentOptions {
  /** Whether `response_format` may be a `json_schema`. */
  structuredOutputs: boolean;
  /** The host; `serverless` by default. */
  host?: Scope;
}

const SERVERLESS_DESCRIPTION = `Text generation behind the interface of OpenAI's clients: give one of them this host's \`/v1\` as its base URL and an API key.

An API key goes into the header \`Authorization: Bearer <API key>\`. Its limits are in the \`x-ratelimit-*\` headers of every reply; a reply of
429 says in \`retry-after\` when to try again. Every reply has an \`x-request-id\`. Errors have one body: \`error\` with \`message\`, \`type\`,
\`param\` and \`code\`; only a 401's \`error\` is a string. A path takes HEAD where it takes GET, and OPTIONS; another
method is a 405 that names them in \`allow\`.`;

const ON_DEMAND_DESCRIPTION = `Your own deployments behind the interface of OpenAI's clients: give one of them this host's \`/v1\` as its base URL, an on-demand API
key, and the header \`X-User-Id\` with every request.

The API key goes into the header \`Authorization: Bearer <API key>\`; a key of the serverless host does not open this one. \`model\` is the served
name of a deployment of your organization: \`GET /v1/models\` lists those that the key may use. \`X-User-Id\` is the id of your end user, a UUID:
the same user is answered by the same one of a deployment's targets while that one serves, and the usage of each request is kept with it.

Limits of the key are in the \`x-ratelimit-*\` headers of every reply; a reply of 429 or 503 says in \`retry-after\` when to try again. Every reply
has an \`x-request-id\`. Errors have one body: \`error\` with \`message\`, \`type\`, \`param\` and \`code\`; only a 401's \`error\` is a string. A path
takes HEAD where it takes GET, and OPTIONS; another method is a 405 that names them in \`allow\`.`;

const TAGS = {
  Inference: 'Ask a model.',
  Responses: 'Ask a model in the words of the Responses API.',
  Tokens: 'What a text is to a model.',
  Models: 'What can be called, and what it costs.',
  Key: 'Your own API key.',
  Service: 'The host itself.',
} as const satisfies Record<InferenceTag | 'Service', string>;

const facts = {
  version: API_VERSIONS.inference,
  security: { api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' } },
  tags: TAGS,
  fieldDocs,
  parts: chatParts,
  replyDirection: 'input',
  idempotency:
    'The same request with the same key within 24 hours is answered with the first result and charged once: up to 255 visible ASCII characters of your choice, new for each new request. While the first is under way the answer is a 409, with another body a 422. Only what completed is kept; a request that was refused or failed frees its key.',
  impliedErrors: ({ access }) => (access === 'public' ? [] : [401]),
} as const satisfies Partial<HostDocument<Tag>>;

const HOSTS: Readonly<Record<Scope, HostDocument<Tag>>> = {
  serverless: { ...facts, title: 'Sluice', description: SERVERLESS_DESCRIPTION, errorReplies: inferenceErrorReplies },
  on_demand: { ...facts, title: 'Sluice on-demand', description: ON_DEMAND_DESCRIPTION, errorReplies: onDemandErrorReplies },
};

const health = (models: Record<string, string>, schema = Health) => ({
  name: 'Health',
  schema,
  examples: { health: { summary: 'All is well', value: { status: 'ok', models } } },
});

/** Every operation of a host, in the order of the reference. */
export const operations = ({ structuredOutputs, host = 'serverless' }: DocumentOptions): Operation<Tag>[] => {
  const chat = chatOperation(structuredOutputs);
  const responses = [responseOperation(structuredOutputs), ...responseOperations];
  if (host === 'on_demand')
    return [
      ...[chat, ...responses].map(ofDeployment),
      ...modelOperations.map(ofKey),
      keyOperation(host),
      ...serviceOperations(health({}, OwnHealth)),
    ];
  return [
    chat,
    completionOperation,
    ...responses,
    ...tokenizeOperations,
    ...modelOperations,
    keyOperation(host),
    ...serviceOperations(health({ 'qwen3-8b': 'available' })),
  ];
};

/** A host that serves models as an OpenAPI 3.1 document. */
export const openApiDocument = (options: DocumentOptions): JsonSchema =>
  createDocument(operations(options), HOSTS[options.host ?? 'serverless']);
