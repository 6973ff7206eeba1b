import { IDEMPOTENCY_HEADER } from '../../shared/http/idempotency-key.ts';
import { USER_HEADER } from '../../shared/http/user-id.ts';
import { type JsonSchema, toInlineSchema } from './json-schema.ts';
import type { Operation } from './operation.ts';
import { contentOf, failureRefs, NOT_MODIFIED, successOf } from './replies.ts';

/** The header of an idempotency key, with what it does. */
export const idempotencyParameter = (description: string): JsonSchema => ({
  in: 'header',
  name: IDEMPOTENCY_HEADER,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11',
});

const REPLAYED = idempotencyParameter(
  'The same request with the same key within 24 hours is answered with the first result and charged once: up to 255 visible ASCII characters of your choice, new for each new request. While the first is under way the answer is a 409, with another body a 422. Only what completed is kept; a request that was refused or failed frees its key.',
);

const USER_ID: JsonSchema = {
  in: 'header',
  name: USER_HEADER,
  required: true,
  description:
    'The id of your end user, a UUID. It decides which of a deployment’s targets answers, and is kept with the usage of the request.',
  schema: { type: 'string', format: 'uuid' },
  example: '9d3b7c52-4e1a-4f06-8b1e-2a6c5d9f7e30',
};

/** An operation as the document has it. */
export const describeOperation = (operation: Operation): JsonSchema => {
  const { operationId, tag, summary, description, isPublic, request, success, errors } = operation;
  const parameters = [
    ...(operation.pathParameters ?? []).map((parameter) => ({ in: 'path', required: true, schema: { type: 'string' }, ...parameter })),
    ...(operation.takesUserId ? [USER_ID] : []),
    ...(operation.isIdempotent ? [REPLAYED] : []),
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
      ...failureRefs([...errors, ...(isPublic ? [] : [401]), 500]),
    },
  };
};
