import type * as z from 'zod';
import type { UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import type { Backend } from './backend.ts';
import { invalidParameter, poolNotFound } from './errors.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

/** Handles one action of Cognito's API. Throws an AwsError for an error response. */
export type Rule = (request: unknown) => Promise<object>;

/** Dependencies of the rules. */
export interface RuleContext {
  backend: Backend;
  refreshTokens: RefreshTokens;
  /** Invokes a trigger by its ARN. */
  invoke: (functionArn: string, event: object) => Promise<unknown>;
  pools: readonly UserPool[];
  mailbox: Mailbox;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** By it, tokens are issued and expire. It can be moved, `now` can't. */
  tokenTime: () => number;
}

/** Parses a request with the schema of a rule. Throws InvalidParameterException if it is invalid. */
export const readRequest = <Schema extends z.ZodType>(schema: Schema, request: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw invalidParameter(`Invalid value at ${parsed.error.issues.map((issue) => issue.path.join('.')).join(', ')}.`);
};

/** Finds a pool by its id or the id of one of its clients. */
export const findPool = ({ pools }: RuleContext, id: string): UserPool => {
  const pool = pools.find((candidate) => candidate.id === id || candidate.clients.some((client) => client.id === id));
  if (!pool) throw poolNotFound(id);
  return pool;
};

/** Finds a client and its pool. */
export const findClient = ({ pools }: RuleContext, id: string): { pool: UserPool; client: UserPoolClient } => {
  for (const pool of pools) for (const client of pool.clients) if (client.id === id) return { pool, client };
  throw poolNotFound(id);
};

/** Normalizes a username: an email address in any case, or a subject, which is lower case. */
export const toName = (username: string): string => username.toLowerCase();
