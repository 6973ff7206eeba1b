import type * as z from 'zod';
import type { ReplyHeader } from '../http/reply-headers.ts';
import type { Permission } from './permissions.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The error statuses that a route can list. */
export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 409 | 412 | 413 | 422 | 429 | 500 | 503;

interface Example {
  summary: string;
  value: unknown;
}

/** A schema with its name among the document's components; the same name is the same schema. */
export interface Body {
  name: string;
  schema: z.ZodType;
  examples?: Readonly<Record<string, Example>>;
}

/** Documentation of a field of a request. */
export interface FieldDoc {
  description: string;
  deprecated?: true;
  /** Keywords of JSON Schema in place of what zod can't express; a zod schema among them is converted. */
  [keyword: string]: unknown;
}

interface RequestBody extends Omit<Body, 'examples'> {
  /** One unnamed example, or several. */
  example?: unknown;
  examples?: Readonly<Record<string, Example>>;
  /** Fields that exist only here, or mean something else than in other requests. */
  fields?: Readonly<Record<string, FieldDoc>>;
}

/** The reply of a route that succeeds. Without `json`, `events`, `html` and `text` it has no body. */
export interface OperationReply {
  status: 200 | 201 | 202 | 204;
  description: string;
  json?: Body;
  /** The data of a server-sent event. */
  events?: Body & { description: string; stream: string };
  html?: true;
  /** The content types of text that it can have. */
  text?: readonly string[];
  headers?: readonly ReplyHeader[];
}

/** A route of any host. It is served, checked, documented and tested from these facts alone. */
export interface Operation<Tag extends string = string> {
  method: Method;
  /** `{id}` is one segment, `{model+}` the rest of the path. */
  path: string;
  /** The name that generated clients give it. */
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Callers: anyone, those with an API key, or users with this permission. */
  access: 'public' | 'api_key' | Permission;
  /** Members of a suspended organization may call it even though it is not a read. */
  isOpenToSuspended?: true;
  /** Only people may call it, and no service accounts. */
  isForPeople?: true;
  /** It changes money or rights: a person must have proved recently who they are. */
  needsFreshLogin?: true;
  /** Admins may call it who have no second factor yet: to set one up. */
  isOpenWithoutSecondFactor?: true;
  /** The request must name its end user. */
  takesUserId?: true;
  /** It invokes a model, and so can wait until a deployment has capacity. */
  waitsForCapacity?: true;
  /** Another model can answer in place of the one that the request names. */
  hasFallbacks?: true;
  /** Its errors have the shape of another API. Absent: that of interface 2.6. */
  errorShape?: 'messages' | 'oauth';
  /** It takes content, which its caller can keep out of the payload log. */
  takesContent?: true;
  /** The parameters of the path, by name. */
  parameters?: Readonly<Record<string, { description: string; example: string }>>;
  query?: z.ZodObject;
  body?: RequestBody;
  reply: OperationReply;
  /** The reply of a dry run. */
  trialReply?: OperationReply;
  /** It changes a resource with an ETag, and accepts `If-Match`. */
  isVersioned?: true;
  /** It accepts an idempotency key. */
  isIdempotent?: true;
  /** The failures that do not follow from the facts above. */
  errors: readonly ErrorStatus[];
}

/** A route with the types of its facts, from which the console infers requests and replies. `facts` is never set. */
export type WithFacts<Route, Facts> = Route & { readonly facts?: Facts };
