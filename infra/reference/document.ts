import type { Scope } from '../../shared/admission/secret.ts';
import { API_VERSION } from '../../shared/hosts/version.ts';
import { chatParts } from './chat-operations.ts';
import { describeOperation } from './describe-operation.ts';
import { ErrorBody, type ErrorReply, UnauthorizedBody } from './error-reply.ts';
import { errorReplies } from './errors.ts';
import { type HeaderName, headers } from './headers.ts';
import { type Component, type JsonSchema, toComponents } from './json-schema.ts';
import { onDemandErrorReplies } from './on-demand-errors.ts';
import type { Operation } from './operation.ts';
import { type DocumentOptions, operations } from './paths.ts';
import { failuresOf, pathsOf, tagsOf } from './replies.ts';

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

interface HostFacts {
  title: string;
  description: string;
  errors: Readonly<Record<number, ErrorReply<HeaderName>>>;
}

const HOSTS: Readonly<Record<Scope, HostFacts>> = {
  serverless: { title: 'Sluice', description: SERVERLESS_DESCRIPTION, errors: errorReplies },
  on_demand: { title: 'Sluice on-demand', description: ON_DEMAND_DESCRIPTION, errors: onDemandErrorReplies },
};

const TAGS = {
  Inference: 'Ask a model.',
  Responses: 'Ask a model in the words of the Responses API.',
  Tokens: 'What a text is to a model.',
  Models: 'What can be called, and what it costs.',
  Key: 'Your own API key.',
  Service: 'The host itself.',
} as const satisfies Record<Operation['tag'], string>;

/** Every schema that an operation names, once. */
const componentsOf = (all: readonly Operation[]): Map<string, Component> => {
  const components = new Map<string, Component>([
    ['Error', { schema: ErrorBody }],
    ['Unauthorized', { schema: UnauthorizedBody }],
  ]);
  for (const { name, schema } of chatParts) components.set(name, { schema });
  for (const { request, success } of all) {
    for (const body of [success.json, success.events]) if (body) components.set(body.name, { schema: body.schema });
    if (request) components.set(request.name, { schema: request.schema, fields: request.fields ?? {} });
  }
  return components;
};

/** A host that generates text as an OpenAPI 3.1 document, made of the schemas that the functions check requests with. */
export const openApiDocument = (options: DocumentOptions): JsonSchema => {
  const all = operations(options);
  const { title, description, errors } = HOSTS[options.host ?? 'serverless'];
  return {
    openapi: '3.1.0',
    info: { title, version: API_VERSION, description },
    // Relative to this document: the host may be behind a stage or a name of its own.
    servers: [{ url: '.' }],
    security: [{ api_key: [] }],
    tags: tagsOf(
      TAGS,
      all.map(({ tag }) => tag),
    ),
    paths: pathsOf(all.map((operation) => ({ ...operation, operation: describeOperation(operation) }))),
    components: {
      securitySchemes: { api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' } },
      headers,
      responses: failuresOf(errors),
      schemas: toComponents(componentsOf(all)),
    },
  };
};
