import {
  type Deployment,
  type InstancePhase,
  isActive,
  leastCopies,
  type RunningInstances,
} from '../../../shared/deployments/deployment.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { isLeaving, type Observed, type ObservedGeneration } from './observe.ts';

// The instances of a generation that is being removed no longer serve.
const phaseOf = (deployment: Deployment, number: number, { component }: ObservedGeneration): InstancePhase => {
  const generation = deployment.generations.find((other) => other.number === number);
  if ((component?.copies ?? 0) > 0) return 'serving';
  const isToServe = !isLeaving(deployment, generation) && !ASLEEP.includes(deployment.state);
  return isToServe ? 'starting' : 'draining';
};

/** True if instances of a deployment are still to start, so that the credit held for them must be kept. */
export const isStarting = (deployment: Deployment): boolean => {
  const { wanted, state, generations, scale_to_zero_after_seconds: idle, progress, scheduled } = deployment;
  if (wanted !== 'running' || !generations.some(isActive)) return false;
  if (generations.some(({ status }) => status === 'creating')) return true;
  return ASLEEP.includes(state) ? idle === null || scheduled !== undefined : state === 'waking' || progress.ready < leastCopies(deployment);
};

/** The running instances of each generation, whatever the deployment's state is. */
export const runningInstances = (deployment: Deployment, observed: Observed): RunningInstances[] =>
  [...observed.generations].flatMap(([generation, seen]) => {
    const [only = ''] = deployment.generations.find(({ number }) => number === generation)?.instance_types ?? [];
    const phase = phaseOf(deployment, generation, seen);
    return (seen.endpoint?.instances ?? []).map(({ instance_type = only, instances }) => ({ generation, instance_type, instances, phase }));
  });
