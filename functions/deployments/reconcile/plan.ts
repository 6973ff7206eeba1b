import { type Deployment, inState, isActive, NO_PROGRESS, type Start } from '../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { reasonFor } from '../reasons.ts';
import { archiveDeletions, withAdapters } from './adapters.ts';
import type { SageMakerCall } from './calls.ts';
import { followShadow } from './follow-shadow.ts';
import { failed, LATE_CALL_MS, runningGenerations, stoppedGenerations } from './generations.ts';
import { nextState, type Use } from './next-state.ts';
import { isEmpty, NOTHING, type Observed } from './observe.ts';
import { deferRejected } from './rejections.ts';
import { stepsDown, stepsUp } from './steps.ts';

export interface PassInput {
  observed: Observed;
  use: Use;
  /** True if another model has the deployment's name. */
  isNameInUse: boolean;
  /** Names of its adapters that other models have, too. */
  namesInUse: readonly string[];
  isCreditLow: boolean;
  /** True if the budget of its comparison is used up. */
  isShadowUsedUp: boolean;
  /** False if its GPU time can't be metered until an operator corrects the row. */
  canMeter: boolean;
  nowMs: number;
}

export interface Plan {
  /** The row to store, with the version that was read. */
  next: Deployment;
  /** The calls to make afterwards, each generation's in order. */
  calls: SageMakerCall[];
  /** The starts that have just ended. */
  started: Start[];
}

// How long a replaced generation keeps running: callers cache its name for 30 s, and a stream lasts up to 580 s.
const REPLACED_MS = 11 * 60_000;
// Removals rarely take longer.
const SLOW_REMOVAL_MS = 60 * 60_000;

const existingOf = (observed: Observed, number: number) => observed.generations.get(number) ?? NOTHING;

/**
 * Plans a pass: the next row of a deployment, and the next calls of AWS. Both follow from the row and from the observed
 * state, never from earlier calls; only rejected calls wait. Pure.
 */
export const planPass = (deployment: Deployment, input: PassInput): Plan => {
  const { next, calls, started } = deployment.wanted === 'running' ? planRunning(deployment, input) : planRemoval(deployment, input);
  return { ...deferRejected(followShadow(next, input.isShadowUsedUp, input.nowMs), calls, input.nowMs), started };
};

const planRunning = (deployment: Deployment, input: PassInput): Plan => {
  const { observed, isNameInUse, nowMs } = input;
  const { empty_since: _, ...rest } = deployment;
  const generations = isNameInUse
    ? deployment.generations.map((other) => (isActive(other) ? failed(other, reasonFor('name_in_use'), nowMs) : other))
    : runningGenerations(deployment, observed, nowMs);
  const { deployment: stated, started } = nextState(deployment, { ...rest, generations }, input);
  const running = withAdapters(stated, input);
  const isAsleep = ASLEEP.includes(running.state);
  const calls = generations.flatMap((generation) => {
    const { number, status, ended_at = nowMs, is_unused: isUnused = false } = generation;
    const existing = existingOf(observed, number);
    if (isActive(generation)) return stepsUp(running, number, existing, isAsleep);
    const hasStreams = status === 'retired' && !isUnused && nowMs - ended_at < REPLACED_MS;
    return hasStreams ? [] : stepsDown(number, existing);
  });
  const all = [...calls, ...archiveDeletions(running, observed)];
  return { next: withEmptySince(running, deployment, observed, nowMs), calls: all, started };
};

// A stopped deployment keeps the archives of its adapters.
const isNothingLeft = ({ wanted }: Deployment, { generations, listed = [], archives }: Observed): boolean =>
  listed.length === 0 && [...generations.values()].every(isEmpty) && (wanted !== 'deleted' || archives.length === 0);

const withEmptySince = (next: Deployment, before: Deployment, observed: Observed, nowMs: number): Deployment => {
  if (next.generations.some(isActive) && next.wanted === 'running') return next;
  const { empty_since: _, ...rest } = next;
  if (!isNothingLeft(next, observed)) return rest;
  // An observation from before this state is no proof, because something could have been created since.
  const { empty_since = 0, state, state_since } = before;
  return { ...rest, empty_since: next.state === state && empty_since >= state_since ? empty_since : nowMs };
};

// True if an earlier pass in the same state also saw nothing, so long ago that no call planned before it can still
// create anything.
const isEmptyForLong = ({ empty_since = 0, state_since }: Deployment, nowMs: number): boolean =>
  empty_since >= state_since && nowMs - empty_since > LATE_CALL_MS;

/** True if nothing is left, and all GPU time until then is metered: after an outage, that takes several passes. */
export const isProvenEmpty = (deployment: Deployment, nowMs: number): boolean =>
  isEmptyForLong(deployment, nowMs) && !deployment.meter?.running.length;

// Nothing of it runs, even if that could not be metered.
const deleted = ({ adapters: _, meter, ...deployment }: Deployment): Deployment => ({
  ...deployment,
  ...(meter && { meter: { ...meter, running: [] } }),
});

// The next deletion of each generation. SageMaker deletes nothing that is `Creating` or `Updating`.
const leftOf = ({ generations }: Observed): string =>
  [...generations]
    .flatMap(([number, { adapters, component, endpoint }]) => {
      const left = adapters[0] ?? component ?? endpoint;
      const kind = left === endpoint ? 'endpoint' : 'inference component';
      return left ? `An ${kind} of generation ${number} is ${left.status}.` : [];
    })
    .join(' ');

const planRemoval = (deployment: Deployment, input: PassInput): Plan => {
  const { observed, canMeter, nowMs } = input;
  const { wake: _, ...rest } = deployment;
  const generations = stoppedGenerations(deployment, observed, nowMs);
  const removing = withAdapters({ ...rest, generations, progress: NO_PROGRESS }, input);
  const removals = [...observed.generations].flatMap(([number, existing]) => stepsDown(number, existing));
  const calls = [...removals, ...archiveDeletions(removing, observed)];
  const isEmptyNow = isNothingLeft(deployment, observed);
  const isBlocked = !isEmptyNow && nowMs - deployment.state_since > SLOW_REMOVAL_MS;
  const kept: DeploymentReason | undefined = deployment.reason?.code === 'out_of_credit' ? deployment.reason : undefined;
  const reason = isBlocked ? reasonFor('removal_blocked', leftOf(observed)) : kept;
  const to = (state: Deployment['state']): Plan => ({
    next: withEmptySince(inState(removing, state, nowMs, reason), deployment, observed, nowMs),
    calls,
    started: [],
  });
  const [during, after] = deployment.wanted === 'stopped' ? (['stopping', 'stopped'] as const) : (['deleting', 'deleted'] as const);
  // Passes over its adapters go on after that, and change nothing of it.
  // A deletion doesn't wait for an operator. After a stop, the rest is metered once the row is corrected.
  const isProven = (canMeter || after === 'stopped' ? isProvenEmpty : isEmptyForLong)(deployment, nowMs);
  const isOver = deployment.state === after || (deployment.state === during && isProven);
  const planned = to(isEmptyNow && isOver ? after : during);
  return planned.next.state === 'deleted' ? { ...planned, next: deleted(planned.next) } : planned;
};
