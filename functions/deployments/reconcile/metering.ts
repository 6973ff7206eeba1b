import type { Write } from '../../../shared/database/transaction.ts';
import type { Deployment, Meter, RunningInstances } from '../../../shared/deployments/deployment.ts';
import { NOTHING, type Observed } from './observe.ts';

/** What a look at a deployment's instances changes in its metering. */
export interface MeterReading {
  meter: Meter | undefined;
  /** The usage events and the credit that they take, made with the row in one transaction. */
  writes: readonly Write[];
  /** Why the deployment must be stopped. */
  stop?: 'out_of_credit' | undefined;
}

/** Meters GPU time up to now. @param running the instances that were just seen */
export type MeterPass = (look: { deployment: Deployment; running: RunningInstances[]; nowMs: number }) => Promise<MeterReading>;

/** The instances of each generation that run now, whatever the deployment's state is. */
export const runningInstances = ({ generations }: Deployment, observed: Observed): RunningInstances[] =>
  [...observed.generations.keys()].flatMap((generation) => {
    const [only = ''] = generations.find(({ number }) => number === generation)?.instance_types ?? [];
    const { endpoint } = observed.generations.get(generation) ?? NOTHING;
    return (endpoint?.instances ?? []).map(({ instance_type = only, instances }) => ({ generation, instance_type, instances }));
  });
