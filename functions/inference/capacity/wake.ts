import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';

/** The reconciler can write the row between our read and our write. */
const MAX_ATTEMPTS = 5;

export interface WakeDependencies {
  deployments: Pick<DeploymentStore, 'find' | 'wake'>;
  /** Has the function `deployments` work on a deployment now. */
  reconcile: (deploymentId: string) => Promise<void>;
  now: () => number;
}

/** Whether a request wakes it. */
export const isAsleep = ({ wanted, state }: Deployment): boolean => wanted === 'running' && ASLEEP.includes(state);

/**
 * Wakes a deployment that is asleep. However many callers do this at once, one of them writes it and calls the reconciler. If that caller crashes, or
 * the call fails, the reconciler's own schedule finds the deployment within a minute.
 * @returns the deployment as it is now; undefined if it is gone
 */
export const wake = async ({ deployments, reconcile, now }: WakeDependencies, asleep: Deployment): Promise<Deployment | undefined> => {
  let current: Deployment | undefined = asleep;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && current && isAsleep(current); attempt++) {
    const woken = await deployments.wake(current, now());
    if (woken) {
      logInfo('deployment_woken', { deployment: woken.id, org_id: woken.organization });
      await reconcile(woken.id).catch((error: unknown) => logError('reconcile_not_invoked', error, { deployment: woken.id }));
      return woken;
    }
    current = await deployments.find(asleep.id);
  }
  return current;
};
