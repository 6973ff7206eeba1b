import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import { presentedKey } from '../../../shared/admission/keys/authenticate.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { commonHeaders, jsonReply, type Reply } from '../../../shared/http/reply.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { forDeployments } from '../../../shared/tokens/tokenizer.ts';
import type { AnswerBatches } from '../../../shared/upstream/invocation.ts';
import { type Admission, admit } from '../admission/admit.ts';
import { claimRequest, orReplay, type RequestClaim, releaseClaimOnFailure } from '../idempotency/claim-request.ts';
import { isLogged } from '../payload-log/log-header.ts';
import { type Answer, collectAnswer, streamAnswer, waitForFirstPart } from './answer.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import type { Clock, Dependencies, Serve } from './dependencies.ts';
import { invokeDeployment, waitMsOf } from './deployment-request.ts';
import { type Fitted, fitWindow } from './fit-window.ts';
import type { InferenceRequest, InferenceRoute, ReplyFacts, StreamedReply } from './inference-route.ts';
import { invokeAny } from './invoke-any.ts';
import { affinityOf, orderTargets, sessionOf } from './order-targets.ts';
import { type ParsedRequest, type Prepare, parseRequest } from './parse-request.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { estimateTokens } from './prompt-size.ts';
import { createRecorder, type Recorder } from './record-reply.ts';
import { replyBody } from './reply-body.ts';
import { type RequestUsage, trackUsage } from './request-usage.ts';
import { createSettlement, type Settlement, settleOnFailure } from './settlement.ts';
import { NOT_STORED, storedStream, storedWhole } from './stored-reply.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

// Exactly one usage event will be written for it.
interface AdmittedRequest<Request, P extends Prompt> extends ParsedRequest<Request, PreparedRequest<P>> {
  event: ApiEvent;
  claim: RequestClaim;
  admission: Admission;
  // False if the key or the caller forbids storing the answer.
  mayStore: boolean;
  headers: Record<string, string>;
  usage: RequestUsage;
  deadline: Deadline;
  settlement: Settlement;
  // Undefined if the content isn't logged.
  recorder: Recorder | undefined;
}

const admitRequest = async <Request extends InferenceRequest, P extends Prompt>(
  path: string,
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  event: ApiEvent,
  key: PresentedKey,
  parsed: ParsedRequest<Request, PreparedRequest<P>>,
  clock: Clock,
): Promise<AdmittedRequest<Request, P> | { replay: Reply }> => {
  const { request, model, price, prepared, authenticated, userId } = parsed;
  const parsedAtMs = deps.now();
  const { tokens, maxCostNanos } = prepared;
  const admissionRequest = { key, model: model.name, deployment: model.deployment?.id, tokens, maxCostNanos, authenticated };
  const claimed = await claimRequest(deps, event, admissionRequest, clock.getRemainingTimeInMillis());
  if ('replay' in claimed) return claimed;
  const { claim } = claimed;
  const admission = await releaseClaimOnFailure(claim, () => admit(deps.keys, { ...admissionRequest, requestId: claim.requestId }));
  if (route.refersToStored?.(request)) deps.keys.cache.reads.refund(key.keyId);
  const mayStore = admission.mayStore && (route.mayStore?.(request) ?? true);
  const headers = { ...admission.headers, ...prepared.headers, ...(claim.complete && !mayStore && NOT_STORED) };
  const facts = { event, parsedAtMs, path, request, model, price, prepared, admission, userId, claim, headers };
  const usage = trackUsage(facts, deps);
  const deadline = createDeadline(clock.getRemainingTimeInMillis(), request.stream === true, deps.now);
  const settlement = createSettlement(facts, usage, deadline, deps);
  deadline.start(settlement.expire);
  const recorder = isLogged(admission, event)
    ? createRecorder(event, path, admission, () => ({ schema: route.schema, ignored: route.ignored(request, model) }), deps.payloadLog)
    : undefined;
  return { ...parsed, event, claim, admission, mayStore, headers, usage, deadline, settlement, recorder };
};

