import { shardsOf } from '../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardNumberOf } from '../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { prefixes, timeOfTimedId } from '../../shared/ids/id.ts';
import { MAX_CLOCK_DIFFERENCE_MS } from '../../shared/time/clock-difference.ts';
import { DAY_MS } from '../../shared/time/units.ts';
import { dayOf } from '../../shared/time/utc.ts';
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

// The usage of the many keys that have none.
const NONE: ReadonlySet<string> = new Set();

interface Life {
  key: Key;
  lifetime: Lifetime;
  /** The days of the range with totals. */
  days: ReadonlySet<string>;
}

// One query a key, and another one if its last use is in the range. A limiter from an older backup has a last use that
// is too early, and its day later totals.
const readLives = async (deps: UsedKeysDependencies, keys: readonly Key[], [first, last]: readonly [string, string]): Promise<Life[]> => {
  const lives = keys.map((key): Life => ({ key, lifetime: lifetimeOf(key), days: NONE }));
  const failures = await inParallel(lives, PARALLEL_KEYS, async (life) => {
    const days = await Array.fromAsync(deps.rollups.listDays(life.key.id, first, last), ({ day }) => day);
    if (days.length === 0) return;
    life.days = new Set(days);
    const { fromMs, untilMs } = life.lifetime;
    const lastDay = dayOf(untilMs);
    if (life.days.has(lastDay)) life.lifetime = { fromMs, untilMs: Math.max(untilMs, await lastTotalsMs(deps, life.key.id, lastDay)) };
  });
  throwFailures(failures);
  return lives;
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
  const lives = await readLives(deps, await listKeys(deps, organization), range);
  return (day) =>
    lives.flatMap(({ key, lifetime, days }) => {
      if (isAlive(lifetime, day)) return { key, lifetime };
      return days.has(day) ? { key, lifetime: ALWAYS } : [];
    });
};
