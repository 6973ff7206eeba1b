import * as z from 'zod';
import type { Operation, WithFacts } from '../../../shared/hosts/operation.ts';
import type { Permission } from '../../../shared/hosts/permissions.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { readJsonBody } from '../../../shared/http/json/json-body.ts';
import { expectedVersions, versionTag } from '../../../shared/http/precondition.ts';
import { commonHeaders, jsonReply, type Reply } from '../../../shared/http/reply.ts';
import { validate } from '../../../shared/http/validate.ts';
import { validateQuery } from '../../../shared/http/validate-query.ts';
import { type Caller, callerOf } from '../../../shared/identity/request-origin.ts';
import { type OrganizationStatuses, rejectSuspended, requirePermission, requirePerson, SecondFactorRequired } from './actor.ts';
import { type CallLimitName, limitsOf } from './call-limits.ts';
import type { CallCounter } from './count-call.ts';
import { type Login, organizationOf, requireFreshLogin, requireSecondFactor } from './login-requirements.ts';
import { queryParametersOf } from './query-parameters.ts';

/** The sections of the API reference. */
export type ControlTag =
  | 'Overview'
  | 'Sessions'
  | 'Organizations'
  | 'Users'
  | 'Service accounts'
  | 'API keys'
  | 'Projects'
  | 'Identity providers'
  | 'Models'
  | 'Prices'
  | 'Deployments'
  | 'Usage'
  | 'Billing'
  | 'Webhooks'
  | 'Observability'
  | 'Tickets'
  | 'Audit log'
  | 'SCIM';

export interface ControlOperation extends Operation<ControlTag> {
  access: 'public' | Permission;
  /** Limits on its calls, besides the general ones for reads and changes. */
  limits?: readonly CallLimitName[];
}
type RouteFacts = Omit<ControlOperation, 'tag'>;

type BodyOf<Facts extends RouteFacts> = Facts['body'] extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : undefined;
type QueryOf<Facts extends RouteFacts> = Facts['query'] extends infer Schema extends z.ZodType ? z.output<Schema> : undefined;

/** An authenticated request. */
export type SignedIn = Login;

/** Dependencies that every route needs to authenticate and authorize a request. */
export interface RouteDependencies<User extends SignedIn = SignedIn> {
  /** Returns the user who sent a request. @throws 401 */
  authenticate: (event: ApiEvent) => Promise<User>;
  calls: Pick<CallCounter, 'countCall'>;
  organizations: OrganizationStatuses;
}

type Call<Deps, User extends SignedIn, Facts extends RouteFacts> = (Facts['access'] extends 'public' ? object : User) & {
  deps: Deps;
  body: BodyOf<Facts>;
  query: QueryOf<Facts>;
  parameters: Record<string, string>;
  /** The versions in `If-Match`; undefined accepts any version. */
  expected: readonly number[] | undefined;
  caller: Caller;
  event: ApiEvent;
};

/** A route with its handler. `Deps` are the dependencies of its rule. */
export interface Route<Deps = never, User extends SignedIn = never> extends ControlOperation {
  handle: (deps: Deps & RouteDependencies<User>, event: ApiEvent) => Promise<Reply>;
}

const authorize = async (deps: RouteDependencies, facts: RouteFacts, event: ApiEvent): Promise<object> => {
  if (facts.access === 'public') return {};
  const signedIn = await deps.authenticate(event);
  const { actor } = signedIn;
  event.sender = { user: actor.userId, org_id: actor.organization };
  requirePermission(actor, facts.access);
  if (facts.isForPeople) requirePerson(actor);
  if (actor.lacksSecondFactor && !facts.isOpenWithoutSecondFactor) throw new SecondFactorRequired();
  await deps.calls.countCall(limitsOf(facts), { actor, resource: event.pathParameters?.id }, actor.origin.nowMs);
  const organization = organizationOf(deps.organizations, actor);
  if (!facts.isOpenWithoutSecondFactor) await requireSecondFactor(signedIn, organization);
  if (facts.method !== 'GET' && !facts.isOpenToSuspended) rejectSuspended(await organization());
  if (facts.needsFreshLogin) await requireFreshLogin(signedIn, organization);
  return signedIn;
};

const versionOf = (body: unknown): number | undefined => {
  const { version } = (body ?? {}) as { version?: unknown };
  return typeof version === 'number' ? version : undefined;
};

/** The result of a rule for a trial run, which changes nothing: the body of the route's `trialReply`. */
export class Trial {
  readonly body: unknown;

  constructor(body: unknown) {
    this.body = body;
  }
}

/** The result of a rule whose reply is not JSON. */
export class Text {
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(contentType: string, text: string, headers: Readonly<Record<string, string>> = {}) {
    this.contentType = contentType;
    this.text = text;
    this.headers = headers;
  }
}

const replyOf = ({ reply, trialReply }: RouteFacts, requestId: string, body: unknown): Reply => {
  if (trialReply && body instanceof Trial) return jsonReply(requestId, trialReply.status, body.body);
  if (body instanceof Text)
    return { statusCode: reply.status, headers: { ...commonHeaders(requestId, body.contentType), ...body.headers }, body: body.text };
  if (!reply.json) return { statusCode: reply.status, headers: commonHeaders(requestId, 'application/json'), body: '' };
  const version = versionOf(body);
  return jsonReply(requestId, reply.status, body, version === undefined ? {} : { etag: versionTag(version) });
};

const NO_QUERY = z.strictObject({});

// Paths that cannot be an id or a name are 404 before anything is read.
const checkParameters = ({ pathParameters }: ApiEvent): void => {
  for (const text of Object.values(pathParameters ?? {}))
    if (text !== undefined && !PARAMETER.test(text)) throw new ResourceNotFound('resource', text);
};
const PARAMETER = /^[!-~]{1,256}$/;

/**
 * Returns the `route()` of a folder whose rules need `Deps`, with its section of the reference. A route
 * authenticates, authorizes, counts and validates the request, runs its rule and serializes the result; a resource's
 * `version` becomes its ETag.
 * @throws 401, 403, 429, 404 for a malformed path, 400, then the rule's own errors
 */
export const createRoute =
  <Deps, User extends SignedIn = SignedIn>(tag: ControlTag) =>
  <const Facts extends RouteFacts>(
    facts: Facts,
    run: (call: Call<Deps, User, Facts>) => Promise<unknown>,
  ): WithFacts<Route<Deps, User>, Facts> => ({
    ...facts,
    tag,
    handle: async (deps, event) => {
      const signedIn = await authorize(deps, facts, event);
      checkParameters(event);
      const querySchema = facts.query ?? NO_QUERY;
      const query = validateQuery(querySchema, queryParametersOf(querySchema, event));
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
      return replyOf(facts, event.requestId, await run(call as unknown as Call<Deps, User, Facts>));
    },
  });
