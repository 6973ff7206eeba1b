import { logError } from '../../../shared/logging/log.ts';
import type { Waiter, WaitingStore } from './waiting-store.ts';

/** Places are renewed well before they expire. */
const RENEW_MS = 15_000;

export interface PlaceDependencies {
  waiting: WaitingStore;
  now: () => number;
  /** Resolves after so many milliseconds, or rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A request's place among those that wait for a deployment. */
export interface Place {
  /** Whether the request may run, while at most so many of those that waited do. */
  release: (mostRunning: number) => Promise<boolean>;
  /** Gives the place up, when the request is settled. */
  leave: () => Promise<void>;
}

/** Takes a place and keeps it until it is given up. @returns undefined if too many wait already */
export const takePlace = async ({ waiting, now, wait }: PlaceDependencies, waiter: Waiter): Promise<Place | undefined> => {
  if (!(await waiting.join(waiter, now()))) return undefined;
  const left = new AbortController();
  const failed = (error: unknown): void =>
    logError('waiting_list_not_written', error, { deployment: waiter.deploymentId, request_id: waiter.requestId });
  let isReleased = false;
  const renew = async (): Promise<unknown> => (isReleased ? waiting.renewRunning(waiter, now()) : waiting.join(waiter, now()));
  let renewal: Promise<unknown> = Promise.resolve();
  const keep = async (): Promise<void> => {
    for (;;) {
      await wait(RENEW_MS, left.signal);
      renewal = renew().catch(failed);
      await renewal;
    }
  };
  // Ends when the place is given up.
  void keep().catch(() => undefined);

  return {
    release: async (mostRunning) => {
      isReleased ||= await waiting.release(waiter, mostRunning, now());
      return isReleased;
    },
    leave: async () => {
      left.abort();
      await renewal;
      // Otherwise it expires.
      await waiting.leave(waiter).catch(failed);
    },
  };
};
