import type { RunningInstances } from '../../../../shared/deployments/deployment.ts';
import { costOf, type InstancePrices, secondsOf } from '../../../../shared/gpu-time/intervals.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import type { Period } from './history.ts';

/** A window of a schedule, from when the deployment starts for it. */
export interface LeastWindow extends Period {
  copies: number;
}

/** The minimum copies of a deployment while it is awake: those of its settings, or of a window. */
export interface LeastCopies {
  copies: { min: number; max: number };
  windows: readonly LeastWindow[];
}

/** The facts by which a replay is charged. */
export interface Charges {
  /** The GPU time that was metered. */
  events: readonly GpuEvent[];
  /** The minimum copies with the settings of the time. */
  least: LeastCopies;
  /** The instances that run while it has no events. */
  instances: Omit<RunningInstances, 'instances'>;
  /** How many of them some copies need. */
  instancesFor: (copies: number) => number;
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

const leastAt = ({ copies, windows }: LeastCopies, ms: number): number =>
  Math.min(copies.max, Math.max(copies.min, ...windows.filter(({ fromMs, toMs }) => fromMs <= ms && ms < toMs).map((each) => each.copies)));

interface Piece extends Period {
  /** The minimum copies of the time, and those of the replay. */
  before: number;
  after: number;
}

// Splits a time where the minimum copies change.
const piecesOf = ({ fromMs, toMs }: Period, before: LeastCopies, after: LeastCopies): Piece[] => {
  const edges = [...before.windows, ...after.windows].flatMap((window) => [window.fromMs, window.toMs]);
  const cuts = [...new Set([fromMs, ...edges.filter((ms) => ms > fromMs && ms < toMs)])].sort((one, other) => one - other);
  return cuts.map((startMs, i) => ({
    fromMs: startMs,
    toMs: cuts[i + 1] ?? toMs,
    before: leastAt(before, startMs),
    after: leastAt(after, startMs),
  }));
};

/**
 * Returns what a replay would have cost. Where the same instances ran as were metered, it is what they were charged;
 * a part of an event, and time that was not metered, has the price of its seconds. More copies than the least ones ran
 * as they were metered.
 * @param awake when instances run, in order and without overlaps
 * @param least the minimum copies in the replay
 */
export const costOfReplay = (
  awake: readonly Period[],
  { events, least: before, instances: kind, instancesFor, prices }: Charges,
  least: LeastCopies,
): ReplayedCost => {
  const costs = ratedCosts(events);
  const intervals = events.filter(({ seconds }) => seconds > 0).sort((one, other) => one.started_at - other.started_at);
  let instanceSeconds = 0n;
  let costNanos = 0n;
  const add = (running: RunningInstances, { fromMs, toMs }: Period, charged?: bigint): void => {
    instanceSeconds += BigInt(secondsOf({ startMs: fromMs, endMs: toMs })) * BigInt(running.instances);
    costNanos += charged ?? costOf([running], prices, fromMs, toMs);
  };
  const addUnmetered = (period: Period): void => {
    for (const piece of piecesOf(period, before, least)) add({ ...kind, instances: instancesFor(piece.after) }, piece);
  };
  const addMetered = (event: GpuEvent, part: Period): void => {
    const pieces = least === before ? [] : piecesOf(part, before, least);
    const isWhole = part.fromMs === event.started_at && part.toMs === event.ended_at;
    const isLeast = ({ before: copies }: Piece): boolean => event.instances <= instancesFor(copies);
    const isSame = pieces.every((piece) => piece.before === piece.after || !isLeast(piece));
    if (isSame) add(event, part, isWhole ? costs.get(event.id) : undefined);
    else for (const piece of pieces) add({ ...event, instances: isLeast(piece) ? instancesFor(piece.after) : event.instances }, piece);
  };
  let first = 0;
  for (const period of awake) {
    let coveredMs = period.fromMs;
    while (first < intervals.length && (intervals[first] as GpuEvent).ended_at <= period.fromMs) first++;
    for (let i = first; i < intervals.length && (intervals[i] as GpuEvent).started_at < period.toMs; i++) {
      const event = intervals[i] as GpuEvent;
      const part = overlapOf(period, { fromMs: event.started_at, toMs: event.ended_at });
      if (part.toMs <= part.fromMs) continue;
      if (part.fromMs > coveredMs) addUnmetered({ fromMs: coveredMs, toMs: part.fromMs });
      addMetered(event, part);
      coveredMs = Math.max(coveredMs, part.toMs);
    }
    if (coveredMs < period.toMs) addUnmetered({ fromMs: coveredMs, toMs: period.toMs });
  }
  return { instanceSeconds, costNanos };
};
