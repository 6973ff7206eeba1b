import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { type HoldStartCredit, OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';

// The reconciler can write the row, and requests can use the organization's credit, between our reads and our write.
const MAX_WAKE_ATTEMPTS = 5;

export interface WakeDependencies {
  deployments: Pick<DeploymentStore, 'find' | 'wake'>;
  holdStartCredit: HoldStartCredit;
  /** Makes the function `deployments` reconcile a deployment now. */
  reconcile: (deploymentId: string) => Promise<void>;
  now: () => number;
}

/** True if a request must wake it. */
export const isAsleep = ({ wanted, state }: Deployment): boolean => wanted === 'running' && ASLEEP.includes(state);

const tryToWake = async ({ deployments, holdStartCredit, now }: WakeDependencies, asleep: Deployment): Promise<Deployment | undefined> => {
  try {
    return await deployments.wake(asleep, now(), await holdStartCredit(asleep, now()));
  } catch (error) {
    // The caller that was first may have taken the credit.
    const isOvertaken = error instanceof OutOfCredit && (await deployments.find(asleep.id))?.version !== asleep.version;
    if (!isOvertaken) throw error;
    return undefined;
  }
};

/**
 * Wakes a deployment that is asleep. Of concurrent callers, one writes the row and calls the reconciler. If that fails,
 * the reconciler's own schedule finds the deployment within a minute.
 * @returns the deployment as it is now; undefined if it is gone
 * @throws OutOfCredit
 */
export const wake = async (deps: WakeDependencies, asleep: Deployment): Promise<Deployment | undefined> => {
  const { deployments, reconcile } = deps;
  let current: Deployment | undefined = asleep;
  for (let attempt = 0; attempt < MAX_WAKE_ATTEMPTS && current && isAsleep(current); attempt++) {
    const woken = await tryToWake(deps, current);
    if (woken) {
      logInfo('deployment_woken', { deployment: woken.id, org_id: woken.organization });
      await reconcile(woken.id).catch((error: unknown) => logError('reconcile_not_invoked', error, { deployment: woken.id }));
      return woken;
    }
    current = await deployments.find(asleep.id);
  }
  return current;
};
