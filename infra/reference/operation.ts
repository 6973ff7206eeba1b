import type * as z from 'zod';
import type { ErrorStatus } from './errors.ts';
import type { FieldDoc } from './field-docs.ts';
import type { HeaderName } from './headers.ts';

export interface Example {
  summary: string;
  value: unknown;
}

/** A schema of the document's components. The examples are held to it by a test. */
export interface Body {
  /** Its name among the components; the same name is the same schema. */
  name: string;
  schema: z.ZodType;
  examples?: Record<string, Example>;
}

/** The reply of an operation that succeeds. */
export interface Success {
  description: string;
  status?: 200 | 201 | 204;
  json?: Body;
  /** The data of a server-sent event. */
  events?: Body & { description: string; stream: string };
  html?: true;
  headers?: readonly HeaderName[];
}

export interface PathParameter {
  name: string;
  description: string;
  example: string;
}

/** A query parameter; its schema says its range and its default. */
export interface QueryParameter {
  name: string;
  description: string;
  schema: z.ZodType;
}

/** One method of one path, as the API reference shows it. */
export interface Operation {
  method: 'get' | 'post' | 'delete';
  path: string;
  /** The name that generated clients give it. */
  operationId: string;
  tag: 'Inference' | 'Tokens' | 'Responses' | 'Models' | 'Key' | 'Service';
  summary: string;
  description?: string;
  /** Whether it may be called without an API key. */
  isPublic?: true;
  /** Whether it must say which end user it is for. */
  takesUserId?: true;
  pathParameters?: readonly PathParameter[];
  queryParameters?: readonly QueryParameter[];
  /** Whether it takes an idempotency key. */
  isIdempotent?: true;
  /** `fields` explain properties that mean something else here than in other requests, or are only here; the rest are in field-docs.ts. */
  request?: Body & { examples: Record<string, Example>; fields?: Readonly<Record<string, FieldDoc>> };
  success: Success;
  /** What it can refuse or fail with; 500 is every operation's, 401 everyone's that takes a key. */
  errors: readonly ErrorStatus[];
}
