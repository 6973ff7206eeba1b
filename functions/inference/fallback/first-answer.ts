import { ApiError, toApiError } from '../../../shared/http/errors.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import { attemptSignal } from '../targets/attempt-signal.ts';

// A candidate before the last one has this long for its first chunk, but leaves the rest to the next one.
const FIRST_CHUNK_MS = 60_000;
const LEFT_FOR_NEXT_MS = 20_000;

// Codes of a model's failures. Errors and limits of the caller are not among them.
const FAILURES: ReadonlySet<string | null> = new Set([
  'no_capacity',
  'upstream_error',
  'upstream_timeout',
  'model_not_ready',
  'deployment_not_ready',
  'deployment_waking',
]);
const CANNOT_WAKE = 'insufficient_quota';

// A request that waits for a deployment to start doesn't leave it.
const isFailureOfModel = (error: unknown, isWaiting: boolean): boolean => {
  if (!(error instanceof ApiError)) return false;
  // The model's deployment is asleep, and there is no credit to wake it.
  if (error.code === CANNOT_WAKE) return true;
  return error.status === 503 && FAILURES.has(error.code) && !(isWaiting && error.code === 'deployment_waking');
};

// A fallback can't do what the request asks for, for instance because its window is smaller.
const isUnable = (error: unknown): boolean => error instanceof ApiError && error.status === 400;

const tooSlow = (): UpstreamFailed => new UpstreamFailed('upstream_timeout', 'No first chunk in time.', 'No first chunk in time');

type Parts<Part> = Pick<AsyncIterator<Part>, 'next'>;

/** The parts of an answer, of which the first can have arrived. */
export interface BegunAnswer<Part> {
  first?: IteratorResult<Part>;
  rest: Parts<Part>;
}

interface Tries<One, Begun extends { rest: Parts<Part> }, Part> {
  /** Aborted when the request ends. */
  abort: AbortController;
  leftMs: () => number;
  isWaiting: boolean;
  /** The failure of the model that the request names, if it can't be called. */
  failure: unknown;
  /** Invokes a candidate. */
  begin: (candidate: One, signal: AbortController) => Promise<Begun>;
  /** Called after a candidate has failed, with the one that is tried next. */
  onFailed: (code: string, next: One) => Promise<void>;
}

const firstPart = async <Part>(rest: Parts<Part>, attempt: AbortController, limitMs: number): Promise<IteratorResult<Part>> => {
  if (limitMs <= 0) return rest.next();
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(tooSlow());
        attempt.abort();
      }, limitMs);
    });
    return await Promise.race([rest.next(), late]);
  } finally {
    clearTimeout(timer);
  }
};

// The caller named or was given the last model only as a fallback, so it sees why the one before failed.
const orFailure = <Part>(parts: Parts<Part>, failure: unknown): Parts<Part> => ({
  next: async () => {
    try {
      return await parts.next();
    } catch (error) {
      throw isUnable(error) ? failure : error;
    }
  },
});

/**
 * Invokes candidates in their order until one sends its first part. The last one is not waited for.
 * @throws the error of a candidate that says that the caller is at fault; the last failure of a model if no candidate
 * is left
 */
export const firstAnswer = async <One, Begun extends { rest: Parts<Part> }, Part>(
  candidates: readonly One[],
  { abort, leftMs, isWaiting, failure: failedBefore, begin, onFailed }: Tries<One, Begun, Part>,
): Promise<Begun & BegunAnswer<Part> & { candidate: One }> => {
  let failure = failedBefore;
  const last = candidates[candidates.length - 1] as One;
  for (const [index, candidate] of candidates.slice(0, -1).entries()) {
    const { attempt, release } = attemptSignal(abort);
    try {
      const begun = await begin(candidate, attempt);
      const first = await firstPart<Part>(begun.rest, attempt, Math.min(FIRST_CHUNK_MS, leftMs() - LEFT_FOR_NEXT_MS));
      return { ...begun, candidate, first };
    } catch (error) {
      release();
      attempt.abort();
      const isNext = isFailureOfModel(error, isWaiting) || (failure !== undefined && isUnable(error));
      if (abort.signal.aborted || !isNext) throw error;
      if (!isUnable(error)) failure = error;
      await onFailed(toApiError(error).code ?? 'unknown', candidates[index + 1] as One);
    }
  }
  try {
    const begun = await begin(last, abort);
    return { ...begun, rest: failure === undefined ? begun.rest : orFailure<Part>(begun.rest, failure), candidate: last };
  } catch (error) {
    throw failure !== undefined && isUnable(error) ? failure : error;
  }
};
