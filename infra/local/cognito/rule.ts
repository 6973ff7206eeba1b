import type * as z from 'zod';
import type { UserPool } from '../assembly/local-app.ts';
import type { Backend } from './backend.ts';
import { invalidParameter, poolNotFound } from './fault.ts';
import type { Mailbox } from './mailbox.ts';

/** Answers one action of Cognito's API. Throws a Fault for an error answer. */
export type Rule = (request: unknown) => Promise<object>;

/** What the rules work with. */
export interface RuleContext {
  readonly backend: Backend;
  readonly pools: readonly UserPool[];
  readonly mailbox: Mailbox;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What of a request a rule reads. Throws InvalidParameterException for a request of another shape. */
export const readRequest = <Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw invalidParameter(`Invalid value at ${parsed.error.issues.map((issue) => issue.path.join('.')).join(', ')}.`);
};

/** The pool of an id, of itself or of its client. */
export const findPool = ({ pools }: RuleContext, id: string): UserPool => {
  const pool = pools.find((candidate) => candidate.id === id || candidate.client.id === id);
  if (!pool) throw poolNotFound(id);
  return pool;
};

/** Names are addresses, in whatever case they are typed, or subjects, which have no capital letters. */
export const toName = (username: string): string => username.toLowerCase();
