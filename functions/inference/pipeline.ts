import type { Readable } from 'node:stream';
import { cacheSalt } from '../../shared/chat/cache-salt.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { commonHeaders, jsonReply, type Reply } from '../../shared/http/reply.ts';
import { replyStream } from '../../shared/http/reply-stream.ts';
import { admit, type Keys } from '../../shared/keys/admit.ts';
import type { Host } from '../../shared/keys/authenticate.ts';
import { presentedKey } from '../../shared/keys/presented-key.ts';
import type { UsageStore } from '../../shared/metering/usage-store.ts';
import type { Inventory } from '../../shared/models/inventory.ts';
import { orderTargets } from '../../shared/models/order-targets.ts';
import { reservedTokens } from '../../shared/tokens/estimate.ts';
import { fitWindow, wantedTokens } from '../../shared/tokens/fit-window.ts';
import type { Prompt } from '../../shared/tokens/prompt.ts';
import { promptBytes } from '../../shared/tokens/prompt-bytes.ts';
import type { Tokenizer } from '../../shared/tokens/tokenizer.ts';
import type { Invoke } from '../../shared/upstream/invoke.ts';
import { invokeAny } from '../../shared/upstream/invoke-any.ts';
import { type Flight, takeOff } from './flight.ts';
import { ignoredHeader } from './ignored-header.ts';
import { parse } from './parse.ts';
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

/** Answers one request. */
export type Serve = (event: ApiEvent, clock: Clock) => Promise<Reply<string | Readable>>;

/** The way of one inference request, top to bottom. A route gives it a schema and two mappers. */
export const serve =
  <Request extends InferenceRequest, P extends Prompt>(route: InferenceRoute<Request, P>, deps: Dependencies): Serve =>
  async (event, clock) => {
    // 1. Parse. The answers come in the order 401, 403, 400, 404, 429.
    const key = presentedKey(event, deps.host);
    const { request, model, price } = await parse(route, deps, key, event);
    const window = route.window(request, model);
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
      const fitted = await fitWindow(deps.tokenizer, model, prompt, window);
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
      requestId,
      organization: admission.item.org,
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

/** What is done for an admitted request before its model answers; a failure settles it. */
const landing = async <Result>(flight: Flight, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw await flight.fail(error);
  }
};
