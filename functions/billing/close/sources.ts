import type { LimiterConfigurationStore } from '../../../shared/admission/limiter-configuration-store.ts';
import { shardsOf } from '../../../shared/admission/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/shards.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { eventsOfKeyDay } from '../key-events.ts';
import { type Counted, countGpu, countUsage } from './counted-events.ts';

export interface SourceDependencies {
  limiters: Pick<LimiterConfigurationStore, 'listByOrganization' | 'getMany'>;
  usage: Pick<UsageStore, 'listByBucket'>;
  gpuEvents: Pick<GpuEventStore, 'listByDeployment' | 'listDays'>;
}

/** Something whose events of a day can be counted: an API key or a deployment. */
export interface EventSource {
  id: string;
  /** Calls `add` with each event of its day, in a fixed order. */
  count: (add: (event: Counted) => void) => Promise<void>;
}

/** An API key: the most shards that it has had, since limiter items are never deleted, and its last use, if known. */
interface Key {
  id: string;
  shards: number;
  lastUsedMs: number;
}

/** The clocks of two functions differ by less than this. */
const CLOCKS_MS = 60_000;
/** Limiter items that are read at once. */
const BATCH = 1_000;

const shardNumberOf = (limiterId: string): number => Number(limiterId.split('#', 2)[1] ?? 0);

/** The keys of an organization, also revoked ones. */
const listKeys = async ({ limiters }: SourceDependencies, organization: string): Promise<Key[]> => {
  const ids = (await Array.fromAsync(limiters.listByOrganization(organization))).filter((id) => id.startsWith(prefixes.key));
  const keys = new Map<string, Key>();
  const note = (limiterId: string, shards: number, lastUsedMs: number): void => {
    const id = ownerIdOf(limiterId);
    const known = keys.get(id) ?? { id, shards: 1, lastUsedMs: 0 };
    const most = Math.max(known.shards, shards, shardNumberOf(limiterId) + 1);
    keys.set(id, { id, shards: most, lastUsedMs: Math.max(known.lastUsedMs, lastUsedMs) });
  };
  for (let i = 0; i < ids.length; i += BATCH) {
    const batch = ids.slice(i, i + BATCH);
    for (const id of batch) note(id, 1, 0);
    for (const item of await limiters.getMany(batch)) note(item.id, shardsOf(item), item.last_used ?? 0);
  }
  return [...keys.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
};

/**
 * Finds the sources of an organization's events: on each of these days, all API keys except those whose last request was before, and the deployments
 * that have GPU time. Deployments come from the sums by day, which are written in the transactions of their events.
 */
export const openSources = async (
  deps: SourceDependencies,
  organization: string,
  days: readonly string[],
): Promise<(day: string) => EventSource[]> => {
  const keys = await listKeys(deps, organization);
  const sorted = [...days].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  const deployments = new Map<string, Set<string>>();
  if (first !== undefined && last !== undefined)
    for await (const { day, deploymentId } of deps.gpuEvents.listDays(organization, first, last))
      deployments.set(day, (deployments.get(day) ?? new Set()).add(deploymentId));
  return (day) => [
    ...keys
      // A key without a known use is read: unused keys are few, and a request must never be left out.
      .filter(({ lastUsedMs }) => lastUsedMs === 0 || lastUsedMs >= Date.parse(day) - CLOCKS_MS)
      .map(
        ({ id, shards }): EventSource => ({
          id,
          count: async (add) => {
            for await (const event of eventsOfKeyDay(deps.usage, { id, shards }, day)) add(countUsage(event));
          },
        }),
      ),
    ...[...(deployments.get(day) ?? [])].sort().map(
      (id): EventSource => ({
        id,
        count: async (add) => {
          for await (const event of deps.gpuEvents.listByDeployment(id, day, day)) add(countGpu(event));
        },
      }),
    ),
  ];
};
