import { logError } from '../../../shared/logging/log.ts';
import type { NotWaiting } from './errors.ts';
import type { Queue } from './may-wait.ts';
import type { Waiter, WaitingStore } from './waiting-store.ts';

// Places are renewed well before they expire.
const RENEW_MS = 15_000;

export interface PlaceDependencies {
  /** The lists of deployments. */
  waiting: WaitingStore;
  /** The lists of organizations. */
  waitingInOrganization: WaitingStore;
  now: () => number;
  /** Resolves after this many milliseconds, or rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A request that waits for a deployment. */
export interface Arrival {
  deploymentId: string;
  /** The owner of the place in the organizations' lists. */
  organization: string;
  requestId: string;
  /** Decides its place in the order. */
  joinedAtMs: number;
}

/** A request's place among those that wait for a deployment. */
export interface Place {
  /** The requests that were before it when it joined. */
  queue: Queue;
  /** True if the place expired, because it couldn't be renewed for too long, and others have taken it. */
  isLost: () => boolean;
  /** Lets the request run if fewer than `mostRunning` of those that waited do. Returns true if it may run. */
  release: (mostRunning: number) => Promise<boolean>;
  /** Gives the place up, when the request is settled. */
  leave: () => Promise<void>;
}

/** Takes a place and renews it until it is given up. @returns the reason if too many wait already */
export const takePlace = async (deps: PlaceDependencies, arrival: Arrival): Promise<Place | NotWaiting> => {
  const { waiting, waitingInOrganization, now, wait } = deps;
  const { deploymentId, organization, requestId, joinedAtMs } = arrival;
  const waiter: Waiter = { listId: deploymentId, requestId, joinedAtMs };
  const inOrganization: Waiter = { ...waiter, listId: organization };
  const failed = (error: unknown): void => logError('waiting_list_not_written', error, { deployment: deploymentId, request_id: requestId });
  // An entry that can't be removed now expires.
  const leaveOrganization = (): Promise<void> => waitingInOrganization.leave(inOrganization).catch(failed);

  if (!(await waitingInOrganization.join(inOrganization, now()))) return 'too_many_of_organization';
  let queue: Queue | undefined;
  try {
    queue = await waiting.join(waiter, now());
  } finally {
    if (!queue) await leaveOrganization();
  }
  if (!queue) return 'too_many';

  const left = new AbortController();
  let releasedAtMs: number | undefined;
  let isLost = false;
  // A place that couldn't be renewed counts as kept until another request takes it.
  const rejoin = async (list: WaitingStore, own: Waiter): Promise<boolean> => {
    try {
      return (await list.join(own, now())) !== undefined;
    } catch (error) {
      failed(error);
      return true;
    }
  };
  const renew = async (): Promise<void> => {
    if (releasedAtMs !== undefined) return waiting.renewRunning(waiter, now()).catch(failed);
    const kept = await Promise.all([rejoin(waiting, waiter), rejoin(waitingInOrganization, inOrganization)]);
    isLost = kept.includes(false);
  };
  let renewal: Promise<unknown> = Promise.resolve();
  const keep = async (): Promise<void> => {
    for (;;) {
      await wait(RENEW_MS, left.signal);
      renewal = renew();
      await renewal;
    }
  };
  // Ends when the place is given up.
  void keep().catch(() => undefined);

  return {
    queue,
    isLost: () => isLost,
    release: async (mostRunning) => {
      if (releasedAtMs !== undefined) return true;
      if (!(await waiting.release(waiter, mostRunning, now()))) return false;
      releasedAtMs = now();
      // The request no longer waits. A renewal that has begun must not take its place in the organization again.
      await renewal;
      await leaveOrganization();
      return true;
    },
    leave: async () => {
      left.abort();
      await renewal;
      const ranMs = releasedAtMs === undefined ? undefined : now() - releasedAtMs;
      await Promise.all([waiting.leave(waiter, ranMs).catch(failed), releasedAtMs === undefined && leaveOrganization()]);
    },
  };
};
