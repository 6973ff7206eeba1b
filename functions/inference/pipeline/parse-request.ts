import type * as z from 'zod';
import { mayFallBack } from '../../../shared/admission/item/key-item.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import {
  type AuthenticatedKey,
  authenticate,
  authenticateForRead,
  isModelAllowed,
  resolveKey,
  takeRead,
} from '../../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { readJsonBody } from '../../../shared/http/json/json-body.ts';
import type { OpaqueParts } from '../../../shared/http/json/json-numbers.ts';
import { userIdOf } from '../../../shared/http/user-id.ts';
import { validate } from '../../../shared/http/validate.ts';
import { DeploymentNotFound, ModelNotFound } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { Price } from '../../../shared/prices/price.ts';
import type { FailedAttempt } from '../../../shared/usage/event.ts';
import { checkModel } from '../admission/admit.ts';
import { checkRemembered } from '../admission/rejection.ts';
import type { Candidate } from '../fallback/candidate.ts';
import { isFallbackOff } from '../fallback/fallback-header.ts';
import {
  type FallbackNames,
  type FirstModel,
  findFallbacks,
  findFirst,
  prepareCandidates,
  type SplitFacts,
} from '../fallback/find-models.ts';
import { checkLogHeader } from '../payload-log/log-header.ts';
import { splitAffinity } from '../targets/split-affinity.ts';
import type { Dependencies } from './dependencies.ts';

interface ModelRequest {
  model: string;
  user?: string | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
}

interface ParsedRoute<Request extends ModelRequest> {
  schema: z.ZodType<Request>;
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  refersToStored?: (request: Request) => boolean;
  /** Absent: only the model that a request names can answer it. */
  fallbacks?: { field: string; of: (request: Request) => readonly string[] | undefined };
}

/** Derives from a valid request what its model must do. @throws 400 if the model can't do it */
export type Prepare<Request extends ModelRequest, Prepared> = (
  request: Request,
  model: Model,
  price: Price,
  event: ApiEvent,
) => Prepared | Promise<Prepared>;

/** A valid request of an authenticated API key. */
export interface ParsedRequest<Request, Prepared> extends Candidate<Prepared> {
  request: Request;
  /** The own name of the model that the request names. */
  asked: string;
  /** The other models that can answer it, in the order in which they are tried. */
  others: readonly Candidate<Prepared>[];
  /** The fallbacks that the request itself names. */
  requestedModels: readonly string[];
  /** The reason for which the model that the request names can't be called; then `model` is a fallback. */
  failure: ApiError | undefined;
  attempts: readonly FailedAttempt[];
  /** The alias by which the request names its model, if it does. */
  alias: string | undefined;
  split: SplitFacts | undefined;
  authenticated: AuthenticatedKey;
  /** The end user, on the host that requires one. */
  userId?: string;
}

// JSON Schemas and the arguments of tool calls.
const OPAQUE: OpaqueParts = {
  fields: new Set(['tools', 'functions', 'messages', 'input', 'response_format', 'text', 'output_config', 'output_format']),
  keys: new Set(['parameters', 'arguments', 'schema', 'input', 'input_schema']),
  integers: new Set(['seed']),
};

/**
 * Reads a request and finds its model. The body is read after the key is found, and its errors are reported only to a
 * valid key.
 * @throws 401, 403, 400, 404, in this order
 */
