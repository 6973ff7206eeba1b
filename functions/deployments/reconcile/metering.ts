import type { Write } from '../../../shared/database/transaction.ts';
import {
  type Deployment,
  type GpuMeter,
  type InstancePhase,
  isActive,
  type RunningInstances,
} from '../../../shared/deployments/deployment.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { isLeaving, type Observed, type ObservedGeneration } from './observe.ts';

/** What a look at a deployment's instances changes in its metering. */
export interface MeterReading {
  meter: GpuMeter | undefined;
  /** The usage events and the credit that they take, made with the row in one transaction. */
  writes: readonly Write[];
  /** Why the deployment must be stopped. */
  stop?: 'out_of_credit' | undefined;
  /** What its owner must know. */
  warning?: 'credit_low' | undefined;
}

interface MeterLook {
  deployment: Deployment;
  /** The instances that were just seen. */
  running: RunningInstances[];
  nowMs: number;
  /** Whether it has more instances to start. */
  isStarting: boolean;
  /** Whether credit can be taken. */
  canDraw: boolean;
}

/** Meters GPU time up to now. */
export type MeterPass = (look: MeterLook) => Promise<MeterReading>;

/** What a generation's instances do. Those of a generation that is being removed have no use any more. */
const phaseOf = (deployment: Deployment, number: number, { component }: ObservedGeneration): InstancePhase => {
  const generation = deployment.generations.find((other) => other.number === number);
  if ((component?.copies ?? 0) > 0) return 'serving';
  const isToServe = !isLeaving(deployment, generation) && !ASLEEP.includes(deployment.state);
  return isToServe ? 'starting' : 'draining';
};

/** Whether instances of a deployment are still to start, so that the credit which is held for them must be kept. */
export const isStarting = ({ wanted, state, generations, scale_to_zero_after_seconds: idle, progress, copies }: Deployment): boolean => {
  if (wanted !== 'running' || !generations.some(isActive)) return false;
  if (generations.some(({ status }) => status === 'creating')) return true;
  return ASLEEP.includes(state) ? idle === null : state === 'waking' || progress.ready < copies.min;
};

/** The instances of each generation that run now, whatever the deployment's state is. */
export const runningInstances = (deployment: Deployment, observed: Observed): RunningInstances[] =>
  [...observed.generations].flatMap(([generation, seen]) => {
    const [only = ''] = deployment.generations.find(({ number }) => number === generation)?.instance_types ?? [];
    const phase = phaseOf(deployment, generation, seen);
    return (seen.endpoint?.instances ?? []).map(({ instance_type = only, instances }) => ({ generation, instance_type, instances, phase }));
  });