const invokeTargets = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  { event, request, prepared, admission, claim, userId, usage }: AdmittedRequest<Request, P>,
  { prompt, maxTokens }: Fitted<P>,
  model: Model,
  signal: AbortController,
): AnswerBatches => {
  const { requestId } = claim;
  const cacheSalt = deps.cacheSalt(admission.organization, request.prompt_cache_isolation_key);
  const continuousUsage = model.continuous_usage && prepared.choices === 1;
  const facts = { prompt, maxTokens, requestId, cacheSalt, continuousUsage };
  // A conversation stays with a target while it is in service: it has cached the prompt so far.
  const conversation = userId ?? sessionOf(event);
  return invokeAny(deps.invoke, deps.health, {
    targets: deps.health.order(orderTargets(model, conversation ?? requestId)),
    ...(conversation !== undefined && { affinity: affinityOf(admission.organization, conversation) }),
    bodyFor: ({ container_model: containerModel = '' }) => JSON.stringify(route.toUpstream(request, model, { ...facts, containerModel })),
    choices: prepared.choices,
    names: prepared.window.names,
    ids: { request_id: requestId, key_id: admission.keyId, org_id: admission.organization },
    signal,
    onTarget: usage.targetInvoked,
    onHead: usage.targetAccepted,
  });
};

// If the model is a deployment without capacity, the answer begins with the wait for it.
const invokeModel = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  admitted: AdmittedRequest<Request, P>,
  fitted: Fitted<P>,
): Answer['rest'] => {
  const invoke = (model: Model, signal: AbortController) => invokeTargets(route, deps, admitted, fitted, model, signal);
  const { model, deadline } = admitted;
  return model.deployment ? invokeDeployment(deps, admitted, invoke) : invoke(model, deadline.abort);
};

const respond = async <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  admitted: AdmittedRequest<Request, P>,
  fitted: Fitted<P>,
  chunks: Answer['rest'],
): ReturnType<Serve> => {
  const { request, model, prepared, event, claim, admission, mayStore, headers, usage, deadline, settlement, recorder } = admitted;
  const answer = { first: chunks.next(), rest: chunks };
  const { requestId } = claim;
  const facts: ReplyFacts = {
    id: route.replyId(requestId),
    created: Math.floor(event.receivedAtMs / 1_000),
    model: model.name,
    promptTokens: fitted.promptTokens ?? estimateTokens(prepared.promptBytes),
    endsAtWindow: () => fitted.maxTokens < prepared.maxTokens && deadline.stopped() === undefined,
    requestId,
    organization: admission.organization,
    mayStore,
    ...(request.perf_metrics_in_response && { perf: usage.perf }),
  };
  const storing = { claim, mayStore, ignored: prepared.ignored };
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

// On the on-demand host, the tokenizer must know whose deployment it counts for.
const dependenciesFor = (deps: Dependencies, organization: string): Dependencies =>
  deps.host.scope === 'on_demand' ? { ...deps, tokenizer: forDeployments(deps.tokenizer, organization) } : deps;

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
    prepareRequest(route, request, model, price, model.deployment && waitMsOf(event, request.stream === true));
  return async (event, clock) => {
    // 1. Parse.
    const key = presentedKey(event, deps.host);
    const parsed = await orReplay(deps, event, key, () => parseRequest(route, prepare, deps, key, event));
    if ('replay' in parsed) return parsed.replay;

    // 2. Admit.
    const own = dependenciesFor(deps, parsed.authenticated.item.org);
    const admitted = await admitRequest(path, route, own, event, key, parsed, clock);
    if ('replay' in admitted) return admitted.replay;
    const { usage, deadline, settlement, recorder } = admitted;
    const answer = async () => {
      const { fitted, chunks } = await settleOnFailure(settlement, async () => {
        // 3. Fit the prompt and the answer into the model's window.
        const fitted = await fitWindow(own.tokenizer, parsed.model, parsed.prepared);
        usage.fitted(fitted);
        deadline.abort.signal.throwIfAborted();

        // 4. Invoke.
        return { fitted, chunks: invokeModel(route, own, admitted, fitted) };
      });

      // 5. Pass the answer on, 6. settle.
      return respond(route, admitted, fitted, chunks);
    };
    return recorder ? recorder.recordReply(answer) : answer();
  };
};
