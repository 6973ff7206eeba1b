import { chatParts } from './chat-operations.ts';
import { describeOperation } from './describe-operation.ts';
import { ErrorBody, UnauthorizedBody } from './error-reply.ts';
import { errorReplies } from './errors.ts';
import { headers } from './headers.ts';
import { type Component, type JsonSchema, toComponents } from './json-schema.ts';
import type { Operation } from './operation.ts';
import { type DocumentOptions, operations } from './paths.ts';
import { failuresOf, pathsOf, tagsOf } from './replies.ts';
import { API_VERSION } from './version.ts';

const DESCRIPTION = `Text generation behind the interface of OpenAI's clients: give one of them this host's \`/v1\` as its base URL and an API key.

An API key goes into the header \`Authorization: Bearer <API key>\`. Its limits are in the \`x-ratelimit-*\` headers of every reply; a reply of
429 says in \`retry-after\` when to try again. Every reply has an \`x-request-id\`. Errors have one body: \`error\` with \`message\`, \`type\`,
\`param\` and \`code\`; only a 401's \`error\` is a string. A path takes HEAD where it takes GET, and OPTIONS; another
method is a 405 that names them in \`allow\`.`;

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

/** The serverless host as an OpenAPI 3.1 document, made of the schemas that the functions check requests with. */
export const openApiDocument = (options: DocumentOptions): JsonSchema => {
  const all = operations(options);
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: API_VERSION, description: DESCRIPTION },
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
      responses: failuresOf(errorReplies),
      schemas: toComponents(componentsOf(all)),
    },
  };
};
