import { isDeepStrictEqual } from 'node:util';
import { createBusyDeployments } from '../../../../functions/rollup/deployment-days.ts';
import { createMinutesOfBucket } from '../../../../functions/rollup/organization-rows.ts';
import { type Rollups, rollUpDay, rollUpEvents } from '../../../../functions/rollup/rollup.ts';
import { eventShardsOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { type Bucket, bucketStarts, type KeyDay } from '../../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { isExpired } from '../../../../shared/usage/organization-totals.ts';
import type { TotalsRow } from '../../../../shared/usage/organization-totals-store.ts';
import { leastShardsOf, type Rollup, rowId } from '../../../../shared/usage/rollup-store.ts';
import { addDifference, BEHIND_MS, type Differences } from './drift.ts';

/** A key, whose events are spread over so many shards, and its organization. */
export interface KeyShards {
  id: string;
  shards: number;
  organization: string;
}

/**
 * The totals of a key's day for its organization, by minute and ten minutes: of all events, and of the latest ones.
 */
export interface KeyRows {
  whole: TotalsRow[];
  late: TotalsRow[];
}

export interface EventSums {
  events: number;
  requests: number;
  cost_nanos: bigint;
}

const BUCKETS_AT_ONCE = 16;
// Once the ten-minute rows have expired, nothing says how many shards a key had.
const ALL_SHARDS = eventShardsOf(Number.POSITIVE_INFINITY);

/**
 * Rebuilds the rows of a key's day from its events, and adds what they sum up to, and how far rows differed, to the
 * report.
 */
export const rebuildKey = async (
  deps: Rollups,
  day: string,
  { id: keyId, shards, organization }: KeyShards,
  nowMs: number,
  report: EventSums & Differences,
): Promise<KeyRows> => {
  const of = { keyId, day };
  const stored = new Map((await Array.fromAsync(deps.rollups.listRows(of))).map((row) => [rowId(row.key), row]));
  const hasTenMinutes = !isExpired('ten_minutes', Date.parse(day), nowMs);
  // A key can have had more shards on that day than it has now.
  const most = hasTenMinutes ? Math.max(shards, ...[...stored.values()].map(leastShardsOf)) : ALL_SHARDS;
  const { whole, late, ofOrganization } = await rollUpKey(deps, of, most, nowMs, organization);
  for (const [id, rollup] of whole) {
    if (rollup.bucket) {
      report.events += rollup.totals.events;
      report.requests += rollup.totals.requests;
      report.cost_nanos += rollup.totals.cost_nanos;
      if (!hasTenMinutes) continue;
    }
    const row = stored.get(id);
    stored.delete(id);
    if (row && isDeepStrictEqual(row.totals, rollup.totals)) continue;
    addDifference(report, row, rollup.totals, late.get(id)?.totals.events ?? 0);
    await deps.rollups.replace(row, rollup);
  }
  // The remaining rows have no events, or expire.
  for (const row of stored.values()) {
    if (!hasTenMinutes && whole.has(rowId(row.key))) continue;
    addDifference(report, row, undefined, 0);
    await deps.rollups.remove(row);
  }
  return ofOrganization;
};

const rollUpKey = async (
  { usage, maxUsers, deploymentDays }: Rollups,
  { keyId, day }: KeyDay,
  shards: number,
  nowMs: number,
  organization: string,
) => {
  const buckets = shardIds(keyId, eventShardsOf(shards)).flatMap((shard) =>
    bucketStarts(day).map((startMs): Bucket => ({ shard, startMs })),
  );
  const [whole, late]: [Rollup[], Rollup[]] = [[], []];
  const ofOrganization: KeyRows = { whole: [], late: [] };
  const busy = createBusyDeployments();
  const failures = await inParallel(buckets, BUCKETS_AT_ONCE, async (bucket) => {
    const lateEvents: UsageEvent[] = [];
    const [minutes, lateMinutes] = [createMinutesOfBucket(bucket), createMinutesOfBucket(bucket)];
    const events = async function* (): AsyncGenerator<UsageEvent> {
      for await (const event of usage.listByBucket(bucket.shard, bucket.startMs)) {
        minutes.add(event);
        busy.add(event);
        if (event.admitted_at + event.duration_ms > nowMs - BEHIND_MS) {
          lateEvents.push(event);
          lateMinutes.add(event);
        }
        yield event;
      }
    };
    whole.push(...(await rollUpEvents(bucket, events())));
    late.push(...(await rollUpEvents(bucket, lateEvents)));
    ofOrganization.whole.push(...minutes.rows(organization, maxUsers));
    ofOrganization.late.push(...lateMinutes.rows(organization, maxUsers));
  });
  throwFailures(failures);
  // Seconds that are missing come with events that the stream has not delivered, or are from before they were recorded.
  for (const { deployment, hourMs, bits } of busy.hours()) await deploymentDays?.addBusy(deployment, hourMs, bits);
  const byId = (rollups: Rollup[]) => new Map([...rollups, ...rollUpDay(rollups)].map((rollup) => [rowId(rollup), rollup]));
  return { whole: byId(whole), late: byId(late), ofOrganization };
};
