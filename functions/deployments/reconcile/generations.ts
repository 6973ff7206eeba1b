import type { Adapter } from '../../../shared/deployments/adapter.ts';
import { type Deployment, type Generation, isActive } from '../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { reasonFor, reasonOfFailure, reasonOfLostAdapter } from '../reasons.ts';
import { hasLoaded, hasRejected, loadableAdapters } from './adapter-components.ts';
import { isEmpty, NOTHING, type Observed, type ObservedGeneration } from './observe.ts';
import { creationOf, startOf } from './start-of-copies.ts';

// An hour for capacity, an hour for the download and half an hour for loading.
const MAX_START_MS = 150 * 60_000;
/** A pass makes no further calls after this time. */
export const PASS_MS = 15_000;
/**
 * A pass planned before a generation ended can still make calls for this long, including the last call's timeout and
 * the difference of clocks. Until then, removed resources can come back.
 */
export const LATE_CALL_MS = PASS_MS + 30_000;

const ENDED_ENDPOINTS = new Set(['Failed', 'OutOfService', 'UpdateRollbackFailed']);

/** The time at which a generation's copies began to start. */
export const startedAt = (deployment: Deployment, generation: Generation, nowMs: number): number =>
  startOf(deployment, generation) ?? nowMs;

const failureOf = (
  deployment: Deployment,
  generation: Generation,
  existing: ObservedGeneration,
  nowMs: number,
): DeploymentReason | undefined => {
  const { endpoint, component, log } = existing;
  if (endpoint && ENDED_ENDPOINTS.has(endpoint.status)) return reasonOfFailure(endpoint.failure, false);
  const copies = component?.copies ?? 0;
  if (copies > 0) return undefined;
  if (log?.crash !== undefined) return reasonFor('crash_loop', log.crash);
  if (component?.status === 'Failed') return reasonOfFailure(component.failure, log?.hasStarted ?? true);
  if (nowMs - startedAt(deployment, generation, nowMs) > MAX_START_MS) return reasonFor('start_timed_out', component?.failure);
  return undefined;
};

export const failed = (generation: Generation, reason: DeploymentReason, nowMs: number): Generation => ({
  ...generation,
  status: 'failed',
  reason,
  ended_at: nowMs,
});

const retired = (generation: Generation, nowMs: number): Generation => ({ ...generation, status: 'retired', ended_at: nowMs });

// The adapters that a generation would take over with the traffic, which another one serves now.
const adaptersToTakeOver = (deployment: Deployment, { number }: Generation, observed: Observed): Adapter[] => {
  const serving = deployment.generations.filter((other) => other.status === 'ready' && other.number !== number);
  return loadableAdapters(deployment, number).filter(({ id }) =>
    serving.some((other) => hasLoaded(observed.generations.get(other.number) ?? NOTHING, id)),
  );
};

// After a stop during a rollout, the old generation starts again, too. The new one must not get its share meanwhile.
const isWaitingForOld = ({ generations, traffic_percent }: Deployment, { number }: Generation): boolean =>
  traffic_percent < 100 && generations.some((other) => other.number < number && other.status === 'creating');

// A new generation that serves gets traffic once it has loaded the adapters, so that they lose no request.
const withTraffic = (deployment: Deployment, generation: Generation, observed: Observed, nowMs: number): Generation => {
  if (isWaitingForOld(deployment, generation)) return generation;
  const existing = observed.generations.get(generation.number) ?? NOTHING;
  const missing = adaptersToTakeOver(deployment, generation, observed).filter(({ id }) => !hasLoaded(existing, id));
  const [first] = missing;
  if (!first) return { ...generation, status: 'ready' };
  const isLate = nowMs - startedAt(deployment, generation, nowMs) > MAX_START_MS;
  const lost = isLate ? first : missing.find(({ id }) => hasRejected(existing, id));
  return lost ? failed(generation, reasonOfLostAdapter(lost.name), nowMs) : generation;
};

const observedStatus = (deployment: Deployment, generation: Generation, observed: Observed, nowMs: number): Generation => {
  // The owner can end a generation, too.
  if (!isActive(generation)) return { ...generation, ended_at: generation.ended_at ?? nowMs };
  const existing = observed.generations.get(generation.number) ?? NOTHING;
  const failure = failureOf(deployment, generation, existing, nowMs);
  if (failure) return failed(generation, failure, nowMs);
  const { endpoint, component } = existing;
  const isServing = endpoint && component?.status === 'InService' && component.copies > 0;
  const { served_at = nowMs, ...rest } = generation;
  if (generation.status === 'creating') {
    const started = { ...rest, started_at: creationOf(generation) ?? nowMs };
    return isServing ? withTraffic(deployment, { ...started, served_at }, observed, nowMs) : started;
  }
  // Somebody deleted it by hand.
  if (!endpoint || !component) return { ...rest, status: 'creating', started_at: nowMs };
  const { short_since = nowMs, ...ready } = generation;
  return SERVING.includes(deployment.state) && component.copies === 0 ? { ...ready, short_since } : ready;
};

// The oldest active generation serves until the newest one has all the traffic. Those between them are already
// replaced.
const retireReplaced = ({ traffic_percent }: Deployment, generations: readonly Generation[], nowMs: number): Generation[] => {
  const active = generations.filter(isActive);
  const newest = active.at(-1);
  const isReplaced = newest?.status === 'ready' && traffic_percent === 100;
  return generations.map((generation) => {
    const isKept = generation === newest || (generation === active[0] && !isReplaced);
    return isKept || !isActive(generation) ? generation : retired(generation, nowMs);
  });
};

// The newest generation stays even if it is gone from AWS, so that its number isn't used again and its reason can be
// seen.
const withoutGone = (generations: readonly Generation[], observed: Observed, nowMs: number): Generation[] =>
  generations.filter(({ number, ended_at }, i) => {
    const isGone = isEmpty(observed.generations.get(number) ?? NOTHING) && ended_at !== undefined && nowMs - ended_at > LATE_CALL_MS;
    return !isGone || i === generations.length - 1;
  });

/** The generations of a deployment that should run, updated from the observed state on AWS. */
export const runningGenerations = (deployment: Deployment, observed: Observed, nowMs: number): Generation[] => {
  const updated = deployment.generations.map((generation) => observedStatus(deployment, generation, observed, nowMs));
  return withoutGone(retireReplaced(deployment, updated, nowMs), observed, nowMs);
};

/** The generations of a deployment that is stopped or deleted. Active ones are created again when it is started. */
export const stoppedGenerations = ({ generations }: Deployment, observed: Observed, nowMs: number): Generation[] => {
  const reset = generations.map((generation): Generation => {
    const { started_at: _, served_at: __, ...rest } = generation;
    return isActive(generation) ? { ...rest, status: 'creating' } : generation;
  });
  return withoutGone(reset, observed, nowMs);
};

/** The percentage of the requests that each generation gets; generations without a share are left out. */
export const trafficOf = ({
  generations,
  traffic_percent,
}: Pick<Deployment, 'generations' | 'traffic_percent'>): { generation: Generation; percent: number }[] => {
  const ready = generations.filter(({ status }) => status === 'ready');
  const newest = ready.at(-1);
  const shares = ready.map((generation) => ({
    generation,
    percent: ready.length === 1 ? 100 : generation === newest ? traffic_percent : 100 - traffic_percent,
  }));
  return shares.filter(({ percent }) => percent > 0);
};
