import type { ErrorReply } from './error-reply.ts';
import { type JsonSchema, refTo } from './json-schema.ts';
import type { Body, Success } from './operation.ts';

/** The headers of a reply by their names, each as a component of the document; `x-request-id` is in every reply. */
export const headerRefs = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const contentOf = ({ name, examples }: Body): JsonSchema => ({ schema: refTo(name), ...(examples && { examples }) });

export const successOf = ({ description, json, events, html, headers: names = [] }: Success): JsonSchema => ({
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

export const NOT_MODIFIED: JsonSchema = {
  description: 'What the caller has, as `If-None-Match` names it, is still right.',
  headers: headerRefs(['etag']),
};

/** The replies to requests that fail, by status: as components of the document. */
export const failuresOf = (replies: Readonly<Record<number, ErrorReply<string>>>): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(replies).map(([status, { description, schema, headers: names, examples }]) => [
      status,
      { description, headers: headerRefs(names), content: { 'application/json': { schema: refTo(schema), examples } } },
    ]),
  );

/** The failures of an operation, in the order of their statuses. */
export const failureRefs = (statuses: Iterable<number>): Record<string, JsonSchema> =>
  Object.fromEntries([...new Set(statuses)].sort((a, b) => a - b).map((status) => [status, { $ref: `#/components/responses/${status}` }]));

/** The operations of a document by path and method. */
export const pathsOf = (described: readonly { path: string; method: string; operation: JsonSchema }[]): Record<string, JsonSchema> => {
  const paths: Record<string, JsonSchema> = {};
  for (const { path, method, operation } of described) paths[path] = { ...paths[path], [method]: operation };
  return paths;
};

/** The tags that some operation has, in their order. */
export const tagsOf = (descriptions: Readonly<Record<string, string>>, used: readonly string[]): { name: string; description: string }[] =>
  Object.entries(descriptions).flatMap(([name, description]) => (used.includes(name) ? [{ name, description }] : []));
