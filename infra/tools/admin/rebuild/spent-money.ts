import { FIRST_DAY, LAST_DAY } from '../../../../functions/control/organizations/balance.ts';
import { moneyCountersAt } from '../../../../shared/admission/item/limiter-item.ts';
import { eventShardsOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import { CREDIT } from '../../../../shared/admission/plans/correct-money.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { dayOf, timeOf } from '../../../../shared/time/utc.ts';
import { type Bucket, bucketStarts } from '../../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { isExpired } from '../../../../shared/usage/organization-totals.ts';
import type { RollupStore } from '../../../../shared/usage/rollup-store.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';

export interface EventDependencies {
  usage: Pick<UsageStore, 'listByBucket'>;
  rollups: Pick<RollupStore, 'listDays' | 'listTenMinutes'>;
}

const BUCKETS_AT_ONCE = 16;

/** Nano-dollars by the counter of a limiter that counts them, and those that were paid from prepaid credit. */
export class Spending {
  readonly #counted = new Map<string, bigint>();

  /** The sum of the events for a counter or `CREDIT`, in nano-dollars. */
  of(counter: string): bigint {
    return this.#counted.get(counter) ?? 0n;
  }

  /** Adds what was spent or held at an instant. */
  count(atMs: number, nanos: bigint): void {
    for (const counter of Object.values(moneyCountersAt(atMs))) this.#add(counter, nanos);
  }

  /** Adds what was paid from prepaid credit. */
  pay(nanos: bigint): void {
    this.#add(CREDIT, nanos);
  }

  #add(counter: string, nanos: bigint): void {
    this.#counted.set(counter, this.of(counter) + nanos);
  }
}

/** A key and how many of its shards can have events. */
export interface SpendingKey {
  id: string;
  shards: number;
}

// Within this time, events reach the totals and settlements of crashed functions become events.
const MAX_DELAY_MS = 60 * 60_000;

// Buckets with a total, and the latest. Once a day's ten-minute totals have expired, all its buckets can have events.
const bucketsOf = async ({ rollups }: EventDependencies, { id, shards }: SpendingKey, day: string, nowMs: number): Promise<Bucket[]> => {
  const all = shardIds(id, eventShardsOf(shards)).flatMap((shard) => bucketStarts(day).map((startMs) => ({ shard, startMs })));
  if (isExpired('ten_minutes', Date.parse(day), nowMs)) return all;
  const bucketsWithTotals = new Set<string>();
  for await (const { bucket } of rollups.listTenMinutes({ keyId: id, day }))
    if (bucket) bucketsWithTotals.add(`${bucket.shard} ${bucket.time}`);
  return all.filter(
    ({ shard, startMs }) => (startMs > nowMs - MAX_DELAY_MS && startMs <= nowMs) || bucketsWithTotals.has(`${shard} ${timeOf(startMs)}`),
  );
};

const listDay = async (deps: EventDependencies, key: SpendingKey, day: string, nowMs: number): Promise<UsageEvent[]> => {
  const events: UsageEvent[] = [];
  const buckets = await bucketsOf(deps, key, day, nowMs);
  throwFailures(
    await inParallel(buckets, BUCKETS_AT_ONCE, async ({ shard, startMs }) => {
      for await (const event of deps.usage.listByBucket(shard, startMs)) events.push(event);
    }),
  );
  return events;
};

interface Since {
  /** The limiter counts requests from this time on, in ms since the epoch. */
  sinceMs: number;
  nowMs: number;
}

// A rating again changes credit, but not what a limiter has counted.
const isCountedSince = ({ rerate, request_id }: UsageEvent, sinceMs: number): boolean => !rerate && requestTimeMs(request_id) >= sinceMs;

const recentDays = (nowMs: number): string[] => [dayOf(nowMs - DAY_MS), dayOf(nowMs)];

/** The events of a key's requests that a limiter has counted since a time. */
export async function* listCounted(deps: EventDependencies, key: SpendingKey, { sinceMs, nowMs }: Since): AsyncGenerator<UsageEvent> {
  const days = new Set(recentDays(nowMs).filter((day) => day >= dayOf(sinceMs)));
  for await (const { day } of deps.rollups.listDays(key.id, dayOf(sinceMs), LAST_DAY)) days.add(day);
  for (const day of days) for (const event of await listDay(deps, key, day, nowMs)) if (isCountedSince(event, sinceMs)) yield event;
}

/**
 * Adds what a key has spent. A day's totals say it, unless the stream can still deliver events of the day, or some of
 * its requests were rated again: that changes credit, but not what a limiter has counted.
 */
export const addSpending = async (
  deps: EventDependencies,
  key: SpendingKey,
  spending: Spending,
  { sinceMs, nowMs }: Since,
): Promise<void> => {
  const rows = await Array.fromAsync(deps.rollups.listDays(key.id, FIRST_DAY, LAST_DAY));
  const recent = recentDays(nowMs);
  const days = new Map<string, typeof rows>([
    ...recent.map((day): [string, typeof rows] => [day, []]),
    ...Map.groupBy(rows, ({ day }) => day),
  ]);
  for (const [day, ofDay] of days) {
    const isExact = ofDay.every(({ totals: { events, requests } }) => events === requests);
    if (isExact && !recent.includes(day) && day !== dayOf(sinceMs)) {
      for (const { totals } of ofDay) {
        spending.pay(totals.prepaid_nanos);
        if (day > dayOf(sinceMs)) spending.count(Date.parse(day), totals.cost_nanos);
      }
      continue;
    }
    for (const event of await listDay(deps, key, day, nowMs)) {
      if (event.is_prepaid) spending.pay(event.cost_nanos);
      if (isCountedSince(event, sinceMs)) spending.count(requestTimeMs(event.request_id), event.cost_nanos);
    }
  }
};
