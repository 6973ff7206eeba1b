import type { Model } from '../../../shared/models/model.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import type { AnswerBatches } from '../../../shared/upstream/invocation.ts';
import { invokeAny } from '../targets/invoke-any.ts';
import { affinityOf, orderTargets, sessionOf } from '../targets/order-targets.ts';
import type { AdmittedRequest } from './admit-request.ts';
import type { Answer } from './answer.ts';
import type { Dependencies } from './dependencies.ts';
import { invokeDeployment } from './deployment-request.ts';
import type { Fitted } from './fit-window.ts';
import type { InferenceRequest, InferenceRoute } from './inference-route.ts';

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

/** Invokes a request's model. If that is a deployment without capacity, the answer begins with the wait for it. */
export const invokeModel = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  admitted: AdmittedRequest<Request, P>,
  fitted: Fitted<P>,
): Answer['rest'] => {
  const invoke = (model: Model, signal: AbortController) => invokeTargets(route, deps, admitted, fitted, model, signal);
  const { model, deadline } = admitted;
  return model.deployment ? invokeDeployment(deps, admitted, invoke) : invoke(model, deadline.abort);
};
