import type * as z from 'zod';
import { checkModel, checkRemembered } from '../../../shared/admission/admit.ts';
import { authenticate, authenticateToSee, isModelAllowed, type Opened, openKey } from '../../../shared/admission/authenticate.ts';
import { limitHeaders } from '../../../shared/admission/rate-limits.ts';
import type { PresentedKey } from '../../../shared/admission/secret.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { readJsonBody } from '../../../shared/http/json-body.ts';
import { userIdOf } from '../../../shared/http/user-id.ts';
import { validate } from '../../../shared/http/validate.ts';
import { DeploymentNotFound, ModelNotPriced } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import type { Dependencies } from './pipeline.ts';

/** Whatever is asked of a model names it. */
interface ModelRequest {
  model: string;
}

/** The part of a route that reads a request. */
interface ParsedRoute<Request extends ModelRequest> {
  schema: z.ZodType<Request>;
  resolve?: (request: Request, caller: { organization: string }) => Promise<Request>;
  checkSupport: (request: Request, model: Model) => void;
}

/** A request that was understood, of a key that opens. */
export interface Parsed<Request> {
  request: Request;
  model: Model;
  price: Price;
  opened: Opened;
  /** The end user, on the host that asks for one. */
  userId?: string;
}

/** The request and its model. Nothing of a body is read for a key that does not open, and what is wrong with it is told to no other. */
export const parse = async <Request extends ModelRequest>(
  route: ParsedRoute<Request>,
  deps: Pick<Dependencies, 'host' | 'keys' | 'modelsOf' | 'now'>,
  key: PresentedKey,
  event: ApiEvent,
): Promise<Parsed<Request>> => {
  const opened = await openKey(deps.keys, key, Number.POSITIVE_INFINITY);
  let asked: string | undefined;
  try {
    const user = deps.host.scope === 'on_demand' ? { userId: userIdOf(event) } : {};
    const body = readJsonBody(event);
    asked = modelOf(body);
    const read = validate(route.schema, body);
    const model = await deps.modelsOf(opened.item.org).find(read.model);
    const price = priceAt(model.prices, event.receivedAtMs);
    if (!price) throw new ModelNotPriced(model.name);
    const request = route.resolve ? await resolve(route.resolve, read, deps, key, event.requestId) : read;
    route.checkSupport(request, model);
    return { request, model, price, opened, ...user };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // What an organization has deployed is told to keys alone that open now; what is shared is no secret.
    const item = await (deps.host.scope === 'on_demand' ? authenticateToSee : authenticate)(deps.keys, key);
    // A key must not learn of a model that it may not use, not even whether there is one.
    if (asked !== undefined) checkModel(item, asked, deps.now());
    const told = error instanceof DeploymentNotFound ? error.telling((name) => isModelAllowed(item, name)) : error;
    Object.assign(told.headers, limitHeaders([item], deps.now()));
    throw told;
  }
};

/** What a request needs from elsewhere is read before it is admitted: not for a key that is known to be over its limits. */
const resolve = async <Request extends ModelRequest>(
  from: NonNullable<ParsedRoute<Request>['resolve']>,
  request: Request,
  { keys }: Pick<Dependencies, 'keys'>,
  key: PresentedKey,
  requestId: string,
): Promise<Request> => {
  const item = await authenticate(keys, key);
  // What it will cost is not known before it is whole.
  checkRemembered(keys, { key, model: request.model, requestId, tokens: 0, maxCostNanos: () => 0n }, item);
  return from(request, { organization: item.org });
};

const modelOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'model' in body && typeof body.model === 'string' ? body.model : undefined;
