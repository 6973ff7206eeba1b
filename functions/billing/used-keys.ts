import { shardsOf } from '../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardNumberOf } from '../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { prefixes, timeOfTimedId } from '../../shared/ids/id.ts';
import { DAY_MS } from '../../shared/time/units.ts';
import { dayOf } from '../../shared/usage/bucket.ts';
import type { RollupStore } from '../../shared/usage/rollup-store.ts';
import { ALWAYS, type KeyShards, type Lifetime } from './key-events.ts';

export interface UsedKeysDependencies {
  limiters: Pick<LimiterConfigurationStore, 'listByOrganization' | 'getMany'>;
  rollups: Pick<RollupStore, 'listDays' | 'listTenMinutes'>;
}

// Limiter items are never deleted, so the number of shards is the most that the key has had.
interface Key extends KeyShards {
  /** Milliseconds since the epoch; 0 if never used or unknown. */
  lastUsedMs: number;
}

const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const BATCH_LIMITERS = 1_000;
const PARALLEL_KEYS = 16;

const listKeys = async ({ limiters }: UsedKeysDependencies, organization: string): Promise<Key[]> => {
  const ids = (await Array.fromAsync(limiters.listByOrganization(organization))).filter((id) => id.startsWith(prefixes.key));
  const keys = new Map<string, Key>();
  const note = (limiterId: string, shards: number, lastUsedMs: number): void => {
    const id = ownerIdOf(limiterId);
    const known = keys.get(id) ?? { id, shards: 1, lastUsedMs: 0 };
    const most = Math.max(known.shards, shards, shardNumberOf(limiterId) + 1);
    keys.set(id, { id, shards: most, lastUsedMs: Math.max(known.lastUsedMs, lastUsedMs) });
  };
  for (let i = 0; i < ids.length; i += BATCH_LIMITERS) {
    const batch = ids.slice(i, i + BATCH_LIMITERS);
    for (const id of batch) note(id, 1, 0);
    for (const item of await limiters.getMany(batch)) note(item.id, shardsOf(item), item.last_used ?? 0);
  }
  return [...keys.values()];
};

// A key's id contains its creation, and every admission stores the last use in its limiter.
const lifetimeOf = ({ id, lastUsedMs }: Key): Lifetime => ({
  fromMs: timeOfTimedId('key', id) - MAX_CLOCK_DIFFERENCE_MS,
  untilMs: lastUsedMs + MAX_CLOCK_DIFFERENCE_MS,
});

// The latest time of a key's day that has totals, in ms since the epoch.
const lastTotalsMs = async ({ rollups }: UsedKeysDependencies, keyId: string, day: string): Promise<number> => {
  let lastMs: number | undefined;
  for await (const { bucket } of rollups.listTenMinutes({ keyId, day })) if (bucket) lastMs = Date.parse(`${day}T${bucket.time}Z`);
  // The totals of ten minutes are removed after 90 days.
  return lastMs ?? Date.parse(day) + DAY_MS - 1;
};

interface KeyTotals {
  days: ReadonlySet<string>;
  /** The latest of the day of its last use, which is too early in a limiter from an older backup; 0: none. */
  lastMs: number;
}

// One query a key, and another one if its last use is in the range.
const readKeyTotals = async (
  deps: UsedKeysDependencies,
  keys: readonly Key[],
  [first, last]: readonly [first: string, last: string],
): Promise<Map<string, KeyTotals>> => {
  const totals = new Map<string, KeyTotals>();
  const failures = await inParallel(keys, PARALLEL_KEYS, async (key) => {
    const days = new Set(await Array.fromAsync(deps.rollups.listDays(key.id, first, last), ({ day }) => day));
    if (days.size === 0) return;
    const lastDay = dayOf(lifetimeOf(key).untilMs);
    totals.set(key.id, { days, lastMs: days.has(lastDay) ? await lastTotalsMs(deps, key.id, lastDay) : 0 });
  });
  throwFailures(failures);
  return totals;
};

const isAlive = ({ fromMs, untilMs }: Lifetime, day: string): boolean => fromMs < Date.parse(day) + DAY_MS && untilMs >= Date.parse(day);

/**
 * Finds the API keys of an organization, including revoked ones, that may have events on a day of a range, and the
 * times of those events. A key that lost its limiter, and with it its last use, still has totals.
 */
export const findUsedKeys = async (
  deps: UsedKeysDependencies,
  organization: string,
  range: readonly [first: string, last: string],
): Promise<(day: string) => { key: KeyShards; lifetime: Lifetime }[]> => {
  const keys = await listKeys(deps, organization);
  const totals = await readKeyTotals(deps, keys, range);
  const lives = keys.map((key) => {
    const { fromMs, untilMs } = lifetimeOf(key);
    return { key, lifetime: { fromMs, untilMs: Math.max(untilMs, totals.get(key.id)?.lastMs ?? 0) } };
  });
  return (day) =>
    lives.flatMap(({ key, lifetime }) => {
      if (isAlive(lifetime, day)) return { key, lifetime };
      return totals.get(key.id)?.days.has(day) ? { key, lifetime: ALWAYS } : [];
    });
};
