import { logInfo } from '../../../shared/logging/log.ts';
import type { Target } from '../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { BrokenAtWork, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { AnswerBatches, Invocation, Invoke } from '../../../shared/upstream/invocation.ts';
import { attemptSignal } from './attempt-signal.ts';
import { ClientClosed } from './client-closed.ts';
import type { TargetHealth } from './target-health.ts';

interface AnyInvocation extends Omit<Invocation, 'target' | 'body'> {
  targets: readonly [Target, ...Target[]];
  bodyFor: (target: Target) => string;
  ids: Readonly<Record<string, string>>;
  onTarget: (target: Target) => void;
}

// If this many targets fail, they are busy, or the request is at fault.
const MAX_TARGETS_TRIED = 4;

// After a timeout or a broken connection, the target may have processed the request.
const isWorthAnother = (error: unknown): boolean =>
  error instanceof UpstreamFailed && error.code !== 'upstream_timeout' && !(error instanceof BrokenAtWork);

// A target that is busy or rejects a request is in order.
const isTargetFailure = (error: unknown): boolean => error instanceof UpstreamFailed && error.code !== 'no_capacity';

/**
 * Invokes the first target, and the next one if a target fails before its first chunk: an answer that has begun can't
 * be restarted. `health` learns which targets fail.
 * @throws the error of the last try
 */
export const invokeAny = (
  invoke: Invoke,
  health: Pick<TargetHealth, 'invoked' | 'answered' | 'failed'>,
  { targets, bodyFor, ids, onTarget, ...invocation }: AnyInvocation,
): AnswerBatches => {
  const start = (target: Target, signal: AbortController): AnswerBatches => {
    onTarget(target);
    return invoke({ ...invocation, target, body: bodyFor(target), signal });
  };
  const tried = targets.slice(0, MAX_TARGETS_TRIED);
  const last = tried[tried.length - 1] as Target;
  if (tried.length === 1) return start(last, invocation.signal);

  const { signal } = invocation.signal;
  const begin = async (target: Target, answer: AnswerBatches): Promise<IteratorResult<UpstreamChunk[]>> => {
    try {
      health.invoked(target);
      const batch = await answer.next();
      health.answered(target);
      return batch;
    } catch (error) {
      if (!(signal.reason instanceof ClientClosed)) health[isTargetFailure(error) ? 'failed' : 'answered'](target);
      throw error;
    }
  };

  return (async function* () {
    for (const target of tried.slice(0, -1)) {
      const { attempt, release } = attemptSignal(invocation.signal);
      const answer = start(target, attempt);
      let batch: IteratorResult<UpstreamChunk[]>;
      try {
        batch = await begin(target, answer);
      } catch (error) {
        release();
        if (signal.aborted || !isWorthAnother(error)) throw error;
        logInfo('target_failed', { ...ids, endpoint: target.endpoint, component: target.component, ...(error as UpstreamFailed).logged });
        continue;
      }
      try {
        for (; !batch.done; batch = await answer.next()) yield batch.value;
        return;
      } finally {
        release();
        await answer.return(undefined);
      }
    }
    const answer = start(last, invocation.signal);
    try {
      for (let batch = await begin(last, answer); !batch.done; batch = await answer.next()) yield batch.value;
    } finally {
      await answer.return(undefined);
    }
  })();
};
