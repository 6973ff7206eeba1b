import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { type Rollups, rollUpDay, rollUpEvents } from '../../functions/rollup/rollup.ts';
import { eventShardsOf, ownerIdOf, shardIds } from '../../shared/admission/shards.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import type { SdkDatabase } from '../../shared/database/sdk-database.ts';
import { prefixes } from '../../shared/ids/id.ts';
import { type Bucket, bucketStarts, type KeyDay } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { createRollupStore, leastShardsOf, type Rollup, rowId } from '../../shared/usage/rollup-store.ts';
import type { Row } from '../../shared/usage/row-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';

/** The totals of a rebuilt day, and how far the stored totals differed. */
interface RebuildReport {
  day: string;
  keys: number;
  events: number;
  requests: number;
  cost_nanos: bigint;
  /** Wrong rows, and the absolute differences in events and money. One mistake can count twice: in a ten-minute row and in a daily row. */
  drift: { rows: number; events: number; cost_nanos: bigint };
  /** Rows that lack only events of the last few minutes, which the stream will deliver. */
  behind: { rows: number; events: number };
}

interface KeyShards {
  id: string;
  shards: number;
}

/** The stream delivers an event within this time, unless something is wrong. */
const BEHIND_MS = 5 * 60_000;
const KEYS_AT_ONCE = 4;
const BUCKETS_AT_ONCE = 16;

/**
 * Recomputes the rows of a UTC day from its events, as the stream's consumer does, and replaces those that differ. Rows are read before events and are
 * replaced only if they have not changed since, so consumers can run concurrently.
 * @param keys the keys that were used on that day; an unused key costs 144 empty queries
 * @throws AggregateError if some keys failed; all others are rebuilt
 */
export const rebuild = async (deps: Rollups, day: string, keys: readonly KeyShards[], now: () => number): Promise<RebuildReport> => {
  const report = {
    day,
    keys: keys.length,
    events: 0,
    requests: 0,
    cost_nanos: 0n,
    drift: { rows: 0, events: 0, cost_nanos: 0n },
    behind: { rows: 0, events: 0 },
  };
  const failures = await inParallel(keys, KEYS_AT_ONCE, ({ id, shards }) => rebuildKey(deps, { keyId: id, day }, shards, now(), report));
  throwFailures(failures);
  return report;
};

const rebuildKey = async (deps: Rollups, of: KeyDay, shards: number, nowMs: number, report: RebuildReport): Promise<void> => {
  const stored = new Map((await Array.fromAsync(deps.rollups.listRows(of))).map((row) => [rowId(row.key), row]));
  // A key can have had more shards on that day than it has now.
  const most = Math.max(shards, ...[...stored.values()].map(leastShardsOf));
  const { whole, late } = await rollUpKey(deps, of, most, nowMs);
  for (const [id, rollup] of whole) {
    if (rollup.bucket) {
      report.events += rollup.totals.events;
      report.requests += rollup.totals.requests;
      report.cost_nanos += rollup.totals.cost_nanos;
    }
    const row = stored.get(id);
    stored.delete(id);
    if (row && isDeepStrictEqual(row.totals, rollup.totals)) continue;
    addDifference(report, row, rollup, late.get(id)?.totals.events ?? 0);
    await deps.rollups.replace(row, rollup);
  }
  // The remaining rows have no events.
  for (const row of stored.values()) {
    addDifference(report, row, undefined, 0);
    await deps.rollups.remove(row);
  }
};

/** The day's rows by id: of all events, and of events that were settled in the last few minutes. */
const rollUpKey = async ({ usage }: Rollups, { keyId, day }: KeyDay, shards: number, nowMs: number) => {
  const buckets = shardIds(keyId, eventShardsOf(shards)).flatMap((shard) =>
    bucketStarts(day).map((startMs): Bucket => ({ shard, startMs })),
  );
  const whole: Rollup[] = [];
  const late: Rollup[] = [];
  const failures = await inParallel(buckets, BUCKETS_AT_ONCE, async (bucket) => {
    const lateEvents: UsageEvent[] = [];
    const events = async function* (): AsyncGenerator<UsageEvent> {
      for await (const event of usage.listByBucket(bucket.shard, bucket.startMs)) {
        if (event.admitted_at + event.duration_ms > nowMs - BEHIND_MS) lateEvents.push(event);
        yield event;
      }
    };
    whole.push(...(await rollUpEvents(bucket, events())));
    late.push(...(await rollUpEvents(bucket, lateEvents)));
  });
  throwFailures(failures);
  const byId = (rollups: Rollup[]) => new Map([...rollups, ...rollUpDay(rollups)].map((rollup) => [rowId(rollup), rollup]));
  return { whole: byId(whole), late: byId(late) };
};

const addDifference = ({ drift, behind }: RebuildReport, row: Row | undefined, rollup: Rollup | undefined, lateEvents: number): void => {
  const n = row === undefined ? 0 : row.n;
  const events = (rollup?.totals.events ?? 0) - (typeof n === 'number' ? n : 0);
  if (typeof n === 'number' && events > 0 && events <= lateEvents) {
    behind.rows++;
    behind.events += events;
    return;
  }
  const cost = (rollup?.totals.cost_nanos ?? 0n) - (row?.totals?.cost_nanos ?? 0n);
  drift.rows++;
  drift.events += Math.abs(events);
  drift.cost_nanos += cost < 0n ? -cost : cost;
};

/** About a million keys. */
const MAX_PAGES = 10_000;
/** The clocks of two functions differ by less than this. */
const CLOCKS_MS = 60_000;

const LimiterFacts = z.object({ id: z.string(), shards: z.int().default(1), last_used: z.int().optional() });

/** The keys that were used since an instant, in any of their shards. Scans the table, which requests never do. */
const listKeysUsed = async (database: SdkDatabase, table: string, sinceMs: number): Promise<KeyShards[]> => {
  const keys = new Map<string, KeyShards & { isUsed: boolean }>();
  let start: Record<string, unknown> | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { Items = [], LastEvaluatedKey } = await database.scan({
      TableName: table,
      ProjectionExpression: 'id, shards, last_used',
      ...(start && { ExclusiveStartKey: start }),
    });
    for (const item of Items) {
      const { id: limiterId, shards, last_used } = LimiterFacts.parse(item);
      if (!limiterId.startsWith(prefixes.key)) continue;
      const id = ownerIdOf(limiterId);
      const known = keys.get(id);
      const isUsed = last_used !== undefined && last_used >= sinceMs - CLOCKS_MS;
      keys.set(id, { id, shards: Math.max(known?.shards ?? 1, shards), isUsed: isUsed || (known?.isUsed ?? false) });
    }
    if (!LastEvaluatedKey) return [...keys.values()].filter(({ isUsed }) => isUsed);
    start = LastEvaluatedKey;
  }
  throw new Error(`The table ${table} has more than ${MAX_PAGES} pages.`);
};

/** Rebuilds the totals of a UTC day for every key that was used since the day began; see `rebuild`. */
export const rebuildTotals = async (
  database: SdkDatabase,
  tables: { keys: string; usage: string },
  day: string,
): Promise<RebuildReport> => {
  const keys = await listKeysUsed(database, tables.keys, Date.parse(day));
  const deps = { usage: createUsageStore(database, tables.usage), rollups: createRollupStore(database, tables.usage) };
  return rebuild(deps, day, keys, Date.now);
};
