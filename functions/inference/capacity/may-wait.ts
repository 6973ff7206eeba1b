import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import type { NotWaiting } from './errors.ts';
import type { StartInProgress } from './predict.ts';

// Reasons of a start without an instance; defined in `functions/deployments/reasons.ts`.
const NO_INSTANCE: readonly string[] = ['insufficient_capacity', 'quota_exceeded'];

// The reason can also be that of a newer generation, which has failed.
const isRefusedInstance = ({ reason, generations }: Deployment): boolean =>
  reason !== undefined && NO_INSTANCE.includes(reason.code) && generations.at(-1)?.status !== 'failed';

// A start without an instance that takes this many times the 90th percentile isn't expected to get one.
const LATE = 2;

const isWithoutInstance = ({ progress }: Deployment, { startedAtMs, p90 }: StartInProgress, nowMs: number): boolean =>
  progress.downloading + progress.loading + progress.ready === 0 && nowMs > startedAtMs + LATE * p90 * 1_000;

/**
 * The reason for which a request must not wait for a deployment that starts: it can't be ready in time.
 * @param untilMs the end of the request's wait
 * @returns undefined if it can be ready in time, or is in service
 */
export const whyTooLate = (deployment: Deployment, start: StartInProgress, untilMs: number, nowMs: number): NotWaiting | undefined => {
  if (SERVING.includes(deployment.state)) return undefined;
  if (isRefusedInstance(deployment) || isWithoutInstance(deployment, start, nowMs)) return 'no_instance';
  return start.earliestAtMs > untilMs ? 'too_late' : undefined;
};

/** The requests before one in a waiting list, including those that run, and the average time that finished ones ran. */
export interface Queue {
  ahead: number;
  meanMs: number | undefined;
}

/**
 * True if a request can have its turn in time. Each slot of each copy serves one request after the other.
 * @param readyAtMs the earliest time at which the copies are ready
 */
export const isServedBy = (
  { state, progress, copies, max_concurrency_per_copy }: Deployment,
  { ahead, meanMs }: Queue,
  readyAtMs: number,
  untilMs: number,
): boolean => {
  if (meanMs === undefined) return true;
  const mostCopies = SERVING.includes(state) ? Math.max(copies.max, progress.ready) : copies.max;
  const turns = 1 + Math.floor((untilMs - readyAtMs) / Math.max(1, meanMs));
  return ahead < mostCopies * max_concurrency_per_copy * turns;
};
