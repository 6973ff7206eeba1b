import type { Timeline } from '../clock/timeline.ts';
import type { ScalableComponent, ScalableComponents, ScalingTimes } from './scalable-components.ts';
import type { ChangeKind, ScalableTarget, ScalableTargets } from './targets.ts';

interface Scaling {
  targets: ScalableTargets;
  components: ScalableComponents;
  timeline: Timeline;
  times(): ScalingTimes;
}

interface Change {
  kind: ChangeKind;
  copies: number;
}

// Target tracking removes copies only below this share of the target value.
const SCALE_IN_BELOW = 0.9;

/**
 * Starts to wait for each change whose condition holds, and stops waiting where it no longer does. Called after each
 * change of a target, a component or its invocations.
 */
export const evaluateTargets = (scaling: Scaling): void => {
  for (const target of scaling.targets.values()) evaluate(scaling, target);
};

const evaluate = (scaling: Scaling, target: ScalableTarget): void => {
  const { targets, components, timeline } = scaling;
  const change = changeOf(target, components.find(target.component));
  if (change?.kind === target.pending?.kind) return;
  const pending = change && { kind: change.kind };
  target.pending = pending;
  if (!pending) return;
  timeline.after(delayOf(scaling.times(), pending.kind), () => {
    if (target.pending !== pending || targets.get(target.component.toLowerCase()) !== target) return;
    target.pending = undefined;
    const due = changeOf(target, components.find(target.component));
    if (due?.kind === pending.kind) components.setDesiredCopies(target.component, due.copies);
  });
};

const delayOf = (times: ScalingTimes, kind: ChangeKind): number =>
  kind === 'restore' ? times.restore_capacity_ms : kind === 'out' ? times.scale_out_ms : times.scale_in_ms;

// Without any policy, too, a component outside the capacities of its target is brought back between them, even one that
// was set to zero copies on purpose, unless scaling is suspended.
const changeOf = (target: ScalableTarget, component: ScalableComponent | undefined): Change | undefined => {
  if (!component?.isIdle) return undefined;
  const { desiredCopies } = component;
  const { min, max, suspended } = target;
  if (desiredCopies < min) return suspended.out ? undefined : { kind: 'restore', copies: min };
  if (desiredCopies > max) return suspended.in ? undefined : { kind: 'restore', copies: max };
  const policies = [...target.policies.values()];
  if (policies.length === 0 || component.currentCopies === 0) return undefined;
  const wanted = Math.max(...policies.map(({ targetValue }) => wantedCopies(component, targetValue)));
  const copies = Math.min(max, Math.max(min, wanted));
  if (copies > desiredCopies) return suspended.out ? undefined : { kind: 'out', copies };
  const isScaleInDisabled = suspended.in || policies.some((policy) => policy.isScaleInDisabled);
  return copies < desiredCopies && !isScaleInDisabled ? { kind: 'in', copies } : undefined;
};

// Unchanged while the concurrency per copy is close below the target value.
const wantedCopies = ({ concurrency, currentCopies, desiredCopies }: ScalableComponent, targetValue: number): number => {
  const perCopy = concurrency / currentCopies;
  const isClose = perCopy <= targetValue && perCopy >= targetValue * SCALE_IN_BELOW;
  return isClose ? desiredCopies : Math.ceil(concurrency / targetValue);
};
