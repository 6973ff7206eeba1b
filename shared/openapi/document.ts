import { IDEMPOTENCY_HEADER } from '../idempotency/idempotency-key.ts';
import { chatParts } from './chat-operations.ts';
import { ErrorBody, type ErrorStatus, errorReplies, UnauthorizedBody } from './errors.ts';
import { type HeaderName, headers } from './headers.ts';
import { type Component, type JsonSchema, refTo, toComponents, toInlineSchema } from './json-schema.ts';
import type { Body, Operation, Success } from './operation.ts';
import { type DocumentOptions, operations } from './paths.ts';
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

const headerRefs = (names: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries((['x-request-id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const contentOf = ({ name, examples }: Body): JsonSchema => ({ schema: refTo(name), ...(examples && { examples }) });

const successOf = ({ description, json, events, html, headers: names = [] }: Success): JsonSchema => ({
  description: events ? `${description} ${events.description}` : description,
  headers: headerRefs(names),
  ...((json || events || html) && {
    content: {
      ...(json && { 'application/json': contentOf(json) }),
      ...(events && {
        'text/event-stream': {
          schema: { anyOf: [refTo(events.name), refTo('Error')], description: 'The data of one event.' },
          examples: { stream: { summary: 'A whole stream', value: events.stream } },
        },
      }),
      ...(html && { 'text/html': { schema: { type: 'string' } } }),
    },
  }),
});

const NOT_MODIFIED = { description: 'What the caller has, as `If-None-Match` names it, is still right.', headers: headerRefs(['etag']) };

const IDEMPOTENCY_PARAMETER = {
  in: 'header',
  name: IDEMPOTENCY_HEADER,
  description:
    'The same request with the same key within 24 hours is answered with the first result and charged once: up to 255 visible ASCII characters of your choice, new for each new request. While the first is under way the answer is a 409, with another body a 422. Only what completed is kept; a request that was refused or failed frees its key.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11',
};

const operationOf = (operation: Operation): JsonSchema => {
  const { operationId, tag, summary, description, isPublic, request, success, errors } = operation;
  const failures: ErrorStatus[] = [...errors, ...(isPublic ? [] : ([401] as const)), 500];
  const parameters = [
    ...(operation.pathParameters ?? []).map((parameter) => ({ in: 'path', required: true, schema: { type: 'string' }, ...parameter })),
    ...(operation.isIdempotent ? [IDEMPOTENCY_PARAMETER] : []),
    ...(operation.queryParameters ?? []).map(({ schema, ...parameter }) => ({ in: 'query', schema: toInlineSchema(schema), ...parameter })),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(isPublic && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(request && { requestBody: { required: true, content: { 'application/json': contentOf(request) } } }),
    responses: {
      [success.status ?? 200]: successOf(success),
      ...(success.headers?.includes('etag') && { 304: NOT_MODIFIED }),
      ...Object.fromEntries(failures.sort((a, b) => a - b).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  };
};

const failureOf = ({ description, schema, headers: names, examples }: (typeof errorReplies)[ErrorStatus]): JsonSchema => ({
  description,
  headers: headerRefs(names),
  content: { 'application/json': { schema: refTo(schema), examples } },
});

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
  const paths: Record<string, JsonSchema> = {};
  for (const operation of all) paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(operation) };
  const used = new Set<string>(all.map(({ tag }) => tag));
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: API_VERSION, description: DESCRIPTION },
    // Relative to this document: the host may be behind a stage or a name of its own.
    servers: [{ url: '.' }],
    security: [{ api_key: [] }],
    tags: Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      securitySchemes: { api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' } },
      headers,
      responses: Object.fromEntries(Object.entries(errorReplies).map(([status, reply]) => [status, failureOf(reply)])),
      schemas: toComponents(componentsOf(all)),
    },
  };
};
