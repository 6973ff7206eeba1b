import type { Model } from '../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import type { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { AnswerBatches } from '../../../shared/upstream/invocation.ts';
import type { Admission } from '../admission/admit.ts';
import { isWithoutCapacity } from '../capacity/without-capacity.ts';
import { attemptSignal } from '../targets/attempt-signal.ts';
import type { AnswerPart } from './answer.ts';
import type { Deadline } from './deadline.ts';
import type { Dependencies } from './dependencies.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { Settlement } from './settlement.ts';

export { waitMsOf } from '../capacity/wait-header.ts';

// A copy that has just started can be in service before it is reachable, so a waiting request tries again.
const MAX_TARGET_CALLS = 10;

// A wait ends this long before the request's deadline, so that its error says what it waited for.
const WAIT_END_MS = 2_000;

interface DeploymentRequest {
  model: Model;
  isShared?: boolean | undefined;
  prepared: Pick<PreparedRequest, 'waitMs'>;
  admission: Pick<Admission, 'organization' | 'requestId'>;
  deadline: Pick<Deadline, 'abort' | 'leftMs'>;
  settlement: Pick<Settlement, 'onSettled'>;
}

/**
 * Invokes a model that is made of a deployment. Without capacity, the request waits if its caller wants that, and the
 * answer begins with progress comments.
 * @param invoke invokes the model's current targets
 * @throws 503 if there is no capacity, or not in time
 */
export async function* invokeDeployment(
  deps: Pick<Dependencies, 'capacity'>,
  { model, isShared, prepared, admission, deadline, settlement }: DeploymentRequest,
  invoke: (model: Model, signal: AbortController) => AnswerBatches,
): AsyncGenerator<AnswerPart> {
  const { abort, leftMs } = deadline;
  // Returns the failure if the targets turn out to have no capacity.
  async function* attempt(current: Model): AsyncGenerator<AnswerPart, UpstreamFailed | undefined> {
    const { attempt, release } = attemptSignal(abort);
    const answer = invoke(current, attempt);
    try {
      let batch: IteratorResult<UpstreamChunk[]>;
      try {
        batch = await answer.next();
      } catch (error) {
        if (abort.signal.aborted || !isWithoutCapacity(error)) throw error;
        return error;
      }
      for (; !batch.done; batch = await answer.next()) yield batch.value;
      return undefined;
    } finally {
      release();
      await answer.return(undefined);
    }
  }

  if (model.deployment?.is_ready && !(yield* attempt(model))) return;
  const { organization, requestId } = admission;
  const waitMs = Math.max(0, Math.min(prepared.waitMs, leftMs() - WAIT_END_MS));
  const capacityOf = await deps.capacity();
  const { onSettled } = settlement;
  const { canWait, ready } = capacityOf({ model, isShared, organization, requestId, waitMs, signal: abort.signal, onSettled });
  for (let tries = 1; ; tries++) {
    const failure = yield* attempt(yield* ready(tries));
    if (!failure) return;
    if (!canWait() || tries === MAX_TARGET_CALLS) throw failure;
  }
}
