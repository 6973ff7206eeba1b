import { inState } from '../../../shared/deployments/deployment.ts';
import type { Actor } from '../access/actor.ts';
import { type ChangeDependencies, changeDeployment, type DeploymentAddress } from './change-deployment.ts';
import type { DeploymentResource } from './deployment-resource.ts';
import { DeploymentPublished, WrongState } from './errors.ts';
import { retryGeneration } from './rollout.ts';

const checkNotPublished = (published: string | undefined): void => {
  if (published !== undefined) throw new DeploymentPublished(published);
};

/**
 * Removes a deployment's resources from AWS, and keeps its settings. Does nothing if it is stopped.
 * @throws 404, 409 if it is published, 412
 */
export const stopDeployment = (deps: ChangeDependencies, actor: Actor, address: DeploymentAddress): Promise<DeploymentResource> =>
  changeDeployment(deps, actor, address, {
    action: 'deployment.stopped',
    isOpenToSuspended: true,
    fitsAnySettings: true,
    apply: (before) => {
      if (before.wanted === 'stopped') return before;
      checkNotPublished(before.published_as);
      return { ...inState(before, 'stopping', actor.origin.nowMs), wanted: 'stopped' };
    },
  });

/** Creates a stopped deployment on AWS again. Does nothing if it runs. @throws 403, 404, 409 if it has failed, 412 */
export const startDeployment = (deps: ChangeDependencies, actor: Actor, address: DeploymentAddress): Promise<DeploymentResource> =>
  changeDeployment(deps, actor, address, {
    action: 'deployment.started',
    fitsAnySettings: true,
    apply: (before) => {
      const { wanted, state } = before;
      if (state === 'failed')
        throw new WrongState(
          'deployment_failed',
          `The deployment has failed: ${before.reason?.message ?? 'see its generations.'} Correct the cause, then send POST /v1/deployments/${before.id}/retry.`,
        );
      if (wanted === 'running' && state !== 'stopped' && state !== 'stopping') return before;
      const { nowMs } = actor.origin;
      return { ...inState(retryGeneration(before, nowMs), 'pending', nowMs), wanted: 'running' };
    },
  });

/** Tries a failed deployment again. @throws 403, 404, 409 if it has not failed, 412 */
export const retryDeployment = (deps: ChangeDependencies, actor: Actor, address: DeploymentAddress): Promise<DeploymentResource> =>
  changeDeployment(deps, actor, address, {
    action: 'deployment.retried',
    fitsAnySettings: true,
    apply: (before) => {
      const { state } = before;
      if (state !== 'failed')
        throw new WrongState('deployment_not_failed', `Only a failed deployment can be retried; the state of this one is ${state}.`);
      const { nowMs } = actor.origin;
      return { ...inState(retryGeneration(before, nowMs), 'pending', nowMs), wanted: 'running' };
    },
  });

/**
 * Deletes a deployment: its resources on AWS, then its name. Its row stays, with the state `deleted`.
 * @throws 404, 409 if it is published, 412
 */
export const deleteDeployment = (deps: ChangeDependencies, actor: Actor, address: DeploymentAddress): Promise<DeploymentResource> =>
  changeDeployment(deps, actor, address, {
    action: 'deployment.deleted',
    isOpenToSuspended: true,
    fitsAnySettings: true,
    apply: (before) => {
      if (before.wanted === 'deleted') return before;
      checkNotPublished(before.published_as);
      return { ...inState(before, 'deleting', actor.origin.nowMs), wanted: 'deleted' };
    },
  });
