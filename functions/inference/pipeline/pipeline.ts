import { presentedKey } from '../../../shared/admission/keys/authenticate.ts';
import { commonHeaders, jsonReply } from '../../../shared/http/reply.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { orReplay } from '../idempotency/claim-request.ts';
import { type AdmittedRequest, admitRequest } from './admit-request.ts';
import { collectAnswer, streamAnswer, waitForFirstPart } from './answer.ts';
import type { Dependencies, Serve } from './dependencies.ts';
import { waitMsOf } from './deployment-request.ts';
import type { InferenceRequest, InferenceRoute, ReplyFacts, StreamedReply } from './inference-route.ts';
import { type Invoked, invokeModel } from './invoke-model.ts';
import { type Prepare, parseRequest } from './parse-request.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { estimateTokens } from './prompt-size.ts';
import { afterReply, replyBody } from './reply-body.ts';
import { settleOnFailure } from './settlement.ts';
import { type ShadowedRequest, toShadow } from './shadow-request.ts';
import { NOT_STORED, storedStream, storedWhole } from './stored-reply.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const respond = async <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  admitted: AdmittedRequest<Request, P>,
  { candidate, fitted, answer }: Invoked<P>,
): ReturnType<Serve> => {
  const { request, event, claim, admission, mayStore, usage, deadline, settlement, recorder } = admitted;
  const { model, prepared } = candidate;
  const headers = admitted.headersOf(candidate);
  const { requestId } = claim;
  const facts: ReplyFacts = {
    id: route.replyId(requestId),
    created: unixSeconds(event.receivedAtMs),
    model: model.name,
    promptTokens: fitted.promptTokens ?? estimateTokens(prepared.promptBytes),
    endsAtWindow: () => fitted.maxTokens < prepared.maxTokens && deadline.stopped() === undefined,
    requestId,
    organization: admission.organization,
    mayStore,
    ...(request.perf_metrics_in_response && { perf: usage.perf }),
  };
  const storing = { claim, mayStore, ignored: prepared.ignored, fallback: candidate.index };
  if (!request.stream) {
    const stored = storedWhole(route.toWhole(request, facts, model), storing);
    const whole = await collectAnswer(stored, answer, admitted);
    return jsonReply(event.requestId, 200, whole, stored.isStored() ? headers : { ...headers, ...NOT_STORED });
  }
  await waitForFirstPart(answer, settlement);
  const toStream = (): StreamedReply => route.toStream(request, facts, model);
  const stored = storedStream(toStream(), toStream, EVENT_STREAM, storing);
  const reply = recorder?.recordStream(stored, route.toWhole(request, facts, model), usage.total) ?? stored;
  const events = streamAnswer(reply, answer, admitted);
  // A caller that has left pays for what was generated until then.
  const body = replyBody(events, () => deadline.stop('client_closed'), settlement.abandon, reply.keepAlive);
  deadline.closeUnread(body);
  return { statusCode: 200, headers: { ...commonHeaders(event.requestId, EVENT_STREAM), ...headers }, body };
};

/**
 * Serves one inference request. Errors come in the order 401, 403, 400, 404, 429.
 * @param path the route's path, as usage events record it
 */
export const serve = <Request extends InferenceRequest, P extends Prompt>(
  path: string,
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
): Serve => {
  const prepare: Prepare<Request, PreparedRequest<P>> = (request, model, price, event) =>
    prepareRequest(route, request, model, price, waitMsOf(event, model, request.stream === true));
  return async (event, clock) => {
    // 1. Parse.
    const key = presentedKey(event, deps.host);
    const parsed = await orReplay(deps, event, key, () => parseRequest(route, prepare, deps, key, event));
    if ('replay' in parsed) return parsed.replay;

    // 2. Admit.
    const admitted = await admitRequest(path, route, deps, event, key, parsed, clock);
    if ('replay' in admitted) return admitted.replay;
    const { settlement, recorder } = admitted;
    let shadowed: ShadowedRequest<P> | undefined;
    const answer = async () => {
      // 3. Fit the prompt and the answer into the model's window, 4. invoke the model.
      const invoked = await settleOnFailure(settlement, () => invokeModel(route, deps, admitted));

      // 5. Pass the answer on, 6. settle.
      shadowed = toShadow(route, deps, admitted, invoked, clock);
      return respond(route, admitted, shadowed?.invoked ?? invoked);
    };
    const reply = recorder ? await recorder.recordReply(answer) : await answer();
    // 7. Compare the answer with that of the deployment's next generation.
    return shadowed && reply.statusCode === 200 ? { ...reply, body: afterReply(reply.body, shadowed.send) } : reply;
  };
};
