import type * as z from 'zod';
import type { Role } from '../../functions/control/access/actor.ts';

/** The parts of the control plane, in the order of its reference. */
export type ControlTag = 'Sessions' | 'Organizations' | 'Users' | 'API keys' | 'Models' | 'Prices' | 'Audit log';

/** What a control route can refuse or fail with, beside 401, 403 and 500. */
export type ControlError = 400 | 404 | 409 | 412 | 422 | 429 | 503;

/** What is said of a route of the control plane: it is served, checked, documented and tested by this alone. */
export interface ControlOperation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{id}` is one segment, `{model+}` all that is left. */
  path: string;
  operationId: string;
  tag: ControlTag;
  summary: string;
  description?: string;
  /** The least role that may; `public`: without a token. */
  role: Role | 'public';
  /** Whether members of a suspended organization may, beside reading. */
  isOpenToSuspended?: true;
  /** What the parameters of its path are, by name. */
  parameters?: Readonly<Record<string, { description: string; example: string }>>;
  query?: z.ZodObject;
  body?: { name: string; schema: z.ZodType; example: unknown };
  /** The reply; without `json` it has no body. */
  reply: { status: 200 | 201 | 202 | 204; description: string; json?: { name: string; schema: z.ZodType } };
  /** Whether it changes what is read under an ETag, and takes `If-Match`. */
  isVersioned?: true;
  /** Whether it takes an idempotency key. */
  isIdempotent?: true;
  /** What it can refuse, beside 400 (an unknown query is one), 401, 403 and 500. A 412 is every versioned one’s. */
  errors: readonly ControlError[];
}
