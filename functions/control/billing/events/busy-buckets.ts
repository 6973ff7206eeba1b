import { eventShardsOf, MAX_EVENT_SHARDS, ownerIdOf, shardIds, shardNumberOf } from '../../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import { inBatches } from '../../../../shared/database/in-batches.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { MAX_CLOCK_DIFFERENCE_MS } from '../../../../shared/time/clock-difference.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { RETENTION_DAYS } from '../../../../shared/usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { BUCKET_MS } from '../../../../shared/usage/usage-store.ts';

// A bucket that ended at least so long ago is in the totals.
const TOTALS_LAG_MS = 10 * 60_000;
const LIMITERS_PER_READ = 100;
const READS_AT_ONCE = 8;

export interface BusyDependencies {
  limiters: Pick<LimiterConfigurationStore, 'listByOrganization' | 'lastUses'>;
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
}

const limitersByKey = async ({ limiters }: BusyDependencies, organization: string): Promise<Map<string, string[]>> => {
  const byKey = new Map<string, string[]>();
  for await (const id of limiters.listByOrganization(organization)) {
    const key = ownerIdOf(id);
    if (key !== organization) byKey.set(key, [...(byKey.get(key) ?? []), id]);
  }
  return byKey;
};

// One of its limiters may be lost, so their number says less than the highest of them. If all are, it can have had any.
const mostShardsOf = (limiterIds: readonly string[] | undefined): number =>
  limiterIds ? Math.max(...limiterIds.map((id) => shardNumberOf(id) + 1)) : MAX_EVENT_SHARDS;

const lastUsesOf = async ({ limiters }: BusyDependencies, byKey: ReadonlyMap<string, string[]>): Promise<Map<string, number>> => {
  const ids = [...byKey.values()].flat();
  const last = new Map<string, number>();
  const failures = await inParallel(inBatches(ids, LIMITERS_PER_READ), READS_AT_ONCE, async (batch) => {
    for (const [id, atMs] of await limiters.lastUses(batch)) last.set(ownerIdOf(id), Math.max(last.get(ownerIdOf(id)) ?? 0, atMs));
  });
  throwFailures(failures);
  return last;
};

/** Ten minutes, and the shards of keys that can have events in them. */
export interface BusyBucket {
  startMs: number;
  shards: string[];
}

/**
 * Finds the ten minutes in which keys of an organization can have events, from the totals of ten minutes where they
 * exist, otherwise from those of the day. The last ten minutes are not in the totals yet: there, from when keys were
 * last used.
 * @param isWanted selects the keys to look for
 */
export const busyBuckets = async (deps: BusyDependencies, organization: string, isWanted: (keyId: string) => boolean, nowMs: number) => {
  const byKey = await limitersByKey(deps, organization);
  const shardsOf = (keys: Iterable<string>): string[] =>
    [...new Set(keys)].filter(isWanted).flatMap((key) => shardIds(key, eventShardsOf(mostShardsOf(byKey.get(key)))));
  const directMs = Math.floor((nowMs - TOTALS_LAG_MS) / BUCKET_MS) * BUCKET_MS;
  let lastUses: Promise<Map<string, number>> | undefined;

  const recent = async (startMs: number): Promise<BusyBucket> => {
    lastUses ??= lastUsesOf(deps, byKey);
    const used = [...(await lastUses)].filter(([, lastMs]) => lastMs >= startMs - MAX_CLOCK_DIFFERENCE_MS).map(([key]) => key);
    return { startMs, shards: shardsOf(used) };
  };

  async function* byTenMinutes(fromMs: number, toMs: number): AsyncGenerator<BusyBucket> {
    let startMs = fromMs;
    let keys: string[] = [];
    for await (const totals of deps.organizationTotals.list({ organization, span: 'ten_minutes', detail: 'key', fromMs, toMs })) {
      if (totals.startMs !== startMs) {
        yield { startMs, shards: shardsOf(keys) };
        [startMs, keys] = [totals.startMs, []];
      }
      if (totals.keyId !== undefined) keys.push(totals.keyId);
    }
    yield { startMs, shards: shardsOf(keys) };
  }

  async function* byDay(day: number, fromMs: number, toMs: number): AsyncGenerator<BusyBucket> {
    const keys: string[] = [];
    for await (const { keyId } of deps.organizationTotals.list({
      organization,
      span: 'day',
      detail: 'key',
      fromMs: day,
      toMs: day + DAY_MS,
    }))
      if (keyId !== undefined) keys.push(keyId);
    const shards = shardsOf(keys);
    if (shards.length > 0) for (let startMs = fromMs; startMs < toMs; startMs += BUCKET_MS) yield { startMs, shards };
  }

  /** The ten minutes of a part of a UTC day, in the order of time. @param fromMs the start of ten minutes */
  return async function* (fromMs: number, toMs: number): AsyncGenerator<BusyBucket> {
    const day = Math.floor(fromMs / DAY_MS) * DAY_MS;
    const totalsEndMs = Math.min(toMs, directMs);
    const hasTenMinutes = day + RETENTION_DAYS.ten_minutes * DAY_MS > nowMs;
    if (fromMs < totalsEndMs) yield* hasTenMinutes ? byTenMinutes(fromMs, totalsEndMs) : byDay(day, fromMs, totalsEndMs);
    for (let startMs = Math.max(fromMs, directMs); startMs < Math.min(toMs, nowMs + MAX_CLOCK_DIFFERENCE_MS); startMs += BUCKET_MS)
      yield await recent(startMs);
  };
};
