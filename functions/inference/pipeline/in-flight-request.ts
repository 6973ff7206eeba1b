import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { DeploymentNotReady } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Outcome } from '../../../shared/usage/event.ts';
import type { RequestClaim } from '../idempotency/claim-request.ts';
import type { Dependencies } from './dependencies.ts';
import { type RequestFacts, type RequestUsage, trackUsage } from './request-usage.ts';
import { settleRequest } from './settle-request.ts';

/** API Gateway closes a connection after 5 minutes without data; a response without streaming must be sent before that. */
const WHOLE_DEADLINE_MS = 280_000;
/** The function stops itself this long before its time ends, to settle. */
const RESERVE_MS = 20_000;
/** If the caller isn't reading, close the connection this long after the deadline. */
const UNREAD_MS = 5_000;

/** The reason of an abort if the caller has left, which says nothing about the target. */
export class ClientClosed extends Error {}

interface InFlightFacts extends RequestFacts {
  /** The headers of every reply to this request. */
  headers: Record<string, string>;
  /** The function's remaining time. */
  remainingMs: number;
  claim: RequestClaim;
}

/** An admitted request until it is settled: what it used, how it ended, and the one usage event that records both. */
export interface InFlightRequest {
  event: ApiEvent;
  usage: RequestUsage;
  abort: AbortController;
  /** Counts chunks before they are used. @throws if the deadline has passed, because what it settled doesn't include them */
  count: (chunks: readonly UpstreamChunk[]) => void;
  /** If the deadline has cut off an answer that had begun: the last chunk of its reply, which ends every choice with `length`. */
  cutOff: () => UpstreamChunk | undefined;
  /** Marks the answer as complete: from here on the deadline no longer counts. */
  answered: () => Promise<void>;
  /** Settles once; a second call does nothing. */
  settle: (outcome: Outcome) => Promise<void>;
  /** Settles a failure and returns the error for the caller. */
  fail: (error: unknown) => Promise<Error>;
  /** Stops the model, because the platform reports that the caller has left. */
  clientClosed: () => void;
  /** The time to its deadline. */
  leftMs: () => number;
  /** Registers what is done after the settlement: at once, if it has been settled meanwhile. */
  onSettled: (then: () => Promise<void>) => void;
  /** Registers what closes the reply of a caller that doesn't read it. */
  onUnread: (close: () => void) => void;
}

/** SageMaker's error for an inference component without copies; starting one takes minutes. */
const SCALED_TO_ZERO = /inference component has no capacity/i;

/** Whether the target has no copies, or does not exist: it is not just busy. */
export const isWithoutCapacity = (error: unknown): error is UpstreamFailed =>
  error instanceof UpstreamFailed && (error.code === 'model_not_ready' || SCALED_TO_ZERO.test(error.detail));

/** On the on-demand host the target is the caller's own deployment, so the error says that the deployment is not ready. */
const toHostError = ({ scope }: Dependencies['host'], { name }: Model, error: Error): Error =>
  scope === 'on_demand' && isWithoutCapacity(error) ? new DeploymentNotReady(name, error) : error;

/** Ends every choice that has not ended. */
const endOf = (choices: number): UpstreamChunk => ({
  choices: Array.from({ length: choices }, (_, index) => ({ index, delta: {}, finish_reason: 'length' })),
});

/** Tracks an admitted request from here on, with its deadline. */
export const beginRequest = (facts: InFlightFacts, deps: Dependencies): InFlightRequest => {
  const { event, request, admission } = facts;
  const usage = trackUsage(facts, deps);
  const abort = new AbortController();
  let stopped: 'timed_out' | 'client_closed' | undefined;
  let settlement: Promise<void> | undefined;
  let isAnswered = false;

  const stop = (reason: typeof stopped): void => {
    stopped ??= reason;
    abort.abort(reason === 'client_closed' ? new ClientClosed() : undefined);
  };
  const timeout = (): UpstreamFailed => new UpstreamFailed('upstream_timeout', `Stopped by us: ${stopped}.`, `Stopped by us: ${stopped}`);
  // What has been generated until the deadline is delivered and charged, because the model worked for it.
  const cutOff = (): UpstreamChunk | undefined =>
    stopped === 'timed_out' && usage.hasOutput() ? endOf(facts.prepared.choices) : undefined;
  // The deadline settles the request itself: a caller that stopped reading never reaches the end of the stream.
  const expire = async (): Promise<void> => {
    if (!isAnswered) {
      stop('timed_out');
      const end = cutOff();
      if (end) usage.count([end]);
      await settle('timed_out', end ? undefined : timeout());
    }
    const unread = setTimeout(() => closeReply(), UNREAD_MS);
    unread.unref();
  };
  let closeReply = (): void => undefined;
  let afterSettlement = async (): Promise<void> => undefined;
  const ownMs = Math.max(0, facts.remainingMs - RESERVE_MS);
  const timeMs = request.stream ? ownMs : Math.min(ownMs, WHOLE_DEADLINE_MS);
  const endsAtMs = deps.now() + timeMs;
  const deadline = setTimeout(() => void expire(), timeMs);

  const settleAs = async (outcome: Outcome, error?: Error): Promise<void> => {
    clearTimeout(deadline);
    const isCutOff = cutOff() !== undefined;
    // An answer that broke off is charged for what was delivered.
    if (outcome !== 'completed' && (request.stream || isCutOff)) await usage.ended();
    await settleRequest(deps, { event, admission, usageEvent: usage.toEvent(outcome, error), mayWait: facts.prepared.waitMs > 0, error });
    // The reply of an answer that was cut off is kept, as a complete one is.
    if (outcome !== 'completed' && !isCutOff) await facts.claim.release();
    await afterSettlement();
  };

  const settle = (outcome: Outcome, error?: Error): Promise<void> => {
    settlement ??= settleAs(outcome, error);
    return settlement;
  };

  return {
    event,
    usage,
    abort,
    count: (chunks) => {
      if (stopped === 'timed_out') throw timeout();
      usage.count(chunks);
    },
    cutOff,
    answered: () => {
      isAnswered = true;
      return usage.ended();
    },
    settle,
    fail: async (error) => {
      const cause = error instanceof Error ? error : new Error(String(error));
      const failure = stopped ? timeout() : toHostError(deps.host, facts.model, cause);
      // The failure may be a bug of ours while the model is still at work.
      abort.abort();
      await settle(stopped ?? 'upstream_failed', failure);
      if (!(failure instanceof ApiError)) return failure;
      return failure.withHeaders({ ...facts.headers, ...(stopped && { 'x-should-retry': 'false' }) });
    },
    clientClosed: () => stop('client_closed'),
    leftMs: () => endsAtMs - deps.now(),
    onSettled: (then) => {
      if (settlement) void settlement.then(then);
      else afterSettlement = then;
    },
    onUnread: (close) => {
      closeReply = close;
    },
  };
};

/** Runs a step of an admitted request before its model answers; a failure settles the request. */
export const settleOnFailure = async <Result>(inFlight: InFlightRequest, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw await inFlight.fail(error);
  }
};
