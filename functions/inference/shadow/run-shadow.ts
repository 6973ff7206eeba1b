import type { ShadowCounts, ShadowFailure } from '../../../shared/deployments/shadow-counts.ts';
import type { ShadowPlace, ShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { ModelShadow } from '../../../shared/models/model.ts';
import { RefusedByModel, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { compareAnswers, type TimedAnswer } from './compare-answers.ts';
import { type AnswerObserver, observeAnswer } from './observe-answer.ts';

// The time for an answer.
const MAX_ANSWER_MS = 60_000;
// The function needs the rest of its time to record the result.
const RESERVE_MS = 10_000;
// An answer in less time would say little.
const MIN_ANSWER_MS = 5_000;
const MAX_BODY_BYTES = 1_000_000;
// A place is taken a little longer than its request can last.
const LEASE_MS = MAX_ANSWER_MS + RESERVE_MS;
// Comparisons that an environment remembers as ended.
const MAX_ENDED = 100;

/** A request whose caller has the whole reply, to be sent to the next generation too. */
export interface ShadowRequest {
  /** The id of the deployment. */
  deployment: string;
  shadow: ModelShadow;
  /** The most tokens that it can use. */
  tokens: number;
  /** The body that the serving generation got, in its runtime's format. */
  servedBody: Readonly<Record<string, unknown>>;
  /** The same request for the next generation. */
  bodyFor: (requestId: string) => Record<string, unknown>;
  serving: TimedAnswer;
  /** How long the function still runs, in ms. */
  remainingMs: number;
}

/** Sends a request to the next generation and records the comparison. Never throws. */
export type RunShadow = (request: ShadowRequest) => Promise<void>;

export interface ShadowDependencies {
  shadows: Pick<ShadowStore, 'reserve' | 'record'>;
  invoke: Invoke;
  now: () => number;
}

const failureOf = (error: unknown, isLate: boolean): ShadowFailure => {
  if (isLate) return 'timed_out';
  if (error instanceof RefusedByModel) return 'refused';
  const code = error instanceof UpstreamFailed ? error.code : undefined;
  if (code === 'upstream_timeout') return 'timed_out';
  return code === 'no_capacity' || code === 'model_not_ready' ? 'no_capacity' : 'failed';
};

interface Outcome {
  counts: ShadowCounts;
  /** Undefined: unknown. */
  usedTokens?: number | undefined;
  failure?: ShadowFailure;
}

const failed = (failure: ShadowFailure): Outcome => ({ counts: { [`failed_${failure}`]: 1 }, failure });

const invokeShadow = async (
  { invoke, now }: ShadowDependencies,
  { shadow, servedBody, serving }: ShadowRequest,
  body: string,
  timeMs: number,
): Promise<Outcome> => {
  const signal = new AbortController();
  // The client aborts the signal of a call that fails, too.
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    signal.abort();
  }, timeMs);
  const observer = observeAnswer();
  try {
    const times = await readAnswer(invoke({ target: shadow.target, body, choices: 1, signal }), observer, now);
    if (isLate) return failed('timed_out');
    if (observer.isTooLarge()) return failed('too_large');
    const answer = { ...observer.answer(), ...times };
    const { promptTokens, completionTokens } = answer;
    const usedTokens = promptTokens === undefined || completionTokens === undefined ? undefined : promptTokens + completionTokens;
    return { counts: compareAnswers(servedBody, serving, answer), usedTokens };
  } catch (error) {
    return failed(failureOf(error, isLate));
  } finally {
    clearTimeout(timer);
  }
};

const readAnswer = async (
  answer: ReturnType<Invoke>,
  observer: AnswerObserver,
  now: () => number,
): Promise<Pick<TimedAnswer, 'firstTokenMs' | 'durationMs'>> => {
  const startMs = now();
  let firstTokenMs: number | undefined;
  // Leaving the loop stops the container.
  for await (const chunks of answer) {
    observer.take(chunks);
    if (observer.hasBegun()) firstTokenMs ??= now() - startMs;
    if (observer.isTooLarge()) break;
  }
  return { firstTokenMs, durationMs: now() - startMs };
};

/**
 * Sends one request at a time. Its tokens are reserved before it is sent; those of a request without an answer stay
 * used.
 */
export const createRunShadow = (deps: ShadowDependencies): RunShadow => {
  const { shadows, now } = deps;
  const ended = new Set<string>();
  let isBusy = false;

  const reserve = async (requestId: string, { deployment, shadow, tokens }: ShadowRequest): Promise<ShadowPlace | undefined> => {
    const comparison = `${deployment}/${shadow.number}`;
    if (ended.has(comparison)) return undefined;
    const nowMs = now();
    const place = await shadows.reserve(deployment, shadow, { id: requestId, tokens, nowMs, expiresAtMs: nowMs + LEASE_MS });
    if (place === 'used_up') {
      if (ended.size >= MAX_ENDED) ended.clear();
      ended.add(comparison);
    }
    return typeof place === 'string' ? undefined : place;
  };

  const run = async (request: ShadowRequest): Promise<void> => {
    const { deployment, shadow, tokens, bodyFor, remainingMs } = request;
    const timeMs = Math.min(MAX_ANSWER_MS, remainingMs - RESERVE_MS);
    if (timeMs < MIN_ANSWER_MS || now() >= shadow.ends_at) return;
    const requestId = newRequestId(now());
    const body = JSON.stringify(bodyFor(requestId));
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) return;
    const place = await reserve(requestId, request);
    if (!place) return;
    const { counts, failure, usedTokens = tokens } = await invokeShadow(deps, request, body, timeMs);
    await shadows.record(deployment, shadow.number, place, { unusedTokens: Math.max(0, tokens - usedTokens), counts });
    logInfo('shadow', { deployment, comparison: shadow.number, shadow_request_id: requestId, ...(failure && { failure }) });
  };

  return async (request) => {
    if (isBusy) return;
    isBusy = true;
    try {
      await run(request);
    } catch (error) {
      logError('shadow_failed', error, { deployment: request.deployment, comparison: request.shadow.number });
    } finally {
      isBusy = false;
    }
  };
};
