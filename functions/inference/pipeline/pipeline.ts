import type { Readable } from 'node:stream';
import { admit, type Keys } from '../../../shared/admission/admit.ts';
import type { Host } from '../../../shared/admission/authenticate.ts';
import { presentedKey } from '../../../shared/admission/presented-key.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { commonHeaders, jsonReply, type Reply } from '../../../shared/http/reply.ts';
import { deprecationHeaders } from '../../../shared/models/deprecation.ts';
import type { Inventory } from '../../../shared/models/inventory.ts';
import { costNanos } from '../../../shared/prices/price.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { Invoke } from '../../../shared/upstream/invoke.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { orReplay, type Turn, takeTurn } from '../idempotency/answer-once.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { firstWord, gathered, streamed } from './answer.ts';
import { cacheSalt } from './cache-salt.ts';
import { reservedTokens } from './estimate-tokens.ts';
import { fitWindow, wantedTokens } from './fit-window.ts';
import { ignoredHeader } from './ignored-header.ts';
import { type Flight, takeOff } from './in-flight-request.ts';
import type { InferenceRequest, InferenceRoute, StreamedReply } from './inference-route.ts';
import { invokeAny } from './invoke-any.ts';
import { keptStream, keptWhole, NOT_STORED } from './kept-reply.ts';
import { affinityOf, orderTargets } from './order-targets.ts';
import { parse } from './parse-request.ts';
import { maxPromptTokens, measurePrompt } from './prompt-size.ts';
import { replyStream } from './reply-stream.ts';

export interface Dependencies {
  host: Host;
  /** The models that requests of an organization's keys may name. */
  modelsOf: (organization: string) => Inventory;
  keys: Keys;
  usage: UsageStore;
  tokenizer: Tokenizer;
  invoke: Invoke;
  idempotency: IdempotencyStore;
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
    const parsed = await orReplay(deps, event, key, () => parse(route, deps, key, event));
    if ('replay' in parsed) return parsed.replay;
    const { request, model, price, opened, userId } = parsed;
    const window = route.window(request, model);
    const choices = route.choices(request);
    const prompt = route.toPrompt(request, model);
    const size = measurePrompt(prompt);
    const ignored = ignoredHeader(route.ignored(request, model));

    // 2. Admit, unless it has been answered before. From here on the request is in flight, and will have exactly one usage event.
    const maxTokens = wantedTokens(window.maxTokens, model);
    const tokens = reservedTokens({ promptBytes: size.bytes, maxTokens, choices });
    const maxCostNanos = (): bigint =>
      costNanos(price, { promptTokens: maxPromptTokens(prompt, size, model), completionTokens: choices * maxTokens });
    const asked = { key, model: request.model, tokens, maxCostNanos, opened };
    const taken = await takeTurn(deps, event, asked, clock.getRemainingTimeInMillis());
    if ('replay' in taken) return taken.replay;
    const { turn } = taken;
    const { requestId } = turn;
    const admission = await abandoning(turn, () => admit(deps.keys, { ...asked, requestId }));
    const headers = { ...admission.headers, ...ignored, ...deprecationHeaders(model), ...(turn.complete && !turn.isKept && NOT_STORED) };
    const remainingMs = clock.getRemainingTimeInMillis();
    const facts = { event, route, request, model, price, admission, prompt, promptBytes: size.bytes, choices, turn, userId };
    const flight = takeOff({ ...facts, headers, remainingMs }, deps);

    const answer = await landing(flight, async () => {
      // 3. Fit it into the model's window.
      const fitted = await fitWindow(deps.tokenizer, model, prompt, size.longestTokens, window);
      flight.seen.fitted(fitted);
      flight.signal.signal.throwIfAborted();

      // 4. Invoke.
      const salt = cacheSalt(deps.cacheSaltSecret, admission.organization, request.prompt_cache_isolation_key);
      const question = { prompt: fitted.prompt, maxTokens: fitted.maxTokens, requestId, cacheSalt: salt };
      return invokeAny(deps.invoke, {
        // A user stays with a target while it serves: what it has cached of a conversation is of use.
        targets: orderTargets(model, userId ?? requestId),
        ...(userId !== undefined && { affinity: affinityOf(admission.organization, userId) }),
        bodyFor: ({ container_model: containerModel = '' }) =>
          JSON.stringify(route.toUpstream(request, model, { ...question, containerModel })),
        choices,
        names: window.names,
        signal: flight.signal,
        onTarget: flight.seen.asked,
        onHead: flight.seen.taken,
      });
    });
    const pumped = { first: answer.next(), rest: answer };
    const reply = {
      id: route.replyId(requestId),
      created: Math.floor(event.receivedAtMs / 1_000),
      model: model.name,
      requestId,
      organization: admission.organization,
      ...(request.perf_metrics_in_response && { perf: flight.seen.perf }),
    };

    // 5. Pump, 6. settle.
    if (request.stream) {
      await firstWord(pumped, flight);
      const contentType = 'text/event-stream; charset=utf-8';
      const toStream = (): StreamedReply => route.toStream(request, reply);
      const events = streamed(keptStream(toStream(), toStream, turn, contentType, ignored['x-sluice-ignored']), pumped, flight);
      // A caller that is known to have left is settled for what was generated until then.
      const body = replyStream(events, flight.clientClosed, () => flight.land('client_closed'));
      flight.onUnread(() => body.destroy());
      return { statusCode: 200, headers: { ...commonHeaders(event.requestId, contentType), ...headers }, body };
    }
    const kept = keptWhole(route.toWhole(request, reply), turn, ignored['x-sluice-ignored']);
    const whole = await gathered(kept, pumped, flight);
    return jsonReply(event.requestId, 200, whole, kept.isStored() ? headers : { ...headers, ...NOT_STORED });
  };

/** A request that is refused gives its turn up. */
const abandoning = async <Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    await turn.abandon();
    throw error;
  }
};

/** What is done for an admitted request before its model answers; a failure settles it. */
const landing = async <Result>(flight: Flight, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw await flight.fail(error);
  }
};
