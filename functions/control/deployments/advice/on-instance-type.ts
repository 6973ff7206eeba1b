import { type BenchmarkCurve, type BenchmarkPoint, meanRequestMs } from '../../../../shared/deployments/benchmark.ts';
import { instancesFor } from '../../../../shared/deployments/instances.ts';
import { type StartTime, windowLeadMs } from '../../../../shared/deployments/start-times.ts';
import { costOf, wholeSecond } from '../../../../shared/gpu-time/intervals.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { type AdviceBasis, windowsOf } from './advice-basis.ts';
import type { Settings } from './candidates.ts';
import type { LeastCopies } from './replayed-cost.ts';

/** How a model does on an instance type, in comparison with another one. */
export interface Comparison {
  /** The most requests at the same time on a copy that meet the goals, on the type that ran and on the other one. */
  before: number;
  after: number;
  /** The mean duration of a request on both, in ms, with as many at the same time as there were. */
  beforeMs: number;
  afterMs: number;
}

const durationAt = ({ points }: BenchmarkCurve, concurrency: number): number => {
  const sorted = points.toSorted((one, other) => one.concurrency_per_copy - other.concurrency_per_copy);
  const distanceOf = (point: BenchmarkPoint): number => Math.abs(point.concurrency_per_copy - concurrency);
  const nearest = sorted.reduce<BenchmarkPoint | undefined>(
    (best, point) => (best && distanceOf(best) <= distanceOf(point) ? best : point),
    undefined,
  );
  return nearest ? meanRequestMs(nearest) : 0;
};

/**
 * Compares two curves of the same model; undefined if one of them has no result.
 * @param own of the instance type that ran
 * @param inFlight requests at the same time on a copy, on average
 */
export const comparisonOf = (own: BenchmarkCurve, other: BenchmarkCurve, inFlight: number): Comparison | undefined => {
  const [beforeMs, afterMs] = [durationAt(own, inFlight), durationAt(other, inFlight)];
  if (own.result === null || other.result === null || beforeMs === 0 || afterMs === 0) return undefined;
  return { before: own.result, after: other.result, beforeMs, afterMs };
};

/** An instance type that did not run. */
export interface OtherType {
  id: string;
  /** Copies that fit on an instance. */
  perInstance: number;
  prices: readonly InstancePrice[];
  start: StartTime;
}

// A rating of an event has its id before the `#` of its own, and its instances were not those of the other type.
const isRating = ({ id }: GpuEvent): boolean => id.includes('#');

/**
 * Returns a deployment's last days as they would have been on another instance type. Copies become as many as take the
 * same requests within the goals; requests and starts take as much longer as was measured. With the type that ran and
 * its own curve, replays stay the same.
 */
export const basisOn = (
  { basis, charges, leastCopiesOf, present, inFlight, start, perInstance, ...rest }: AdviceBasis,
  { id, ...type }: OtherType,
  { before, after, beforeMs, afterMs }: Comparison,
): AdviceBasis => {
  const copiesFor = (copies: number): number => Math.ceil((copies * before) / after);
  const prices = new Map([...charges.prices, [id, type.prices]]);
  const leadMs = wholeSecond(windowLeadMs(type.start));
  const { copies } = charges.least;

  // Where copies share instances, the last instance need not be full.
  const copiesOn = (instances: number): number => {
    const most = instances * perInstance;
    return instancesFor(copies.max, perInstance) === instances ? Math.min(most, copies.max) : most;
  };
  const convert = (event: GpuEvent): GpuEvent[] => {
    if (event.instance_type === id) return [event];
    if (isRating(event)) return [];
    const instances = instancesFor(copiesFor(copiesOn(event.instances)), type.perInstance);
    const moved = { ...event, instance_type: id, instances };
    return [{ ...moved, cost_nanos: costOf([moved], prices, event.started_at, event.ended_at) }];
  };
  const scaled = (least: LeastCopies): LeastCopies => ({
    copies: { min: copiesFor(least.copies.min), max: copiesFor(least.copies.max) },
    windows: least.windows.map((window) => ({ ...window, copies: copiesFor(window.copies) })),
  });
  const settings: Settings = {
    ...present,
    schedule: present.schedule.map((window) => ({ ...window, min_copies: copiesFor(window.min_copies) })),
    minCopies: copiesFor(present.minCopies),
  };
  return {
    ...rest,
    basis,
    charges: {
      ...charges,
      events: charges.events.flatMap(convert),
      prices,
      least: scaled(charges.least),
      instances: { ...charges.instances, instance_type: id },
      instancesFor: (count) => instancesFor(count, type.perInstance),
    },
    leastCopiesOf: ({ schedule, minCopies }) => ({
      copies: { min: minCopies, max: copiesFor(copies.max) },
      windows: windowsOf(schedule, basis.range, leadMs),
    }),
    present: settings,
    inFlight: inFlight === null ? null : (inFlight * afterMs) / beforeMs,
    start: type.start,
    perInstance: type.perInstance,
    speed: {
      serviceMs: Math.ceil((afterMs - beforeMs) / SECOND_MS) * SECOND_MS,
      startScale: type.start.p50 / start.p50,
    },
  };
};
