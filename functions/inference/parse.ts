import type * as z from 'zod';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { ApiError } from '../../shared/http/errors.ts';
import { readJsonBody } from '../../shared/http/json-body.ts';
import { validate } from '../../shared/http/validate.ts';
import { authenticate, checkModel, headersOf } from '../../shared/keys/admit.ts';
import type { PresentedKey } from '../../shared/keys/secret.ts';
import { ModelNotPriced } from '../../shared/models/errors.ts';
import type { Model } from '../../shared/models/model.ts';
import { type Price, priceAt } from '../../shared/prices/price.ts';
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

/** The request and its model. What is wrong with them is told only to a key that opens. */
export const parse = async <Request extends ModelRequest>(
  route: ParsedRoute<Request>,
  deps: Pick<Dependencies, 'keys' | 'inventory' | 'now'>,
  key: PresentedKey,
  event: ApiEvent,
): Promise<{ request: Request; model: Model; price: Price }> => {
  let asked: string | undefined;
  try {
    const body = readJsonBody(event);
    asked = modelOf(body);
    const read = validate(route.schema, body);
    const model = await deps.inventory.find(read.model);
    const price = priceAt(model.prices, event.receivedAtMs);
    if (!price) throw new ModelNotPriced(model.name);
    const request = route.resolve ? await route.resolve(read, { organization: (await authenticate(deps.keys, key)).org }) : read;
    route.checkSupport(request, model);
    return { request, model, price };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const item = await authenticate(deps.keys, key);
    // A key must not learn of a model that it may not use, not even whether there is one.
    if (asked !== undefined) checkModel(item, asked, deps.now());
    Object.assign(error.headers, headersOf(item, deps.now()));
    throw error;
  }
};

const modelOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'model' in body && typeof body.model === 'string' ? body.model : undefined;
