import * as z from 'zod';
import { OrganizationSuspended } from '../../../shared/admission/organization.ts';
import type { ControlOperation as RouteFacts } from '../../../shared/hosts/control-operation.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { readJsonBody } from '../../../shared/http/json-body.ts';
import { expectedVersions, versionTag } from '../../../shared/http/precondition.ts';
import { commonHeaders, jsonReply, type Reply } from '../../../shared/http/reply.ts';
import { validate } from '../../../shared/http/validate.ts';
import type { ControlDependencies } from '../dependencies.ts';
import { authenticate, ipAddressOf } from '../sessions/authenticate.ts';
import type { Caller } from '../sessions/log-in.ts';
import type { StoredUser } from '../users/user-store.ts';
import { type Actor, requireRole } from './actor.ts';

type BodyOf<Facts extends RouteFacts> = Facts['body'] extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : undefined;
type QueryOf<Facts extends RouteFacts> = Facts['query'] extends infer Schema extends z.ZodType ? z.output<Schema> : undefined;
type SignedInOf<Facts extends RouteFacts> = Facts['role'] extends 'public'
  ? object
  : { actor: Actor; user: StoredUser; accessToken: string };

/** What a route's rule is given: all of it checked. */
export type Call<Facts extends RouteFacts> = SignedInOf<Facts> & {
  deps: ControlDependencies;
  body: BodyOf<Facts>;
  query: QueryOf<Facts>;
  parameters: Record<string, string>;
  /** The versions that `If-Match` names; undefined: any. */
  expected: readonly number[] | undefined;
  caller: Caller;
  event: ApiEvent;
};

export interface Route extends RouteFacts {
  handle: (deps: ControlDependencies, event: ApiEvent) => Promise<Reply>;
}

const callerOf = (event: ApiEvent): Caller => {
  const { requestContext } = event;
  return {
    ipAddress: ipAddressOf(event),
    serverName: requestContext.domainName ?? 'control',
    serverPath: event.path,
    userAgent: requestContext.identity?.userAgent ?? '',
    requestId: event.requestId,
    receivedAtMs: event.receivedAtMs,
  };
};

/** Who may: 401, then 403 for the role, then for the state of their organization. */
const authorize = async (deps: ControlDependencies, facts: RouteFacts, event: ApiEvent): Promise<object> => {
  if (facts.role === 'public') return {};
  const signedIn = await authenticate(deps, event);
  const { actor } = signedIn;
  requireRole(actor, facts.role);
  if (facts.method !== 'GET' && !facts.isOpenToSuspended && actor.organization !== null) {
    const { status } = await deps.organizations.get(actor.organization);
    if (status === 'suspended') throw new OrganizationSuspended();
  }
  return signedIn;
};

const versionOf = (body: unknown): number | undefined => {
  const { version } = (body ?? {}) as { version?: unknown };
  return typeof version === 'number' ? version : undefined;
};

const replyOf = ({ reply }: RouteFacts, requestId: string, body: unknown): Reply => {
  if (!reply.json) return { statusCode: reply.status, headers: commonHeaders(requestId, 'application/json'), body: '' };
  const version = versionOf(body);
  return jsonReply(requestId, reply.status, body, version === undefined ? {} : { etag: versionTag(version) });
};

const NO_QUERY = z.strictObject({});

/** What no id and no name can be is not looked for. @throws 404 */
const checkParameters = ({ pathParameters }: ApiEvent): void => {
  for (const text of Object.values(pathParameters ?? {}))
    if (text !== undefined && !PARAMETER.test(text)) throw new ResourceNotFound('resource', text);
};
const PARAMETER = /^[!-~]{1,256}$/;

/**
 * One route: authenticates, authorizes, parses, runs its rule, serializes what that returns. A resource's `version` is told as its ETag.
 * Errors are those of shared/http/errors.ts, in the order 401, 403, 400, then what the rule says.
 */
export const route = <const Facts extends RouteFacts>(facts: Facts, run: (call: Call<Facts>) => Promise<unknown>): Route => ({
  ...facts,
  handle: async (deps, event) => {
    const signedIn = await authorize(deps, facts, event);
    checkParameters(event);
    const query = validate(facts.query ?? NO_QUERY, event.queryStringParameters ?? {});
    const body = facts.body && validate(facts.body.schema, readJsonBody(event));
    const call = {
      ...signedIn,
      deps,
      body,
      query: facts.query && query,
      parameters: event.pathParameters ?? {},
      expected: facts.isVersioned && expectedVersions(event),
      caller: callerOf(event),
      event,
    };
    return replyOf(facts, event.requestId, await run(call as unknown as Call<Facts>));
  },
});
