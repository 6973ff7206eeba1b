import type * as z from 'zod';
import type { Role } from '../../functions/control/users/user.ts';

/** The sections of the control plane's API reference, in order. */
export type ControlTag = 'Sessions' | 'Organizations' | 'Users' | 'API keys' | 'Models' | 'Prices' | 'Audit log';

/** The error statuses of control routes, besides 401, 403 and 500. */
export type ControlError = 400 | 404 | 409 | 412 | 422 | 429 | 503;

/** A route of the control plane. It is served, checked, documented and tested from these facts alone. */
export interface ControlOperation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{id}` is one segment, `{model+}` the rest of the path. */
  path: string;
  operationId: string;
  tag: ControlTag;
  summary: string;
  description?: string;
  /** The lowest role that may call it; `public`: no token needed. */
  role: Role | 'public';
  /** Whether members of a suspended organization may call it even though it is not a read. */
  isOpenToSuspended?: true;
  /** The parameters of the path, by name. */
  parameters?: Readonly<Record<string, { description: string; example: string }>>;
  query?: z.ZodObject;
  body?: { name: string; schema: z.ZodType; example: unknown };
  /** The reply; without `json` it has no body. */
  reply: { status: 200 | 201 | 202 | 204; description: string; json?: { name: string; schema: z.ZodType } };
  /** Whether it changes a resource with an ETag, and accepts `If-Match`. */
  isVersioned?: true;
  /** Whether it accepts an idempotency key. */
  isIdempotent?: true;
  /** Its error statuses, besides 400 (for instance for an unknown query parameter), 401, 403 and 500. All versioned routes also have 412. */
  errors: readonly ControlError[];
}
