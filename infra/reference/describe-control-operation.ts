import * as z from 'zod';
import type { ControlOperation } from '../../shared/hosts/control-operation.ts';
import { idempotencyParameter } from './describe-operation.ts';
import { type JsonSchema, toParameterSchema } from './json-schema.ts';
import { contentOf, failureRefs, headerRefs } from './replies.ts';

const ONCE = idempotencyParameter(
  'The same request with the same key is done once, however often it is sent: up to 255 visible ASCII characters of your choice, new for each new request. With another body the answer is a 422.',
);

const IF_MATCH: JsonSchema = {
  in: 'header',
  name: 'If-Match',
  description:
    'The ETag of the resource as you read it, or several: it is changed only if it is still so, and else this is a 412. Without it, whatever it has become is changed.',
  schema: { type: 'string', pattern: '^\\s*(\\*|"\\d{1,15}"(\\s*,\\s*"\\d{1,15}")*)\\s*$' },
  example: '"3"',
};

/** `{id}` or `{model+}`. */
const PARAMETER = /\{(\w+)\+?\}/g;

/** The path in the words of OpenAPI, which knows no parameter of several segments: `{model+}` becomes `{model}`. */
export const documentPath = (path: string): string => path.replace(PARAMETER, '{$1}');

const pathParametersOf = ({ path, operationId, parameters = {} }: ControlOperation): JsonSchema[] =>
  [...path.matchAll(PARAMETER)].map(([, name = '']) => {
    const facts = parameters[name];
    if (!facts) throw new Error(`${operationId} does not say what '${name}' in its path is.`);
    return { in: 'path', name, required: true, schema: { type: 'string' }, ...facts };
  });

const queryParametersOf = ({ query }: ControlOperation): JsonSchema[] =>
  Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = toParameterSchema(field);
    return { in: 'query', name, ...(description !== undefined && { description }), required: field._zod.optin === undefined, schema };
  });

/** Who may, in a sentence. */
export const roleSentence = ({ role, method, isOpenToSuspended }: ControlOperation): string => {
  if (role === 'public') return 'Needs no session.';
  const isKeptOpen = isOpenToSuspended && method !== 'GET';
  return `Needs the role ${role}.${isKeptOpen ? ' Members of a suspended organization may too.' : ''}`;
};

/** Whether its reply is a resource with a version, which is then told as its ETag. */
const hasVersion = ({ reply: { json } }: ControlOperation): boolean =>
  json?.schema instanceof z.ZodObject && json.schema.shape.version instanceof z.ZodNumber;

const replyOf = (operation: ControlOperation): JsonSchema => {
  const { description, json } = operation.reply;
  const etag = hasVersion(operation) && { etag: { $ref: '#/components/headers/version-etag' } };
  return { description, headers: { ...headerRefs([]), ...etag }, ...(json && { content: { 'application/json': contentOf(json) } }) };
};

const failuresOf = ({ role, body, isVersioned, errors }: ControlOperation): number[] => [
  ...errors,
  400,
  401,
  ...(role === 'public' ? [] : [403]),
  ...(isVersioned ? [412] : []),
  ...(body ? [413] : []),
  500,
];

/** A route of the control plane as the document has it. @throws where it does not say what a parameter of its path is */
export const describeControlOperation = (operation: ControlOperation): JsonSchema => {
  const { operationId, tag, summary, description, role, body, reply, isVersioned, isIdempotent } = operation;
  const parameters = [
    ...pathParametersOf(operation),
    ...queryParametersOf(operation),
    ...(isVersioned ? [IF_MATCH] : []),
    ...(isIdempotent ? [ONCE] : []),
  ];
  const examples = { example: { summary, value: body?.example } };
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, roleSentence(operation)].filter((text) => text !== undefined).join('\n\n'),
    ...(role === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': contentOf({ ...body, examples }) } } }),
    responses: { [reply.status]: replyOf(operation), ...failureRefs(failuresOf(operation)) },
  };
};