export const parseRequest = async <Request extends ModelRequest, Prepared>(
  route: ParsedRoute<Request>,
  prepare: Prepare<Request, Prepared>,
  deps: Pick<Dependencies, 'host' | 'keys' | 'modelsOf' | 'now'>,
  key: PresentedKey,
  event: ApiEvent,
): Promise<ParsedRequest<Request, Prepared>> => {
  const authenticated = await resolveKey(deps.keys, key, Number.POSITIVE_INFINITY);
  event.sender = { key_id: key.keyId, org_id: authenticated.item.org };
  const named: string[] = [];
  try {
    const user = deps.host.scope === 'on_demand' ? { userId: userIdOf(event) } : {};
    const body = readJsonBody(event, OPAQUE);
    named.push(...modelOf(body));
    checkLogHeader(event);
    const isFallbackOn = !isFallbackOff(event) && route.fallbacks !== undefined && mayFallBack(authenticated.item);
    const read = validate(route.schema, body);
    const inventory = deps.modelsOf(authenticated.item.org);
    const affinityOf = () => splitAffinity(authenticated.item.org, read, body, event, user.userId);
    const first = await findFirst(inventory, read.model, affinityOf, event.receivedAtMs);
    named.splice(0, 1, first.name);
    const { found, requested } = await findFallbacks(inventory, first, {
      ...(isFallbackOn ? namesOf(route, read, first) : NO_NAMES),
      onRequested: (name) => named.push(name),
      isAllowed: (name) => isModelAllowed(authenticated.item, name),
      atMs: event.receivedAtMs,
    });
    if (first.failure && found.length === 0) throw first.failure;
    const request = route.resolve ? await resolve(route, route.resolve, read, first.name, deps, key, event.requestId) : read;
    const candidates = await prepareCandidates(first.found ? [first.found, ...found] : found, (model, price) =>
      prepare(request, model, price, event),
    );
    const [start, ...others] = candidates;
    if (!start) throw first.failure;
    const alias = read.model === first.name ? undefined : read.model;
    const of = { asked: first.name, alias, split: first.split, authenticated, ...user };
    return { request, ...start, others, requestedModels: requested, ...failureOf(first), ...of };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // An organization's deployments are private, so the key must be valid now; the shared models are public.
    const item = await (deps.host.scope === 'on_demand' ? authenticateForRead : authenticate)(deps.keys, key);
    // A key must not learn whether a model exists that it may not use.
    for (const name of named) checkModel(item, name, deps.now());
    const hasNames = error instanceof DeploymentNotFound || error instanceof ModelNotFound;
    const visible = hasNames ? error.showingOnly((name) => isModelAllowed(item, name)) : error;
    throw visible.withHeaders(limitHeaders([item], deps.now()));
  }
};

// A key that is known to be over its limits reads nothing.
const resolve = async <Request extends ModelRequest>(
  { refersToStored }: Pick<ParsedRoute<Request>, 'refersToStored'>,
  from: NonNullable<ParsedRoute<Request>['resolve']>,
  request: Request,
  model: string,
  { keys }: Pick<Dependencies, 'keys'>,
  key: PresentedKey,
  requestId: string,
): Promise<Request> => {
  const item = await authenticate(keys, key);
  // The cost is unknown until the references are read.
  checkRemembered(keys, { key, model, requestId, tokens: 0, maxCostNanos: () => 0n, isFree: true }, item);
  if (refersToStored?.(request)) takeRead(keys, item);
  return from(request, { organization: item.org });
};

const modelOf = (body: unknown): string[] =>
  typeof body === 'object' && body !== null && 'model' in body && typeof body.model === 'string' ? [body.model] : [];

const NO_NAMES: FallbackNames = { names: [], field: undefined };

const failureOf = ({ name, failure }: FirstModel): Pick<ParsedRequest<unknown, unknown>, 'failure' | 'attempts'> => ({
  failure,
  attempts: failure ? [{ model: name, code: failure.code ?? 'unknown', ms: 0 }] : [],
});

// The request's own list replaces what is configured, even if it is empty.
const namesOf = <Request extends ModelRequest>(
  { fallbacks }: Pick<ParsedRoute<Request>, 'fallbacks'>,
  request: Request,
  first: FirstModel,
): FallbackNames => {
  const names = fallbacks?.of(request);
  return names ? { names, field: fallbacks?.field } : { names: first.fallbacks, field: undefined };
};
