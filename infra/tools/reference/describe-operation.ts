import * as z from 'zod';
import { MAX_STREAMED_WAIT_SECONDS, MAX_WAIT_SECONDS, WAIT_HEADER } from '../../../functions/inference/capacity/wait-header.ts';
import { FALLBACK_HEADER } from '../../../functions/inference/fallback/fallback-header.ts';
import { LOG_HEADER } from '../../../functions/inference/payload-log/log-header.ts';
import type { Body, Operation, OperationReply } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADER } from '../../../shared/http/idempotency-key.ts';
import { USER_HEADER } from '../../../shared/http/user-id.ts';
import { type JsonSchema, refTo, toParameterSchema } from './json-schema.ts';
import { messagesErrorName } from './messages-errors.ts';
import { oauthErrorName } from './oauth-errors.ts';

/** The texts that a host adds to the descriptions of its operations. */
export interface HostFacts {
  /** How idempotency keys work on this host. */
  idempotency: string;
  /** The error statuses that such an operation has on this host without listing them. */
  impliedErrors: (operation: Operation) => readonly number[];
  /** Names the roles that may call an operation, as the last paragraph of its description. */
  accessSentence?: (operation: Operation) => string | undefined;
}

// The viewer sends a parameter's `example`, so optional headers have their examples in their schemas.
const idempotencyKey = (description: string): JsonSchema => ({
  in: 'header',
  name: IDEMPOTENCY_HEADER,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$', examples: ['3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11'] },
});

const IF_MATCH: JsonSchema = {
  in: 'header',
  name: 'If-Match',
  description:
    'The ETag of the resource as you read it, or several ETags. If the resource has a different ETag now, it is not changed and the response is a 412. Without this header, the resource is changed whatever its version.',
  schema: { type: 'string', pattern: '^\\s*(\\*|"\\d{1,15}"(\\s*,\\s*"\\d{1,15}")*)\\s*$', examples: ['"3"'] },
};

const USER_ID: JsonSchema = {
  in: 'header',
  name: USER_HEADER,
  required: true,
  description:
    "The id of your end user, a UUID. It determines which of the deployment's targets answers, and is stored with the usage of the request. If the API key has limits for each of its end users (`per_user`), they are counted by it.",
  schema: { type: 'string', format: 'uuid' },
  example: '9d3b7c52-4e1a-4f06-8b1e-2a6c5d9f7e30',
};

const WAIT_FOR_CAPACITY: JsonSchema = {
  in: 'header',
  name: WAIT_HEADER,
  description: `For a model that is made of a deployment: how many seconds the request waits if no copy of it is in service, up to ${MAX_WAIT_SECONDS}, or ${MAX_STREAMED_WAIT_SECONDS} with \`stream: true\`. A stream has the status 200 at once and sends comments with the progress until the answer begins. If capacity does not come in time, the response is a 503, or the stream ends with an error event, and costs nothing. Without this header, the response is a 503 \`deployment_waking\` at once.`,
  schema: { type: 'integer', minimum: 0, maximum: MAX_STREAMED_WAIT_SECONDS, examples: [270] },
};

const LOG: JsonSchema = {
  in: 'header',
  name: LOG_HEADER,
  description:
    'Keeps the content of this request and of its response out of the payload log, which an owner of the organization can switch on. A caller cannot switch it on: any other value returns 400. Requests to the tokenizer and replays under an idempotency key are never logged.',
  schema: { type: 'string', enum: ['off'], examples: ['off'] },
};

const FALLBACK: JsonSchema = {
  in: 'header',
  name: FALLBACK_HEADER,
  description:
    '`off`: only the model that the request names answers it, whatever fallbacks the request, the alias or the model has. The setting `no_fallback` of an API key does the same for all its requests. `on` is the same as leaving the header out; any other value returns 400.',
  schema: { type: 'string', enum: ['off', 'on'], examples: ['off'] },
};

// `{id}` or `{model+}`.
const PARAMETER = /\{(\w+)\+?\}/g;

/** The path in OpenAPI's notation, which has no parameters of several segments: `{model+}` becomes `{model}`. */
export const documentPath = (path: string): string => path.replace(PARAMETER, '{$1}');

