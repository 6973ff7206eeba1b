import { logError } from '../../../shared/logging/log.ts';
import { evenShare } from '../../../shared/models/even-share.ts';
import type { ModelShadow } from '../../../shared/models/model.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import { observeAnswer } from '../shadow/observe-answer.ts';
import type { AdmittedRequest } from './admit-request.ts';
import type { AnswerPart } from './answer.ts';
import type { Clock, Dependencies } from './dependencies.ts';
import type { InferenceRequest, InferenceRoute } from './inference-route.ts';
import { bodyOf, type Invoked } from './invoke-model.ts';

/** A request that is also sent to the next generation of its deployment. */
export interface ShadowedRequest<P extends Prompt> {
  /** Its answer, of which a copy is kept in memory. */
  invoked: Invoked<P>;
  /** Sends it, if its answer is complete. Never throws. */
  send: () => Promise<void>;
}

// The same requests in each environment.
const isDrawn = ({ number, percent }: ModelShadow, requestId: string): boolean =>
  evenShare(`${requestId}/shadow/${number}`) * 100 < percent;

/**
 * Prepares a request for the next generation of the deployment that answers it; undefined for most requests. Those of a
 * fallback, of a shared model and with more than one choice are never sent.
 */
export const toShadow = <Request extends InferenceRequest, P extends Prompt>(
  route: InferenceRoute<Request, P>,
  deps: Dependencies,
  admitted: AdmittedRequest<Request, P>,
  invoked: Invoked<P>,
  clock: Clock,
): ShadowedRequest<P> | undefined => {
  const { candidate, fitted, answer } = invoked;
  const { model, prepared, index, isShared } = candidate;
  const { claim, usage, deadline } = admitted;
  const { id: deployment = '', shadow } = model.deployment ?? {};
  if (!shadow || index > 0 || isShared || prepared.choices !== 1 || !isDrawn(shadow, claim.requestId)) return undefined;
  const observer = observeAnswer();
  let isComplete = false;
  const observe = (batch: IteratorResult<AnswerPart>): IteratorResult<AnswerPart> => {
    if (batch.done) isComplete = true;
    else if (typeof batch.value !== 'string') observer.take(batch.value);
    return batch;
  };
  const first = answer.first.then(observe);
  const rest = { next: async () => observe(await answer.rest.next()) };

  const sendComplete = async (): Promise<void> => {
    const { finishReason } = observer.answer();
    const times = usage.answerTimes();
    if (!isComplete || deadline.stopped() || observer.isTooLarge() || finishReason === undefined || !times) return;
    const bodyWith = (requestId: string, dialect = model.dialect) =>
      bodyOf(route, deps, admitted, candidate, fitted, { ...model, dialect })(shadow.target, requestId);
    const run = await deps.shadow();
    await run({
      deployment,
      shadow,
      tokens: prepared.maxPromptTokens + fitted.maxTokens,
      servedBody: bodyWith(claim.requestId),
      bodyFor: (requestId) => bodyWith(requestId, shadow.dialect),
      serving: { ...observer.answer(), ...times },
      remainingMs: clock.getRemainingTimeInMillis(),
    });
  };
  // The caller has the reply, so a failure is only logged.
  const send = (): Promise<void> =>
    sendComplete().catch((error: unknown) => logError('shadow_failed', error, { deployment, comparison: shadow.number }));
  return { invoked: { ...invoked, answer: { first, rest } }, send };
};
