import type { Readable } from 'node:stream';
import { cacheSalt } from '../../shared/chat/cache-salt.ts';
import { type ApiEvent, headerOf } from '../../shared/http/api-event.ts';
import { ApiError } from '../../shared/http/errors.ts';
import { readJsonBody } from '../../shared/http/json-body.ts';
import { commonHeaders, jsonReply, type Reply } from '../../shared/http/reply.ts';
import { replyStream } from '../../shared/http/reply-stream.ts';
import { validate } from '../../shared/http/validate.ts';
import { admit, authenticate, checkModel, headersOf, type Keys } from '../../shared/keys/admit.ts';
import { checkHost, type Host } from '../../shared/keys/authenticate.ts';
import { missingKey, wrongKey } from '../../shared/keys/errors.ts';
import { type PresentedKey, parseSecret } from '../../shared/keys/secret.ts';
import type { UsageStore } from '../../shared/metering/usage-store.ts';
import { ModelNotPriced } from '../../shared/models/errors.ts';
import type { Inventory } from '../../shared/models/inventory.ts';
import type { Model } from '../../shared/models/model.ts';
import { orderTargets } from '../../shared/models/order-targets.ts';
import { type Price, priceAt } from '../../shared/prices/price.ts';
import { reservedTokens } from '../../shared/tokens/estimate.ts';
import { fitWindow, wantedTokens } from '../../shared/tokens/fit-window.ts';
import { promptBytes } from '../../shared/tokens/prompt-bytes.ts';
import type { Tokenizer } from '../../shared/tokens/tokenizer.ts';
import type { Invoke } from '../../shared/upstream/invoke.ts';
import { invokeAny } from '../../shared/upstream/invoke-any.ts';
import { type Flight, takeOff } from './flight.ts';
import { firstWord, gathered, streamed } from './pump.ts';
import type { InferenceRequest, InferenceRoute } from './route.ts';

export interface Dependencies {
  host: Host;
  inventory: Inventory;
  keys: Keys;
  usage: UsageStore;
  tokenizer: Tokenizer;
  invoke: Invoke;
  /** Of the salt that keeps one organization's prompts out of another's cache. */
  cacheSaltSecret: string;
  now: () => number;
}

/** The part of Lambda's context that is used. */
interface Clock {
  getRemainingTimeInMillis: () => number;
}

/** The way of one inference request, top to bottom. A route gives it a schema and two mappers. */
export const serve =
  <Request extends InferenceRequest>(route: InferenceRoute<Request>, deps: Dependencies) =>
  async (event: ApiEvent, clock: Clock): Promise<Reply<string | Readable>> => {
    // 1. Parse. The answers come in the order 401, 403, 400, 404, 429.
    const key = presentedKey(event, deps.host);
    const { request, model, price } = await parse(route, deps, key, event);
    const window = route.window(request);
    const choices = route.choices(request);
    const prompt = route.toPrompt(request, model);
    const bytes = promptBytes(prompt);
    const ignored = ignoredHeader(route.ignored(request, model));

    // 2. Admit. From here on the request is in flight, and will have exactly one usage event.
    const { requestId } = event;
    const tokens = reservedTokens({ promptBytes: bytes, maxTokens: wantedTokens(window.maxTokens, model), choices });
    const admission = await admit(deps.keys, { key, model: request.model, requestId, tokens });
    const headers = { ...admission.headers, ...ignored };
    const remainingMs = clock.getRemainingTimeInMillis();
    const flight = takeOff({ event, route, request, model, price, admission, prompt, promptBytes: bytes, headers, remainingMs }, deps);

    const answer = await landing(flight, async () => {
      // 3. Fit it into the model's window.
      const fitted = await fitWindow(deps.tokenizer, model, { prompt, promptBytes: bytes, request: window });
      flight.seen.fitted(fitted);
      flight.signal.signal.throwIfAborted();

      // 4. Invoke.
      const salt = cacheSalt(deps.cacheSaltSecret, admission.item.org, request.prompt_cache_isolation_key);
      const question = { prompt: fitted.prompt, maxTokens: fitted.maxTokens, requestId, cacheSalt: salt };
      return invokeAny(deps.invoke, {
        targets: orderTargets(model, requestId),
        bodyFor: ({ container_model: containerModel = '' }) =>
          JSON.stringify(route.toUpstream(request, model, { ...question, containerModel })),
        choices,
        signal: flight.signal,
        onTarget: flight.seen.asked,
        onHead: flight.seen.taken,
      });
    });
    const pumped = { first: answer.next(), rest: answer };
    const facts = {
      id: route.replyId(requestId),
      created: Math.floor(event.receivedAtMs / 1_000),
      model: model.name,
      ...(request.perf_metrics_in_response && { perf: flight.seen.perf }),
    };

    // 5. Pump, 6. settle.
    if (request.stream) {
      await firstWord(pumped, flight);
      const events = streamed(route.toStream(request, facts), pumped, flight);
      // A caller that is known to have left is settled for what was generated until then.
      const body = replyStream(events, flight.clientClosed, () => flight.land('client_closed'));
      flight.onUnread(() => body.destroy());
      return { statusCode: 200, headers: { ...commonHeaders(requestId, 'text/event-stream; charset=utf-8'), ...headers }, body };
    }
    const whole = await gathered(route.toWhole(request, facts), pumped, flight);
    return jsonReply(requestId, 200, whole, headers);
  };

/** The API key of the request; one that cannot be ours is refused here, without a call. */
const presentedKey = (event: ApiEvent, host: Host): PresentedKey => {
  const authorization = headerOf(event, 'authorization');
  if (!authorization) throw missingKey();
  const [, secret] = /^Bearer +(\S+)\s*$/i.exec(authorization) ?? [];
  if (!secret) throw missingKey();
  const key = parseSecret(secret);
  if (!key) throw wrongKey();
  checkHost(key, host);
  return key;
};

/** The request and its model. What is wrong with them is told only to a key that opens. */
const parse = async <Request extends InferenceRequest>(
  route: InferenceRoute<Request>,
  deps: Dependencies,
  key: PresentedKey,
  event: ApiEvent,
): Promise<{ request: Request; model: Model; price: Price }> => {
  let asked: string | undefined;
  try {
    const body = readJsonBody(event);
    asked = modelOf(body);
    const request = validate(route.schema, body);
    const model = await deps.inventory.find(request.model);
    const price = priceAt(model.prices, event.receivedAtMs);
    if (!price) throw new ModelNotPriced(model.name);
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

const MAX_IGNORED_CHARACTERS = 2_000;

/** Names the properties that were accepted and have no effect; a name that cannot stand in a header is encoded, and what has no room is counted. */
const ignoredHeader = (names: readonly string[]): Record<string, string> => {
  if (names.length === 0) return {};
  const told: string[] = [];
  let characters = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.toWellFormed()).slice(0, 64);
    characters += encoded.length + 2;
    if (characters > MAX_IGNORED_CHARACTERS) break;
    told.push(encoded);
  }
  const more = names.length - told.length;
  return { 'x-sluice-ignored': [...told, ...(more > 0 ? [`${more} more`] : [])].join(', ') };
};

/** What is done for an admitted request before its model answers; a failure settles it. */
const landing = async <Result>(flight: Flight, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw await flight.fail(error);
  }
};