const pathParametersOf = ({ path, operationId, parameters = {} }: Operation): JsonSchema[] =>
  [...path.matchAll(PARAMETER)].map(([, name = '']) => {
    const facts = parameters[name];
    if (!facts) throw new Error(`${operationId} does not describe the parameter '${name}' of its path.`);
    return { in: 'path', name, required: true, schema: { type: 'string' }, ...facts };
  });

const queryParametersOf = ({ query }: Operation): JsonSchema[] =>
  Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = toParameterSchema(field);
    // `name[key]=value`
    const isRecord = schema.type === 'object' && { style: 'deepObject', explode: true };
    const required = field._zod.optin === undefined;
    return { in: 'query', name, ...(description !== undefined && { description }), required, ...isRecord, schema };
  });

/** References to the components of a reply's headers; every reply has `x-request-id`. */
export const headerRefs = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const contentOf = ({ name, examples }: Pick<Body, 'name' | 'examples'>): JsonSchema => ({
  'application/json': { schema: refTo(name), ...(examples && { examples }) },
});

// The version of a resource is also its ETag.
const hasVersion = ({ json }: OperationReply): boolean =>
  json?.schema instanceof z.ZodObject && json.schema.shape.version instanceof z.ZodNumber;

const replyOf = (reply: OperationReply, errorBody: string): JsonSchema => {
  const { description, json, events, html, text = [], headers = [] } = reply;
  const etag = hasVersion(reply) && { etag: { $ref: '#/components/headers/version-etag' } };
  const content = {
    ...(json && contentOf(json)),
    ...(events && {
      'text/event-stream': {
        schema: { anyOf: [refTo(events.name), refTo(errorBody)], description: 'The data of one event.' },
        examples: { stream: { summary: 'A complete stream', value: events.stream } },
      },
    }),
    ...(html && { 'text/html': { schema: { type: 'string' } } }),
    ...Object.fromEntries(text.map((type) => [type, { schema: { type: 'string' } }])),
  };
  return {
    description: events ? `${description} ${events.description}` : description,
    headers: { ...headerRefs(headers), ...etag },
    ...(Object.keys(content).length > 0 && { content }),
  };
};

const NOT_MODIFIED: JsonSchema = {
  description: 'The resource still has the ETag in `If-None-Match`.',
  headers: headerRefs(['etag']),
};

const failureRefs = (statuses: Iterable<number>, toName: (status: number) => string): JsonSchema =>
  Object.fromEntries(
    [...new Set(statuses)].sort((a, b) => a - b).map((status) => [status, { $ref: `#/components/responses/${toName(status)}` }]),
  );

const bodyOf = ({ summary, body }: Operation): JsonSchema | undefined => {
  if (!body) return undefined;
  const { name, examples = { example: { summary, value: body.example } } } = body;
  return { required: true, content: contentOf({ name, examples }) };
};

/** Converts an operation to OpenAPI. @throws Error if it doesn't describe a parameter of its path */
export const describeOperation = (operation: Operation, host: HostFacts): JsonSchema => {
  const { operationId, tag, summary, description, access, reply, trialReply, errors } = operation;
  const isOfMessages = operation.errorShape === 'messages';
  const errorName = isOfMessages ? messagesErrorName : operation.errorShape === 'oauth' ? oauthErrorName : String;
  const parameters = [
    ...pathParametersOf(operation),
    ...(operation.takesUserId ? [USER_ID] : []),
    ...queryParametersOf(operation),
    ...(operation.isVersioned ? [IF_MATCH] : []),
    ...(operation.takesContent ? [LOG] : []),
    ...(operation.waitsForCapacity ? [WAIT_FOR_CAPACITY] : []),
    ...(operation.hasFallbacks ? [FALLBACK] : []),
    ...(operation.isIdempotent ? [idempotencyKey(host.idempotency)] : []),
  ];
  const paragraphs = [description, host.accessSentence?.(operation)].filter((text) => text !== undefined);
  const requestBody = bodyOf(operation);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(paragraphs.length > 0 && { description: paragraphs.join('\n\n') }),
    ...(access === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      [reply.status]: replyOf(reply, isOfMessages ? 'MessagesError' : 'Error'),
      ...(trialReply && { [trialReply.status]: replyOf(trialReply, 'Error') }),
      ...(reply.headers?.includes('etag') && { 304: NOT_MODIFIED }),
      ...failureRefs([...errors, 500, ...host.impliedErrors(operation)], errorName),
    },
  };
};
