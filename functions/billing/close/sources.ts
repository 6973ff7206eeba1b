import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { eventsOfKeyDay } from '../key-events.ts';
import { findUsedKeys, type UsedKeysDependencies } from '../used-keys.ts';
import { type CountedEvent, countGpu, countUsage } from './counted-events.ts';

export interface SourceDependencies extends UsedKeysDependencies {
  usage: Pick<UsageStore, 'listByBucket'>;
  gpuEvents: Pick<GpuEventStore, 'listByDeployment' | 'listDays'>;
}

/** An API key or a deployment, whose events of one day can be counted. */
export interface EventSource {
  id: string;
  /** Calls `add` with each event of the day, in a fixed order. */
  count: (add: (event: CountedEvent) => void) => Promise<void>;
}

/**
 * Finds the sources of an organization's events, in the order of their ids: the API keys that existed on each day and
 * were used later, and the deployments with GPU time. Deployments come from daily sums, which are written in the
 * transactions of their events.
 */
export const openSources = async (
  deps: SourceDependencies,
  organization: string,
  days: readonly string[],
): Promise<(day: string) => EventSource[]> => {
  const sorted = [...days].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return () => [];
  const keysOf = await findUsedKeys(deps, organization, [first, last]);
  const deployments = new Map<string, Set<string>>();
  for await (const { day, deploymentId } of deps.gpuEvents.listDays(organization, first, last))
    deployments.set(day, (deployments.get(day) ?? new Set()).add(deploymentId));
  const ofKey = (day: string, { key, lifetime }: ReturnType<typeof keysOf>[number]): EventSource => ({
    id: key.id,
    count: async (add) => {
      for await (const event of eventsOfKeyDay(deps.usage, key, day, lifetime)) add(countUsage(event));
    },
  });
  const ofDeployment = (day: string, id: string): EventSource => ({
    id,
    count: async (add) => {
      for await (const event of deps.gpuEvents.listByDeployment(id, day, day)) add(countGpu(event));
    },
  });
  return (day) =>
    [...keysOf(day).map((key) => ofKey(day, key)), ...[...(deployments.get(day) ?? [])].map((id) => ofDeployment(day, id))].sort((a, b) =>
      a.id < b.id ? -1 : 1,
    );
};
