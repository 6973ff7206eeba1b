import { type Deployment, type Generation, isActive, MAX_GENERATIONS } from '../../../shared/deployments/deployment.ts';
import { RolloutUnfinished, WrongState } from './errors.ts';
import type { PlannedGeneration } from './plan-generation.ts';

// One generation, or two during a rollout, or none if all have failed.
const liveOf = ({ generations }: Deployment): Generation[] => generations.filter(isActive);

/** The generation that the owner wants: the newest one, unless it failed and an older one still serves. */
export const wantedGeneration = (deployment: Deployment): Generation =>
  liveOf(deployment).at(-1) ?? (deployment.generations.at(-1) as Generation);

/** The numbers of the generations that get requests or will, oldest first. */
export const liveNumbers = (deployment: Deployment): number[] => liveOf(deployment).map(({ number }) => number);

/** The fields of a generation that decide what it runs. */
export const contentOf = ({
  runtime,
  model,
  allows_code,
  instance_types,
  accelerators,
  environment,
  adapters,
}: Generation): PlannedGeneration => ({
  runtime,
  model,
  allows_code,
  instance_types,
  accelerators,
  environment,
  ...(adapters && { adapters }),
});

/** A generation that gets requests, or will; one that is only planned has no number. */
export type ServingGeneration = PlannedGeneration & { number?: number };

/** The generations that get requests after an update, including the one that it adds. */
export const generationsAfter = (deployment: Deployment, planned: PlannedGeneration | undefined): ServingGeneration[] => {
  const live = liveOf(deployment);
  if (planned) return deployment.state === 'stopped' ? [planned] : [...live, planned];
  return live.length > 0 ? live : [wantedGeneration(deployment)];
};

const append = (deployment: Deployment, planned: PlannedGeneration, nowMs: number): Generation[] => {
  const { generations, state } = deployment;
  const number = (generations.at(-1) as Generation).number + 1;
  const next: Generation = { ...planned, number, created_at: nowMs, status: 'creating' };
  // Nothing of a stopped deployment is on AWS, so its old generations need no removal.
  return state === 'stopped' ? [next] : [...generations, next];
};

const checkRoom = ({ generations }: Deployment): void => {
  if (generations.length >= MAX_GENERATIONS)
    throw new WrongState(
      'generations_unfinished',
      'Earlier generations of the deployment are still being removed. Try again in a few minutes.',
    );
};

/**
 * Begins a rollout of a new generation.
 * @param percent its share of the requests once it is ready; 100: it then replaces the old one
 * @throws 409 during another rollout, or while the first generation is being created or an old one removed
 */
export const beginRollout = (deployment: Deployment, planned: PlannedGeneration, percent: number, nowMs: number): Deployment => {
  const { state } = deployment;
  const isEmpty = state === 'stopped';
  const live = isEmpty ? [] : liveOf(deployment);
  if (live.length > 1) throw new RolloutUnfinished();
  if (live[0]?.status === 'creating')
    throw new WrongState(
      'deployment_not_ready',
      "The deployment is still being created, so it can't get a new generation yet. Wait until it is in service or has failed, or stop it first.",
    );
  if (state === 'stopping')
    throw new WrongState('deployment_stopping', 'The deployment is being stopped. Send the change again once its state is stopped.');
  if (!isEmpty) checkRoom(deployment);
  // Without another generation, the new one has all traffic.
  const traffic_percent = live.length === 0 ? 100 : percent;
  return { ...deployment, generations: append(deployment, planned, nowMs), traffic_percent };
};

const RETURNED = {
  code: 'returned',
  message: 'This rollout was rolled back. Its traffic returned to the previous generation.',
  action: 'Roll out another generation when you are ready.',
};

/**
 * Shifts the traffic of a rollout: 100 completes it; 0 rolls it back, and removes the new generation.
 * @throws 409 without a rollout
 */
export const shiftTraffic = (deployment: Deployment, percent: number, nowMs: number): Deployment => {
  const live = liveOf(deployment);
  if (live.length < 2) {
    if (percent === 100 && deployment.traffic_percent === 100) return deployment;
    throw new WrongState(
      'no_rollout',
      'The deployment has only one generation, which gets all traffic. Send traffic_percent with a new runtime, model, environment, adapters, accelerators or instance types.',
    );
  }
  if (percent > 0) return { ...deployment, traffic_percent: percent };
  const newest = live.at(-1)?.number;
  const returned = (each: Generation): Generation => ({
    ...each,
    status: 'retired',
    ended_at: nowMs,
    ...(each.status === 'creating' && { is_unused: true }),
    reason: RETURNED,
  });
  const generations = deployment.generations.map((each) => (each.number === newest ? returned(each) : each));
  return { ...deployment, generations, traffic_percent: 100 };
};

/**
 * Copies a failed wanted generation under the next number. The resources that it left on AWS are removed under its old
 * number.
 */
export const retryGeneration = (deployment: Deployment, nowMs: number): Deployment => {
  const failed = wantedGeneration(deployment);
  const { status } = failed;
  if (status !== 'failed' && status !== 'retired') return deployment;
  checkRoom(deployment);
  return { ...deployment, generations: append(deployment, contentOf(failed), nowMs), traffic_percent: 100 };
};
