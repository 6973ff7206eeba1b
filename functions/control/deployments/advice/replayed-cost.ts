import type { RunningInstances } from '../../../../shared/deployments/deployment.ts';
import { costOf, type InstancePrices, secondsOf } from '../../../../shared/gpu-time/intervals.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import type { Period } from './history.ts';

/** The facts by which a replay is charged. */
export interface Charges {
  /** The GPU time that was metered. */
  events: readonly GpuEvent[];
  /** The instances that run while it has no events. */
  instances: RunningInstances;
  prices: InstancePrices;
}

export interface ReplayedCost {
  /** Seconds × instances. */
  instanceSeconds: bigint;
  costNanos: bigint;
}

const overlapOf = (one: Period, other: Period): Period => ({
  fromMs: Math.max(one.fromMs, other.fromMs),
  toMs: Math.min(one.toMs, other.toMs),
});

// A later rating of an event has its id before the `#` of its own.
const ratedCosts = (events: readonly GpuEvent[]): ReadonlyMap<string, bigint> => {
  const costs = new Map<string, bigint>();
  for (const { id, cost_nanos } of events) {
    const [base = id] = id.split('#');
    costs.set(base, (costs.get(base) ?? 0n) + cost_nanos);
  }
  return costs;
};

/**
 * Returns what a replay would have cost. Where the same instances ran as were metered, it is what they were charged;
 * a part of an event, and time that was not metered, has the price of its seconds. More copies than the least ones ran
 * as they were metered.
 * @param awake when instances run, in order and apart
 */
export const costOfReplay = (awake: readonly Period[], { events, instances, prices }: Charges): ReplayedCost => {
  const costs = ratedCosts(events);
  const intervals = events.filter(({ seconds }) => seconds > 0).sort((one, other) => one.started_at - other.started_at);
  let instanceSeconds = 0n;
  let costNanos = 0n;
  const add = (running: RunningInstances, { fromMs, toMs }: Period, charged?: bigint): void => {
    instanceSeconds += BigInt(secondsOf({ startMs: fromMs, endMs: toMs })) * BigInt(running.instances);
    costNanos += charged ?? costOf([running], prices, fromMs, toMs);
  };
  let first = 0;
  for (const period of awake) {
    let coveredMs = period.fromMs;
    while (first < intervals.length && (intervals[first] as GpuEvent).ended_at <= period.fromMs) first++;
    for (let i = first; i < intervals.length && (intervals[i] as GpuEvent).started_at < period.toMs; i++) {
      const event = intervals[i] as GpuEvent;
      const whole = { fromMs: event.started_at, toMs: event.ended_at };
      const part = overlapOf(period, whole);
      if (part.toMs <= part.fromMs) continue;
      if (part.fromMs > coveredMs) add(instances, { fromMs: coveredMs, toMs: part.fromMs });
      const isWhole = part.fromMs === whole.fromMs && part.toMs === whole.toMs;
      add(event, part, isWhole ? costs.get(event.id) : undefined);
      coveredMs = Math.max(coveredMs, part.toMs);
    }
    if (coveredMs < period.toMs) add(instances, { fromMs: coveredMs, toMs: period.toMs });
  }
  return { instanceSeconds, costNanos };
};
