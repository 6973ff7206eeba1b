import { isDeepStrictEqual } from 'node:util';
import { type Rollups, rollUpDay, rollUpEvents } from '../../functions/rollup/rollup.ts';
import { shardId } from '../../shared/admission/shards.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { type Bucket, bucketStarts, type KeyDay } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { type Rollup, type Row, rowId, shardsOf } from '../../shared/usage/rollup-store.ts';

/** What a rebuilt day holds, and how far what was stored had been from it. */
export interface RebuildReport {
  day: string;
  /** Keys that were looked at. */
  keys: number;
  events: number;
  requests: number;
  cost_nanos: bigint;
  /** Rows that were wrong, and by how many events and how much money, up or down; of ten minutes and of days, so that one mistake may be in both. */
  drift: { rows: number; events: number; cost_nanos: bigint };
  /** Rows that lack only events of the last minutes, which the stream brings in any case. */
  behind: { rows: number; events: number };
}

/** A key and the number of its shards as of now. */
export interface KeyShards {
  id: string;
  shards: number;
}

/** Within this time the stream brings an event, unless something is wrong. */
const BEHIND_MS = 5 * 60_000;
const KEYS_AT_ONCE = 4;
const BUCKETS_AT_ONCE = 16;

/**
 * Makes the rows of a UTC day from its events, as the stream's consumer does, and puts them in place of those that differ. Rows are read before
 * events and replaced only as they were read, so consumers may go on beside it.
 * @param keys those that were used on that day; others of them cost 144 empty queries each
 * @throws AggregateError when a key could not be rebuilt; all others are
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
  // A key may have had more shards that day than it has now.
  const most = Math.max(shards, ...[...stored.values()].map(shardsOf));
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
    tell(report, row, rollup, late.get(id)?.totals.events ?? 0);
    await deps.rollups.replace(row, rollup);
  }
  // What is left is of no event.
  for (const row of stored.values()) {
    tell(report, row, undefined, 0);
    await deps.rollups.remove(row);
  }
};

/** The day's rows by their ids: of all events, and of those alone that were settled in the last minutes. */
const rollUpKey = async ({ usage }: Rollups, { keyId, day }: KeyDay, shards: number, nowMs: number) => {
  const buckets = Array.from({ length: shards }, (_, shard) => shardId(keyId, shard)).flatMap((shard) =>
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

const tell = ({ drift, behind }: RebuildReport, row: Row | undefined, rollup: Rollup | undefined, lateEvents: number): void => {
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
