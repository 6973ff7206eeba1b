import type * as z from 'zod';
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
import { readJsonBody } from '../../../shared/http/json-body.ts';
import type { OpaqueParts } from '../../../shared/http/json-numbers.ts';
import { userIdOf } from '../../../shared/http/user-id.ts';
import { validate } from '../../../shared/http/validate.ts';
import { DeploymentNotFound, DeploymentNotReady, ModelNotFound, ModelNotPriced } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import { checkModel } from '../admission/admit.ts';
import { checkRemembered } from '../admission/rejection.ts';
import { checkLogHeader } from '../payload-log/log-header.ts';
import type { Dependencies } from './dependencies.ts';

interface ModelRequest {
  model: string;
}

interface ParsedRoute<Request extends ModelRequest> {
  schema: z.ZodType<Request>;
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  refersToStored?: (request: Request) => boolean;
}

/** Derives from a valid request what its model must do. @throws 400 if the model can't do it */
export type Prepare<Request extends ModelRequest, Prepared> = (
  request: Request,
  model: Model,
  price: Price,
  event: ApiEvent,
) => Prepared | Promise<Prepared>;

/** A valid request of an authenticated API key. */
export interface ParsedRequest<Request, Prepared> {
  request: Request;
  model: Model;
  price: Price;
  prepared: Prepared;
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
  let named: string | undefined;
  try {
    const user = deps.host.scope === 'on_demand' ? { userId: userIdOf(event) } : {};
    const body = readJsonBody(event, OPAQUE);
    named = modelOf(body);
    checkLogHeader(event);
    const read = validate(route.schema, body);
    const model = await deps.modelsOf(authenticated.item.org).find(read.model);
    named = model.name;
    const price = priceAt(model.prices, event.receivedAtMs);
    if (!price) throw new ModelNotPriced(model.name);
    const request = route.resolve ? await resolve(route, route.resolve, read, model, deps, key, event.requestId) : read;
    return { request, model, price, prepared: await prepare(request, model, price, event), authenticated, ...user };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // An organization's deployments are private, so the key must be valid now; the shared models are public.
    const item = await (deps.host.scope === 'on_demand' ? authenticateForRead : authenticate)(deps.keys, key);
    // A key must not learn whether a model exists that it may not use.
    // The request can have named its deployment by an alias.
    if (error instanceof DeploymentNotReady) named = error.model;
    if (named !== undefined) checkModel(item, named, deps.now());
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
  model: Model,
  { keys }: Pick<Dependencies, 'keys'>,
  key: PresentedKey,
  requestId: string,
): Promise<Request> => {
  const item = await authenticate(keys, key);
  // The cost is unknown until the references are read.
  checkRemembered(keys, { key, model: model.name, requestId, tokens: 0, maxCostNanos: () => 0n, isFree: true }, item);
  if (refersToStored?.(request)) takeRead(keys, item);
  return from(request, { organization: item.org });
};

const modelOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'model' in body && typeof body.model === 'string' ? body.model : undefined;
