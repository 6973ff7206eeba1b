import { admit } from '../../../shared/admission/admit.ts';
import { presentedKey } from '../../../shared/admission/authenticate.ts';
import { commonHeaders, jsonReply } from '../../../shared/http/reply.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { cacheSalt } from '../../../shared/upstream/request-body.ts';
import { claimRequest, orReplay, releaseClaimOnFailure } from '../idempotency/claim-request.ts';
import { collectAnswer, streamAnswer, waitForFirstChunk } from './answer.ts';
import type { Dependencies, Serve } from './dependencies.ts';
import { fitWindow } from './fit-window.ts';
import { beginRequest, settleOnFailure } from './in-flight-request.ts';
import type { InferenceRequest, InferenceRoute, StreamedReply } from './inference-route.ts';
import { invokeAny } from './invoke-any.ts';
import { keptStream, keptWhole, NOT_STORED } from './kept-reply.ts';
import { affinityOf, orderTargets } from './order-targets.ts';
import { type ParsedRoute, parseRequest } from './parse-request.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { replyStream } from './reply-stream.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/**
 * Serves one inference request, top to bottom.
 * @param path the route's path, as usage events record it
 */
export const serve = <Request extends InferenceRequest, P extends Prompt>(
  path: string,
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
): Serve => {
  const parsedRoute: ParsedRoute<Request, PreparedRequest<P>> = {
    ...route,
    prepare: (request, model, price) => prepareRequest(route, request, model, price),
  };
  return async (event, clock) => {
    // 1. Parse. Errors come in the order 401, 403, 400, 404, 429.
    const key = presentedKey(event, deps.host);
    const parsed = await orReplay(deps, event, key, () => parseRequest(parsedRoute, deps, key, event));
    if ('replay' in parsed) return parsed.replay;
    const { request, model, price, prepared, opened, userId } = parsed;

    // 2. Admit, unless the request has an answer already. From here on it is in flight: exactly one usage event will be written for it.
    const admissionRequest = { key, model: request.model, tokens: prepared.tokens, maxCostNanos: prepared.maxCostNanos, opened };
    const claimed = await claimRequest(deps, event, admissionRequest, clock.getRemainingTimeInMillis());
    if ('replay' in claimed) return claimed.replay;
    const { claim } = claimed;
    const { requestId } = claim;
    const admission = await releaseClaimOnFailure(claim, () => admit(deps.keys, { ...admissionRequest, requestId }));
    const headers = { ...admission.headers, ...prepared.headers, ...(claim.complete && !claim.isKept && NOT_STORED) };
    const inFlight = beginRequest(
      { event, path, request, model, price, prepared, admission, userId, claim, headers, remainingMs: clock.getRemainingTimeInMillis() },
      deps,
    );

    const chunks = await settleOnFailure(inFlight, async () => {
      // 3. Fit the prompt and the answer into the model's window.
      const fitted = await fitWindow(deps.tokenizer, model, prepared);
      inFlight.usage.fitted(fitted);
      inFlight.abort.signal.throwIfAborted();

      // 4. Invoke the first target that answers.
      const salt = cacheSalt(deps.cacheSaltSecret, admission.organization, request.prompt_cache_isolation_key);
      const facts = { prompt: fitted.prompt, maxTokens: fitted.maxTokens, requestId, cacheSalt: salt };
      return invokeAny(deps.invoke, {
        // A user stays with a target while it is in service: it has cached the conversation so far.
        targets: orderTargets(model, userId ?? requestId),
        ...(userId !== undefined && { affinity: affinityOf(admission.organization, userId) }),
        bodyFor: ({ container_model: containerModel = '' }) =>
          JSON.stringify(route.toUpstream(request, model, { ...facts, containerModel })),
        choices: prepared.choices,
        names: prepared.window.names,
        signal: inFlight.abort,
        onTarget: inFlight.usage.targetInvoked,
        onHead: inFlight.usage.targetAccepted,
      });
    });
    const answer = { first: chunks.next(), rest: chunks };
    const reply = {
      id: route.replyId(requestId),
      created: Math.floor(event.receivedAtMs / 1_000),
      model: model.name,
      requestId,
      organization: admission.organization,
      ...(request.perf_metrics_in_response && { perf: inFlight.usage.perf }),
    };

    // 5. Pass the answer on, 6. settle.
    if (request.stream) {
      await waitForFirstChunk(answer, inFlight);
      const toStream = (): StreamedReply => route.toStream(request, reply);
      const events = streamAnswer(keptStream(toStream(), toStream, claim, EVENT_STREAM, prepared.ignored), answer, inFlight);
      // A caller that is known to have left pays for what was generated until then.
      const body = replyStream(events, inFlight.clientClosed, () => inFlight.settle('client_closed'));
      inFlight.onUnread(() => body.destroy());
      return { statusCode: 200, headers: { ...commonHeaders(event.requestId, EVENT_STREAM), ...headers }, body };
    }
    const kept = keptWhole(route.toWhole(request, reply), claim, prepared.ignored);
    const whole = await collectAnswer(kept, answer, inFlight);
    return jsonReply(event.requestId, 200, whole, kept.isStored() ? headers : { ...headers, ...NOT_STORED });
  };
};
