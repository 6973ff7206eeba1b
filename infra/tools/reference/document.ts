import type { Body, FieldDoc, Operation } from '../../../shared/hosts/operation.ts';
import { toWire } from '../../../shared/http/errors.ts';
import { toMessagesError } from '../../../shared/http/messages-failure.ts';
import { toOAuthError } from '../../../shared/http/oauth-failure.ts';
import { describeOperation, documentPath, type HostFacts, headerRefs } from './describe-operation.ts';
import { ErrorBody, type ErrorReply, EXAMPLE_REQUEST_ID, MessagesErrorBody, OAuthErrorBody, UnauthorizedBody } from './error-reply.ts';
import { type Component, type Direction, type JsonSchema, refTo, toComponents } from './json-schema.ts';
import { messagesErrorName, messagesErrorReplies } from './messages-errors.ts';
import { oauthErrorName, oauthErrorReplies } from './oauth-errors.ts';
import { replyHeaders } from './reply-headers.ts';

/** The contents of a host's document in addition to its operations. */
export interface HostDocument<Tag extends string> extends HostFacts {
  title: string;
  description: string;
  version: string;
  /** The security scheme of every operation that isn't public. */
  security: Readonly<Record<string, JsonSchema>>;
  /** Every tag with its description, in the order of the reference. */
  tags: Readonly<Record<Tag, string>>;
  errorReplies: Readonly<Record<number, ErrorReply>>;
  /** The documentation of request fields by name, for every request body. */
  fieldDocs?: Readonly<Record<string, FieldDoc>>;
  /** Parts of bodies that get their own component. */
  parts?: readonly Body[];
  /** `output`: replies are documented as they are sent, without defaults and open to new fields. */
  replyDirection: Direction;
}

const hasMessagesErrors = ({ errorShape }: Operation): boolean => errorShape === 'messages';
const hasOAuthErrors = ({ errorShape }: Operation): boolean => errorShape === 'oauth';

const componentsOf = (
  operations: readonly Operation[],
  { parts = [], fieldDocs, replyDirection: io }: Pick<HostDocument<never>, 'parts' | 'fieldDocs' | 'replyDirection'>,
): Map<string, Component> => {
  const components = new Map<string, Component>([
    ['Error', { schema: ErrorBody, io }],
    ['Unauthorized', { schema: UnauthorizedBody, io }],
  ]);
  if (operations.some(hasMessagesErrors)) components.set('MessagesError', { schema: MessagesErrorBody, io });
  if (operations.some(hasOAuthErrors)) components.set('OAuthError', { schema: OAuthErrorBody, io });
  for (const { name, schema } of parts) components.set(name, { schema });
  for (const { body, reply, trialReply } of operations) {
    for (const sent of [reply.json, reply.events, trialReply?.json]) if (sent) components.set(sent.name, { schema: sent.schema, io });
    if (body) components.set(body.name, { schema: body.schema, ...(fieldDocs && { fields: { ...fieldDocs, ...body.fields } }) });
  }
  return components;
};

// A reply without examples gets those of another reply with the same body.
const shareExamples = (operations: readonly Operation[]): Operation[] => {
  const examples = new Map(operations.flatMap(({ reply: { json } }) => (json?.examples ? [[json.name, json.examples] as const] : [])));
  return operations.map((operation) => {
    const { json } = operation.reply;
    const shared = json && !json.examples && examples.get(json.name);
    return shared ? { ...operation, reply: { ...operation.reply, json: { ...json, examples: shared } } } : operation;
  });
};

const BODIES = { MessagesError: toMessagesError, OAuthError: toOAuthError, Error: toWire, Unauthorized: toWire } as const;

const failureOf = ({ description, schema, headers, errors }: ErrorReply): JsonSchema => {
  const toBody = BODIES[schema];
  const examples = Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, { value: toBody(error, EXAMPLE_REQUEST_ID) }]));
  return { description, headers: headerRefs(headers), content: { 'application/json': { schema: refTo(schema), examples } } };
};

const failuresOf = (replies: Readonly<Record<number, ErrorReply>>, toName: (status: string) => string): JsonSchema =>
  Object.fromEntries(Object.entries(replies).map(([status, reply]) => [toName(status), failureOf(reply)]));

// Collects the headers that a part of the document refers to.
const headersOf = (part: unknown): JsonSchema => {
  const names = [...JSON.stringify(part).matchAll(/#\/components\/headers\/([\w-]+)/g)].map(([, name]) => name);
  return Object.fromEntries(Object.entries(replyHeaders).filter(([name]) => names.includes(name)));
};

/**
 * Creates a host's OpenAPI 3.1 document from the operations that its routes are served from and the schemas that
 * validate its requests.
 */
export const createDocument = <Tag extends string>(operations: readonly Operation<Tag>[], host: HostDocument<Tag>): JsonSchema => {
  const paths: Record<string, JsonSchema> = {};
  for (const operation of shareExamples(operations)) {
    const path = documentPath(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation, host) };
  }
  const responses = {
    ...failuresOf(host.errorReplies, (status) => status),
    ...(operations.some(hasMessagesErrors) && failuresOf(messagesErrorReplies(host.errorReplies), messagesErrorName)),
    ...(operations.some(hasOAuthErrors) && failuresOf(oauthErrorReplies, oauthErrorName)),
  };
  const used = new Set<string>(operations.map(({ tag }) => tag));
  return {
    openapi: '3.1.0',
    info: { title: host.title, version: host.version, description: host.description },
    // Relative to this document, because the host can be behind a stage or a custom domain.
    servers: [{ url: '.' }],
    security: Object.keys(host.security).map((name) => ({ [name]: [] })),
    tags: Object.entries(host.tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      securitySchemes: host.security,
      headers: headersOf([paths, responses]),
      responses,
      schemas: toComponents(componentsOf(operations, host)),
    },
  };
};
