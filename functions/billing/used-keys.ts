import { shardsOf } from '../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardNumberOf } from '../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { prefixes, timeOfTimedId } from '../../shared/ids/id.ts';
import { DAY_MS } from '../../shared/time/units.ts';
import type { RollupStore } from '../../shared/usage/rollup-store.ts';
import { ALWAYS, type KeyShards, type Lifetime } from './key-events.ts';

export interface UsedKeysDependencies {
  limiters: Pick<LimiterConfigurationStore, 'listByOrganization' | 'getMany'>;
  rollups: Pick<RollupStore, 'listDays'>;
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

// One query a key.
const daysWithTotals = async (
  { rollups }: UsedKeysDependencies,
  keys: readonly Key[],
  [first, last]: readonly [first: string, last: string],
): Promise<Map<string, ReadonlySet<string>>> => {
  const days = new Map<string, ReadonlySet<string>>();
  const failures = await inParallel(keys, PARALLEL_KEYS, async ({ id }) => {
    const rows = await Array.fromAsync(rollups.listDays(id, first, last), ({ day }) => day);
    if (rows.length > 0) days.set(id, new Set(rows));
  });
  throwFailures(failures);
  return days;
};

// A key's id contains its creation, and every admission stores the last use in its limiter.
const lifetimeOf = ({ id, lastUsedMs }: Key): Lifetime => ({
  fromMs: timeOfTimedId('key', id) - MAX_CLOCK_DIFFERENCE_MS,
  untilMs: lastUsedMs + MAX_CLOCK_DIFFERENCE_MS,
});

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
  const daysOf = await daysWithTotals(deps, keys, range);
  const lives = keys.map((key) => ({ key, lifetime: lifetimeOf(key) }));
  return (day) =>
    lives.flatMap(({ key, lifetime }) => {
      if (isAlive(lifetime, day)) return { key, lifetime };
      return daysOf.get(key.id)?.has(day) ? { key, lifetime: ALWAYS } : [];
    });
};
