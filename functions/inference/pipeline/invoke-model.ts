import type { Model, Target } from '../../../shared/models/model.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import type { AnswerBatches } from '../../../shared/upstream/invocation.ts';
import type { Candidate } from '../fallback/candidate.ts';
import { firstAnswer } from '../fallback/first-answer.ts';
import { invokeAny } from '../targets/invoke-any.ts';
import { affinityOf, orderTargets, sessionOf } from '../targets/order-targets.ts';
import type { AdmittedRequest } from './admit-request.ts';
import type { Answer, AnswerPart } from './answer.ts';
import type { Dependencies } from './dependencies.ts';
import { invokeDeployment } from './deployment-request.ts';
import { type Fitted, fitWindow } from './fit-window.ts';
import type { InferenceRequest, InferenceRoute } from './inference-route.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { Settlement } from './settlement.ts';

/** Returns the body for a target of a model, as its runtime takes it. */
export const bodyOf = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Pick<Dependencies, 'cacheSalt'>,
  { request, admission }: AdmittedRequest<Request, P>,
  { prepared }: Candidate<PreparedRequest<P>>,
  { prompt, maxTokens }: Fitted<P>,
  model: Model,
): ((target: Target, requestId: string) => Record<string, unknown>) => {
  const cacheSalt = deps.cacheSalt(admission.organization, request.prompt_cache_isolation_key);
  const continuousUsage = model.continuous_usage && prepared.choices === 1;
  const facts = { prompt, maxTokens, cacheSalt, continuousUsage };
  return ({ container_model: containerModel = '' }, requestId) => route.toUpstream(request, model, { ...facts, requestId, containerModel });
};

const invokeTargets = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  admitted: AdmittedRequest<Request, P>,
  candidate: Candidate<PreparedRequest<P>>,
  fitted: Fitted<P>,
  model: Model,
  signal: AbortController,
): AnswerBatches => {
  const { event, admission, claim, userId, usage } = admitted;
  const { prepared } = candidate;
  const { requestId } = claim;
  const bodyFor = bodyOf(route, deps, admitted, candidate, fitted, model);
  // A conversation stays with a target while it is in service: it has cached the prompt so far.
  const conversation = userId ?? sessionOf(event);
  return invokeAny(deps.invoke, deps.health, {
    targets: deps.health.order(orderTargets(model, conversation ?? requestId)),
    ...(conversation !== undefined && { affinity: affinityOf(admission.organization, conversation) }),
    bodyFor: (target) => JSON.stringify(bodyFor(target, requestId)),
    choices: prepared.choices,
    names: prepared.window.names,
    ids: { request_id: requestId, key_id: admission.keyId, org_id: admission.organization },
    signal,
    onTarget: usage.targetInvoked,
    onHead: usage.targetAccepted,
  });
};

// Calls back at the end of the request, or when the candidate has failed; at once after that.
const collectCallbacks = (): { onSettled: Settlement['onSettled']; all: () => Promise<void> } => {
  const callbacks: (() => Promise<void>)[] = [];
  let isOver = false;
  return {
    onSettled: (then) => void (isOver ? then() : callbacks.push(then)),
    all: async () => {
      isOver = true;
      for (const then of callbacks.splice(0)) await then();
    },
  };
};

/** A candidate that was invoked, its fitted prompt, and its answer. */
export interface Invoked<P extends Prompt> {
  candidate: Candidate<PreparedRequest<P>>;
  fitted: Fitted<P>;
  answer: Answer;
}

/**
 * Fits the request into the window of a candidate and invokes it, and the next one if it fails before its first chunk.
 * If a model is a deployment without capacity, the answer begins with the wait for it.
 */
export const invokeModel = async <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  admitted: AdmittedRequest<Request, P>,
): Promise<Invoked<P>> => {
  const { candidates, admission, deadline, settlement, usage, failure } = admitted;
  const { abort, leftMs } = deadline;
  let ends = collectCallbacks();
  const begin = async (candidate: Candidate<PreparedRequest<P>>, signal: AbortController) => {
    const { model, isShared, prepared } = candidate;
    const fitted = await fitWindow(admitted.tokenizerOf(candidate), model, prepared);
    usage.fitted(fitted);
    abort.signal.throwIfAborted();
    const invoke = (current: Model, own: AbortController) => invokeTargets(route, deps, admitted, candidate, fitted, current, own);
    const asked = { model, isShared, prepared, admission, deadline: { abort: signal, leftMs }, settlement: ends };
    const rest: Answer['rest'] = model.deployment ? invokeDeployment(deps, asked, invoke) : invoke(model, signal);
    return { fitted, rest };
  };
  settlement.onSettled(() => ends.all());
  const { candidate, fitted, first, rest } = await firstAnswer<
    Candidate<PreparedRequest<P>>,
    Awaited<ReturnType<typeof begin>>,
    AnswerPart
  >(candidates, {
    abort,
    leftMs,
    isWaiting: candidates.some(({ prepared }) => prepared.waitMs > 0),
    failure,
    begin,
    onFailed: async (code, next) => {
      usage.failedOver(code, next);
      const failed = ends;
      ends = collectCallbacks();
      await failed.all();
      const id = next.model.deployment?.id;
      if (id) await (await import('../fallback/mark-deployment.ts')).markDeployment(deps.keys.store, admission, id);
    },
  });
  return { candidate, fitted, answer: { first: first ? Promise.resolve(first) : rest.next(), rest } };
};
