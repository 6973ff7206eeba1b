import { logInfo } from '../logging/log.ts';
import type { Target } from '../models/model.ts';
import type { UpstreamChunk } from './chunk.ts';
import { BrokenAtWork, UpstreamFailed } from './errors.ts';
import type { Invocation, Invoke } from './invoke.ts';

/** An invocation of whichever of a model's targets answers. */
export interface AnyInvocation extends Omit<Invocation, 'target' | 'body'> {
  /** In the order in which they are to be tried. */
  targets: readonly [Target, ...Target[]];
  bodyFor: (target: Target) => string;
  /** Called before each try. */
  onTarget: (target: Target) => void;
}

/** A target that is down or busy leaves the request to another one; one that took too long, or broke at work, may have worked on it. */
const isWorthAnother = (error: unknown): boolean =>
  error instanceof UpstreamFailed && error.code !== 'upstream_timeout' && !(error instanceof BrokenAtWork);

/**
 * Invokes the first target, and once more the second one where the first fails before its first word: an answer that has begun cannot be begun
 * again. Throws what the last try threw.
 */
export const invokeAny = (
  invoke: Invoke,
  { targets, bodyFor, onTarget, ...invocation }: AnyInvocation,
): AsyncGenerator<UpstreamChunk[]> => {
  const [first, second] = targets;
  const start = (target: Target, signal: AbortController): AsyncGenerator<UpstreamChunk[]> => {
    onTarget(target);
    return invoke({ ...invocation, target, body: bodyFor(target), signal });
  };
  if (!second) return start(first, invocation.signal);

  return (async function* () {
    // A failed invocation aborts its own signal, which must not stop the second one.
    const attempt = new AbortController();
    const { signal } = invocation.signal;
    const pass = (): void => attempt.abort();
    if (signal.aborted) pass();
    signal.addEventListener('abort', pass, { once: true });
    const answer = start(first, attempt);
    let batch: IteratorResult<UpstreamChunk[]>;
    try {
      batch = await answer.next();
    } catch (error) {
      signal.removeEventListener('abort', pass);
      if (signal.aborted || !isWorthAnother(error)) throw error;
      logInfo('target_failed', { endpoint: first.endpoint, component: first.component, detail: (error as UpstreamFailed).detail });
      yield* start(second, invocation.signal);
      return;
    }
    try {
      for (; !batch.done; batch = await answer.next()) yield batch.value;
    } finally {
      signal.removeEventListener('abort', pass);
      await answer.return(undefined);
    }
  })();
};
