import { DeploymentState } from '../../shared/deployments/state.ts';

const PARALLEL_READS = 25;

/** The states of deployments that are counted. */
export const LIVE_STATES = DeploymentState.exclude(['deleted']).options;

export type StateCounts = Record<(typeof LIVE_STATES)[number], number>;

interface CountDependencies {
  /** The state of a deployment; undefined if it does not exist. */
  stateOf: (id: string) => Promise<DeploymentState | undefined>;
  hasTime: () => boolean;
}

/**
 * Counts deployments by state, for a metric.
 * @returns a number for each state; undefined if the time ended before all were read, because a part would look like a
 * change
 */
export const countStates = async ({ stateOf, hasTime }: CountDependencies, ids: readonly string[]): Promise<StateCounts | undefined> => {
  const counts = Object.fromEntries(LIVE_STATES.map((state) => [state, 0])) as StateCounts;
  for (let from = 0; from < ids.length; from += PARALLEL_READS) {
    if (!hasTime()) return undefined;
    const states = await Promise.all(ids.slice(from, from + PARALLEL_READS).map(stateOf));
    for (const state of states) if (state !== undefined && state !== 'deleted') counts[state] += 1;
  }
  return counts;
};
