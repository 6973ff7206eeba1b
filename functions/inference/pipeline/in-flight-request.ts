import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { DeploymentNotReady } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Outcome } from '../../../shared/usage/event.ts';
import type { Turn } from '../idempotency/answer-once.ts';
import type { Dependencies } from './pipeline.ts';
import { type Observation, observe, type RequestFacts } from './request-usage.ts';
import { settleRequest } from './settle-request.ts';

/** API Gateway cuts a connection that is silent for 5 minutes; a reply in one piece must come before. */
const WHOLE_DEADLINE_MS = 280_000;
/** The function stops itself this long before its time ends, to settle. */
const RESERVE_MS = 20_000;
/** A caller that does not read does not see the end; this long after the deadline its connection is closed. */
const UNREAD_MS = 5_000;

interface FlightFacts extends RequestFacts {
  /** The headers of every reply to this request. */
  headers: Record<string, string>;
  /** What is left of the function's time. */
  remainingMs: number;
  turn: Turn;
}

/** An admitted request until it is settled: what it used, how it ended, and the one usage event that says so. */
export interface Flight {
  event: ApiEvent;
  seen: Observation;
  signal: AbortController;
  /** The answer is complete: whatever the clock says now, it has been given. */
  answered: () => Promise<void>;
  /** Settles once; a second call does nothing. */
  land: (outcome: Outcome) => Promise<void>;
  /** Settles a failure and gives the error to tell. */
  fail: (error: unknown) => Promise<Error>;
  /** The platform tells that the caller is gone: the model is stopped. */
  clientClosed: () => void;
  /** What closes the reply of a caller that has not read it long after the deadline. */
  onUnread: (close: () => void) => void;
}

/** A component without copies: they are minutes away. */
const SCALED_TO_ZERO = /inference component has no capacity/i;

/** What the on-demand host calls a target that is not in service: the deployment is the caller's own. */
const asOfHost = ({ scope }: Dependencies['host'], { name }: Model, error: Error): Error => {
  if (scope !== 'on_demand' || !(error instanceof UpstreamFailed)) return error;
  if (error.code !== 'model_not_ready' && !SCALED_TO_ZERO.test(error.detail)) return error;
  return Object.assign(new DeploymentNotReady(name), { cause: error });
};

/** Starts the flight of an admitted request, its deadline running. */
export const takeOff = (facts: FlightFacts, deps: Dependencies): Flight => {
  const { event, request, admission } = facts;
  const seen = observe(facts, deps);
  const signal = new AbortController();
  let stopped: 'timed_out' | 'client_closed' | undefined;
  let landing: Promise<void> | undefined;
  let isAnswered = false;

  const stop = (reason: typeof stopped): void => {
    stopped ??= reason;
    signal.abort();
  };
  // The deadline settles by itself: under back-pressure nobody asks the stream for the end that it has.
  const expire = async (): Promise<void> => {
    if (!isAnswered) {
      stop('timed_out');
      await land('timed_out');
    }
    const unread = setTimeout(() => closeReply(), UNREAD_MS);
    unread.unref();
  };
  let closeReply = (): void => undefined;
  const timeMs = facts.remainingMs - RESERVE_MS;
  const deadline = setTimeout(() => void expire(), Math.max(0, request.stream ? timeMs : Math.min(timeMs, WHOLE_DEADLINE_MS)));

  const settleAs = async (outcome: Outcome, error?: Error): Promise<void> => {
    clearTimeout(deadline);
    // Of an answer that broke off, what was delivered is charged.
    if (outcome !== 'completed' && request.stream) await seen.ended();
    await settleRequest(deps, { event, admission, usageEvent: seen.usageEvent(outcome, error), error });
    if (outcome !== 'completed') await facts.turn.abandon();
  };

  const land = (outcome: Outcome, error?: Error): Promise<void> => {
    landing ??= settleAs(outcome, error);
    return landing;
  };

  return {
    event,
    seen,
    signal,
    answered: () => {
      isAnswered = true;
      return seen.ended();
    },
    land,
    fail: async (error) => {
      const cause = error instanceof Error ? error : new Error(String(error));
      const told = stopped ? new UpstreamFailed('upstream_timeout', `Stopped by us: ${stopped}.`) : asOfHost(deps.host, facts.model, cause);
      // What failed may be our own code, with the model still at work.
      signal.abort();
      await land(stopped ?? 'upstream_failed', told);
      if (told instanceof ApiError) Object.assign(told.headers, facts.headers, stopped && { 'x-should-retry': 'false' });
      return told;
    },
    clientClosed: () => stop('client_closed'),
    onUnread: (close) => {
      closeReply = close;
    },
  };
};
