import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import { ClientClosed } from '../targets/client-closed.ts';

// API Gateway closes an idle connection after 5 minutes; a response without streaming must be sent before.
const WHOLE_DEADLINE_MS = 280_000;
// The function stops itself this long before its time ends, to settle.
const RESERVE_MS = 20_000;
// If the caller isn't reading, close the connection this long after the deadline.
const UNREAD_MS = 5_000;

type StopReason = 'timed_out' | 'client_closed';

/** The time that one request has. At its end, or when the caller leaves, the model is stopped. */
export interface Deadline {
  /** Aborted to stop the model. */
  abort: AbortController;
  /** The milliseconds until the deadline. */
  leftMs: () => number;
  /** The reason for which the request was stopped; undefined if it was not. */
  stopped: () => StopReason | undefined;
  /** Stops the model. The first reason counts. */
  stop: (reason: StopReason) => void;
  /** The error of a request that was stopped. */
  error: () => UpstreamFailed;
  /** Starts the timer. `expire` is called at the deadline, unless `end` is called before. */
  start: (expire: () => Promise<void>) => void;
  end: () => void;
  /** Closes this reply after the deadline, in case its caller isn't reading it. */
  closeUnread: (reply: { destroy: () => void }) => void;
}

/** @param remainingMs the function's remaining time */
export const createDeadline = (remainingMs: number, isStream: boolean, now: () => number): Deadline => {
  const ownMs = Math.max(0, remainingMs - RESERVE_MS);
  const timeMs = isStream ? ownMs : Math.min(ownMs, WHOLE_DEADLINE_MS);
  const endsAtMs = now() + timeMs;
  const abort = new AbortController();
  let stopped: StopReason | undefined;
  let timer: NodeJS.Timeout | undefined;
  let unread: { destroy: () => void } | undefined;
  return {
    abort,
    leftMs: () => endsAtMs - now(),
    stopped: () => stopped,
    stop: (reason) => {
      stopped ??= reason;
      abort.abort(reason === 'client_closed' ? new ClientClosed() : undefined);
    },
    error: () => new UpstreamFailed('upstream_timeout', `Stopped by us: ${stopped}.`, `Stopped by us: ${stopped}`),
    start: (expire) => {
      timer = setTimeout(async () => {
        await expire();
        setTimeout(() => unread?.destroy(), UNREAD_MS).unref();
      }, timeMs);
    },
    end: () => clearTimeout(timer),
    closeUnread: (reply) => {
      unread = reply;
    },
  };
};
