import type { Model, Target } from '../../../shared/models/model.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import type { AnswerBatches } from '../../../shared/upstream/invocation.ts';
import type { AdmittedRequest } from '../pipeline/admit-request.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import { attemptSignal } from '../targets/attempt-signal.ts';
import { ClientClosed } from '../targets/client-closed.ts';
import { invokeAny } from '../targets/invoke-any.ts';
import { orderTargets } from '../targets/order-targets.ts';
import { isTextTooLong, TextOfCallTooLong } from './fit-texts.ts';
import type { PoolingCall, PoolingPart, PoolingRequest, PoolingRoute } from './pooling-route.ts';
import { runAll } from './run-all.ts';
import { splitTexts } from './split-texts.ts';
import { UnusableReply } from './unusable-reply.ts';

// Calls of one request at the same time, so that other requests have their turn between them.
const MAX_CONCURRENT_CALLS = 4;

type Admitted<Request extends PoolingRequest> = Pick<AdmittedRequest<Request, TextPrompt>, 'request' | 'admission' | 'claim' | 'usage'>;

const bodyOf = async (answer: AnswerBatches): Promise<Buffer> => {
  let body: Buffer | undefined;
  for (let batch = await answer.next(); !batch.done; batch = await answer.next()) body = batch.value[0]?.body;
  if (!body) throw new UnusableReply('The reply has no body.');
  return body;
};

const invokeCall = async <Request extends PoolingRequest, Result>(
  route: PoolingRoute<Request, Result>,
  deps: Pick<Dependencies, 'invokeWhole' | 'health'>,
  { request, admission, claim, usage }: Admitted<Request>,
  model: Model,
  call: Omit<PoolingCall, 'containerModel'>,
  signal: AbortController,
): Promise<PoolingPart<Result>> => {
  const dialect = route.dialectOf(model);
  const callOf = ({ container_model: containerModel = '' }: Target): PoolingCall => ({ ...call, containerModel });
  const { attempt, release } = attemptSignal(signal);
  // The first call stands for the request in its event.
  const isFirst = call.from === 0;
  let invoked = callOf(model.targets[0]);
  try {
    const answer = invokeAny(deps.invokeWhole, deps.health, {
      targets: deps.health.order(orderTargets(model, call.requestId)),
      bodyFor: (target) => {
        invoked = callOf(target);
        return JSON.stringify(dialect.toBody(request, model, invoked));
      },
      choices: 1,
      ids: { request_id: claim.requestId, key_id: admission.keyId, org_id: admission.organization },
      signal: attempt,
      onTarget: isFirst ? usage.targetInvoked : () => undefined,
      ...(isFirst && { onHead: usage.targetAccepted }),
    });
    return dialect.read(await bodyOf(answer), request, model, invoked);
  } catch (error) {
    if (!isTextTooLong(error)) throw error;
    const [first, last] = [call.from, call.from + call.texts.length - 1].map((index) => route.nameOf(request, index)) as [string, string];
    throw new TextOfCallTooLong(first, last, model.context_length);
  } finally {
    release();
  }
};

/**
 * Invokes a model for all texts of a request, in as many calls as their replies and their time need.
 * @param done gets the results of the calls, in order, once all have succeeded
 * @returns an answer of one empty batch, as `invokeDeployment` reads it; it throws if a call fails
 */
export async function* invokeCalls<Request extends PoolingRequest, Result>(
  route: PoolingRoute<Request, Result>,
  deps: Pick<Dependencies, 'invokeWhole' | 'health' | 'cacheSalt'>,
  admitted: Admitted<Request>,
  prompt: TextPrompt,
  model: Model,
  signal: AbortController,
  done: (parts: PoolingPart<Result>[]) => void,
): AsyncGenerator<[]> {
  const { request, admission, claim } = admitted;
  const cacheSalt = deps.cacheSalt(admission.organization, undefined);
  const ranges = splitTexts(prompt, route.dialectOf(model).maxTexts(request, model));
  const { attempt, release } = attemptSignal(signal);
  const tasks = ranges.map((range, number) => () => {
    const requestId = ranges.length === 1 ? claim.requestId : `${claim.requestId}-${number}`;
    return invokeCall(route, deps, admitted, model, { ...range, requestId, cacheSalt }, attempt);
  });
  try {
    // The end of the other calls says nothing about their targets.
    done(await runAll(tasks, MAX_CONCURRENT_CALLS, () => attempt.abort(new ClientClosed())));
    yield [];
  } finally {
    release();
  }
}
