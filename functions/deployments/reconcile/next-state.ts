import { type Deployment, inState, isActive, MAX_STARTS, type Start } from '../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { ASLEEP, type DeploymentState, SERVING } from '../../../shared/deployments/state.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { reasonFor } from '../reasons.ts';
import { startedAt } from './generations.ts';
import { NOTHING, type Observed } from './observe.ts';
import { progressOf } from './progress.ts';

/** The requests to a deployment, as far as they are known. */
export interface Use {
  /** The end of the last known request. */
  lastEventAtMs?: number | undefined;
  /** True if requests are in flight or wait for a copy. */
  isInUse: boolean;
  /** True if a window of the schedule has ended since the last pass. */
  isWindowOver: boolean;
  /** The longest time from a request's end until it is known. */
  lagMs: number;
}

interface Observation {
  observed: Observed;
  use: Use;
  isCreditLow: boolean;
  nowMs: number;
}

// Passes of the reconciler are at most a minute apart.
const PASS_INTERVAL_MS = MINUTE_MS;
// After this long without an instance, the deployment shows `insufficient_capacity`.
const SLOW_CAPACITY_MS = 10 * 60_000;
// SageMaker releases instances without copies after about ten minutes. After this long, the deployment shows
// `instances_not_released`, which tells the owner how to end the charge.
const SLOW_RELEASE_MS = 60 * 60_000;

const copiesOf = (deployment: Deployment, observed: Observed): number =>
  deployment.generations
    .filter(({ status }) => status === 'ready')
    .reduce((sum, { number }) => sum + (observed.generations.get(number)?.component?.copies ?? 0), 0);

const hasInstances = (observed: Observed): boolean =>
  [...observed.generations.values()].some(({ endpoint }) => (endpoint?.instances.length ?? 0) > 0);

/**
 * True if a deployment was unused for the time set by its owner. Requests are known only some time after their end, so
 * the decision waits for that time, too.
 */
export const isIdle = (
  { scale_to_zero_after_seconds, last_used_at = 0 }: Deployment,
  { lastEventAtMs = 0, lagMs }: Use,
  nowMs: number,
): boolean =>
  scale_to_zero_after_seconds !== null && nowMs - Math.max(last_used_at, lastEventAtMs) >= scale_to_zero_after_seconds * 1_000 + lagMs;

// A request that a pass saw in flight can have ended just before the next one, and its end, from which the idle time
// counts, be known so much later.
const isQuiet = ({ in_flight_at = 0 }: Deployment, { isInUse, isWindowOver, lagMs }: Use, nowMs: number): boolean =>
  !isInUse && !isWindowOver && nowMs - in_flight_at >= PASS_INTERVAL_MS + lagMs;

const runningState = (deployment: Deployment, { observed, use, nowMs }: Observation): DeploymentState => {
  const active = deployment.generations.filter(isActive);
  const isRollingOut = active.at(-1)?.status === 'creating';
  if (active.length === 0) return 'failed';
  if (!active.some(({ status }) => status === 'ready')) return 'creating';
  const mayBeAsleep = deployment.scale_to_zero_after_seconds !== null && !deployment.scheduled && !isRollingOut;
  const copies = copiesOf(deployment, observed);
  if (ASLEEP.includes(deployment.state) && mayBeAsleep) return copies > 0 || hasInstances(observed) ? 'draining' : 'scaled_to_zero';
  if (SERVING.includes(deployment.state) && mayBeAsleep && isQuiet(deployment, use, nowMs) && isIdle(deployment, use, nowMs))
    return 'draining';
  if (copies === 0) return 'waking';
  return isRollingOut ? 'updating' : 'in_service';
};

// The reason to show when a deployment isn't running as configured.
const reasonOf = (
  before: Deployment,
  next: Deployment,
  state: DeploymentState,
  { observed, isCreditLow, nowMs }: Observation,
): DeploymentReason | undefined => {
  const newest = next.generations.at(-1);
  if (newest?.status === 'failed') return newest.reason;
  const main = next.generations.find(isActive);
  const { endpoint } = observed.generations.get(main?.number ?? 0) ?? NOTHING;
  const isWaiting = main && (state === 'creating' || state === 'waking') && !endpoint?.instances.length;
  if (isWaiting && nowMs - startedAt(next, main, nowMs) > SLOW_CAPACITY_MS) return reasonFor('insufficient_capacity');
  if (next.unpaid_window !== undefined) return reasonFor('window_unpaid');
  if (isCreditLow) return reasonFor('credit_low');
  if (state === 'draining' && before.state === state && nowMs - before.state_since > SLOW_RELEASE_MS)
    return reasonFor('instances_not_released');
  return undefined;
};

const endedStarts = (before: Deployment, next: Deployment, state: DeploymentState, nowMs: number): Start[] => {
  // The clock of the function that woke it can be ahead.
  const start = (kind: Start['kind'], sinceMs: number, endMs = nowMs): Start => ({
    kind,
    at: sinceMs,
    seconds: Math.max(0, endMs - sinceMs) / 1_000,
  });
  if (before.state === 'waking' && before.wake && SERVING.includes(state))
    // A deployment woken before its last copy was removed took no time to start. It must not shorten the prediction.
    return before.progress.ready > 0 ? [] : [start('wake', before.wake.started_at)];
  // Its wait for another generation or for adapters is no part of the start: a wake has none.
  return next.generations
    .filter(({ number, status }) => status === 'ready' && before.generations.find((old) => old.number === number)?.status === 'creating')
    .map(({ started_at = nowMs, served_at }) => start('creation', started_at, served_at));
};

// Passes don't look during a window, so there can have been requests until now, as if the pass before had seen some.
const inFlightAt = ({ isInUse, isWindowOver }: Use, nowMs: number): Pick<Deployment, 'in_flight_at'> => {
  if (isInUse) return { in_flight_at: nowMs };
  return isWindowOver ? { in_flight_at: nowMs - PASS_INTERVAL_MS } : {};
};

/**
 * The state of a deployment that should run.
 * @param before the stored row
 * @param next the row with its generations updated from AWS
 * @returns the deployment, and the starts that have just ended
 */
export const nextState = (before: Deployment, next: Deployment, observation: Observation) => {
  const { observed, use, nowMs } = observation;
  const { wake, last_used_at, ...rest } = next;
  const state = runningState(next, observation);
  const started = endedStarts(before, next, state, nowMs);
  const hasComeIntoService = SERVING.includes(state) && !SERVING.includes(before.state);
  const lastUsed = hasComeIntoService ? nowMs : Math.max(last_used_at ?? 0, use.lastEventAtMs ?? 0);
  const running: Deployment = {
    ...rest,
    starts: [...rest.starts, ...started].slice(-MAX_STARTS),
    ...(state === 'waking' && { wake: wake ?? { started_at: nowMs } }),
    ...(lastUsed > 0 && { last_used_at: lastUsed }),
    ...inFlightAt(use, nowMs),
  };
  const reason = reasonOf(before, running, state, observation);
  return { deployment: inState({ ...running, progress: progressOf(running, observed) }, state, nowMs, reason), started };
};
