import type { Deployment, Start } from '../../../shared/deployments/deployment.ts';
import { expectedEnd, fastestStart, type PredictedStart, predictStart } from '../../../shared/deployments/start-times.ts';
import type { StartTimesStore } from '../../../shared/deployments/start-times-store.ts';

const startedAtOf = ({ wake, transitions, state_since }: Deployment): number =>
  wake?.started_at ?? transitions.findLast(({ state }) => state === 'pending')?.at ?? state_since;

// A creation takes longer than a wake, so each predicts only its own kind.
const startsLike = ({ wake, starts }: Deployment): Start[] => {
  const creations = starts.filter(({ kind }) => kind === 'creation');
  return wake || creations.length === 0 ? starts : creations;
};

const instanceTypeOf = ({ generations }: Deployment): string | undefined =>
  (generations.findLast(({ status }) => status === 'ready') ?? generations.at(-1))?.instance_types[0];

/** A start in progress, and the earliest time at which similar starts ended. */
export interface StartInProgress extends PredictedStart {
  earliestAtMs: number;
}

/** Predicts a start. Other deployments on its instance type are read only if it has no history of its own. */
export const predict = async (
  { secondsOf }: Pick<StartTimesStore, 'secondsOf'>,
  deployment: Deployment,
  nowMs: number,
): Promise<StartInProgress> => {
  const instanceType = deployment.starts.length === 0 ? instanceTypeOf(deployment) : undefined;
  const ofType = instanceType === undefined ? [] : await secondsOf(instanceType);
  const starts = startsLike(deployment);
  const start = predictStart(starts, ofType);
  const startedAtMs = startedAtOf(deployment);
  const earliestAtMs = startedAtMs + fastestStart(starts, ofType) * 1_000;
  return { ...start, startedAtMs, earliestAtMs, expectedAtMs: expectedEnd(startedAtMs, start, nowMs) };
};
