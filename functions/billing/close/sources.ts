import type { LimiterConfigurationStore } from '../../../shared/admission/limiter-configuration-store.ts';
import { shardsOf } from '../../../shared/admission/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/shards.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { prefixes, timeOfTimedId } from '../../../shared/ids/id.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { ALWAYS, eventsOfKeyDay, type KeyShards, type Lifetime } from '../key-events.ts';
import { type Counted, countGpu, countUsage } from './counted-events.ts';

export interface SourceDependencies {
  limiters: Pick<LimiterConfigurationStore, 'listByOrganization' | 'getMany'>;
  usage: Pick<UsageStore, 'listByBucket'>;
  gpuEvents: Pick<GpuEventStore, 'listByDeployment' | 'listDays'>;
  rollups: Pick<RollupStore, 'listDays'>;
}

/** Something whose events of a day can be counted: an API key or a deployment. */
export interface EventSource {
  id: string;
  /** Calls `add` with each event of its day, in a fixed order. */
  count: (add: (event: Counted) => void) => Promise<void>;
}

/** An API key: the most shards that it has had, since limiter items are never deleted, and its last use, if known. */
interface Key extends KeyShards {
  /** Milliseconds since the epoch; 0: never, or unknown. */
  lastUsedMs: number;
}

/** The clocks of two functions differ by less than this. */
const CLOCKS_MS = 60_000;
/** Limiter items that are read at once. */
const BATCH = 1_000;
/** Keys whose days are read at the same time. */
const PARALLEL = 16;
const DAY_MS = 24 * 60 * 60_000;

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
  return [...keys.values()];
};

/** The days of a range on which keys have totals. One query a key. */
const daysWithTotals = async (
  { rollups }: SourceDependencies,
  keys: readonly Key[],
  [first, last]: readonly [first: string, last: string],
): Promise<Map<string, ReadonlySet<string>>> => {
  const days = new Map<string, ReadonlySet<string>>();
  const failures = await inParallel(keys, PARALLEL, async ({ id }) => {
    const rows = await Array.fromAsync(rollups.listDays(id, first, last), ({ day }) => day);
    if (rows.length > 0) days.set(id, new Set(rows));
  });
  throwFailures(failures);
  return days;
};

/** From a key's creation, which its id contains, to its last use, which its limiter has from every admission. */
const lifetimeOf = ({ id, lastUsedMs }: Key): Lifetime => ({
  fromMs: timeOfTimedId('key', id) - CLOCKS_MS,
  untilMs: lastUsedMs + CLOCKS_MS,
});

const isAlive = ({ fromMs, untilMs }: Lifetime, day: string): boolean => fromMs < Date.parse(day) + DAY_MS && untilMs >= Date.parse(day);

/** Finds the API keys that can have events on a day of a range, and when. A key that lost its limiter, and with it its last use, still has totals. */
const openKeys = async (
  deps: SourceDependencies,
  organization: string,
  range: readonly [first: string, last: string],
): Promise<(day: string) => { key: Key; lifetime: Lifetime }[]> => {
  const keys = await listKeys(deps, organization);
  const daysOf = await daysWithTotals(deps, keys, range);
  const lives = keys.map((key) => ({ key, lifetime: lifetimeOf(key) }));
  return (day) =>
    lives.flatMap(({ key, lifetime }) => {
      if (isAlive(lifetime, day)) return { key, lifetime };
      return daysOf.get(key.id)?.has(day) ? { key, lifetime: ALWAYS } : [];
    });
};

/**
 * Finds the sources of an organization's events, in the order of their ids: on each of these days, the API keys between their creation and their last
 * use, and the deployments that have GPU time. Deployments come from the sums by day, which are written in the transactions of their events.
 */
export const openSources = async (
  deps: SourceDependencies,
  organization: string,
  days: readonly string[],
): Promise<(day: string) => EventSource[]> => {
  const sorted = [...days].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return () => [];
  const keysOf = await openKeys(deps, organization, [first, last]);
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
