import { type Deployment, isActive } from '../../../shared/deployments/deployment.ts';
import { endShadow, openShadow, type ShadowEnd, startShadow } from '../../../shared/deployments/shadow.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';

/** True if both the serving generation and the one that is compared with it answer requests. */
export const isServingShadow = (deployment: Deployment): boolean => {
  const { generations, state } = deployment;
  const ready = generations.filter(({ status }) => status === 'ready');
  return SERVING.includes(state) && ready.length > 1 && ready.at(-1)?.number === openShadow(deployment)?.generation;
};

const endOf = (deployment: Deployment, isUsedUp: boolean, nowMs: number): ShadowEnd | undefined => {
  const { wanted, generations, traffic_percent } = deployment;
  const { generation, started_at = nowMs, max_seconds = 0 } = openShadow(deployment) ?? {};
  const active = generations.filter(isActive);
  if (wanted !== 'running') return 'stopped';
  if (active.at(-1)?.number !== generation) return 'generation_ended';
  if (traffic_percent > 0) return 'traffic_shifted';
  if (active.length < 2) return 'generation_ended';
  if (isUsedUp) return 'budget_used';
  return nowMs >= started_at + max_seconds * SECOND_MS ? 'time_over' : undefined;
};

/**
 * Starts the comparison of a deployment once both generations serve, and ends it when its budget or its time is used
 * up, or when there is nothing to compare any more. Pure.
 */
export const followShadow = (deployment: Deployment, isUsedUp: boolean, nowMs: number): Deployment => {
  if (!openShadow(deployment)) return deployment;
  const end = endOf(deployment, isUsedUp, nowMs);
  if (end) return endShadow(deployment, end, nowMs);
  return isServingShadow(deployment) ? startShadow(deployment, nowMs) : deployment;
};
