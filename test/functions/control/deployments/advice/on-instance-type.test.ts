import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AdviceBasis, windowsOf } from '../../../../../functions/control/deployments/advice/advice-basis.ts';
import { demandOf } from '../../../../../functions/control/deployments/advice/demand.ts';
import { cyclesOf, type Period } from '../../../../../functions/control/deployments/advice/history.ts';
import { basisOn, comparisonOf } from '../../../../../functions/control/deployments/advice/on-instance-type.ts';
import { optionOf } from '../../../../../functions/control/deployments/advice/options.ts';
import type { BenchmarkCurve, BenchmarkPoint } from '../../../../../shared/deployments/benchmark.ts';
import { instancesFor } from '../../../../../shared/deployments/instances.ts';
import type { ScheduleWindow } from '../../../../../shared/deployments/schedule.ts';
import { windowLeadMs } from '../../../../../shared/deployments/start-times.ts';
import { wholeSecond } from '../../../../../shared/gpu-time/intervals.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import { benchmarkCurve, benchmarkPoint } from '../../../../support/fixtures/gpu-time/benchmark-curve.ts';
import { LARGE, PRICES, SMALL, START } from '../../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';
import { type Request, simulateLife } from '../../../../support/fixtures/gpu-time/simulated-life.ts';
import { sized } from '../../../../support/sized.ts';

const RANGE: Period = { fromMs: START, toMs: START + 30 * HOUR_MS };
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const pricesOf = (type: string) => PRICES.get(type) ?? [];

const curveOf = (result: number | null, points: BenchmarkPoint[], instance_type = SMALL): BenchmarkCurve =>
  benchmarkCurve({ result, points, instance_type });

interface Fleet {
  idleMs: number;
  schedule: ScheduleWindow[];
  seed: number;
  min: number;
  perInstance: number;
  /** The median time of a start, in seconds. */
  p50: number;
}

// A deployment that was simulated with one instance, on as many as its copies need.
const basisOf = (requests: readonly Request[], { idleMs, schedule, seed, min, perInstance, p50 }: Fleet): AdviceBasis => {
  const start = { p50, p90: p50 * 2 };
  const windows = windowsOf(schedule, RANGE, wholeSecond(windowLeadMs(start)));
  const life = simulateLife(requests, { range: RANGE, idleMs, windows, seed });
  const instances = instancesFor(min, perInstance);
  const events = life.events.map((event) => ({ ...event, instances, cost_nanos: event.cost_nanos * BigInt(instances) }));
  const cycles = cyclesOf(events);
  const copies = { min, max: min + 3 };
  const present = { idleSeconds: idleMs / SECOND_MS, schedule, minCopies: min };
  const least = { copies, windows };
  return {
    basis: {
      range: RANGE,
      cycles,
      demand: demandOf(life.busy, cycles, windows),
      windows,
      idleMs,
      startMs: p50 * SECOND_MS,
      requestsPerSecond: () => 0.1,
    },
    charges: {
      events,
      prices: PRICES,
      least,
      instances: { generation: 1, instance_type: SMALL, phase: 'serving' },
      instancesFor: (count) => instancesFor(count, perInstance),
    },
    leastCopiesOf: (settings) =>
      settings === present
        ? least
        : {
            copies: { ...copies, min: settings.minCopies },
            windows: windowsOf(settings.schedule, RANGE, wholeSecond(windowLeadMs(start))),
          },
    present,
    inFlight: 1,
    requests: requests.length,
    events,
    start,
    perInstance,
  };
};

const anyRequests = fc
  .array(fc.record({ afterMs: fc.integer({ min: 1, max: 100 * MINUTE_MS }), serviceMs: fc.integer({ min: 100, max: 4 * MINUTE_MS }) }), {
    maxLength: 40,
  })
  .map((gaps) => {
    let atMs = RANGE.fromMs + MINUTE_MS;
    return gaps.flatMap(({ afterMs, serviceMs }): Request[] => {
      atMs += afterMs;
      return atMs < RANGE.toMs - 20 * MINUTE_MS ? [{ atMs, serviceMs }] : [];
    });
  });
const anyFleet = fc.record({
  idleMs: fc.integer({ min: 1, max: 90 }).map((minutes) => minutes * MINUTE_MS),
  schedule: fc.integer({ min: 0, max: 21 }).map((hour): ScheduleWindow[] =>
    hour === 0
      ? []
      : [
          {
            days: [...DAYS],
            from: `${String(hour).padStart(2, '0')}:00`,
            to: `${hour + 2}:30`.padStart(5, '0'),
            time_zone: 'UTC',
            min_copies: 3,
          },
        ],
  ),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  min: fc.integer({ min: 1, max: 4 }),
  perInstance: fc.integer({ min: 1, max: 2 }),
  p50: fc.integer({ min: 60, max: 900 }),
});
const anyCurve = fc.uniqueArray(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 6 }).map((levels) =>
  curveOf(
    Math.max(...levels),
    levels.map((level) => benchmarkPoint(level, { tokens_per_second: 50 * level + 50 })),
  ),
);
const RUNS = sized(15, 500);

describe('the replay on an instance type', () => {
  test('is that of the present if it is the type that ran, with its own curve', () => {
    fc.assert(
      fc.property(anyRequests, anyFleet, anyCurve, fc.integer({ min: 1, max: 120 }), (requests, fleet, curve, minutes) => {
        const read = basisOf(requests, fleet);
        const comparison = comparisonOf(curve, curve, 1);
        if (!comparison) throw new Error('The curve has a result.');
        const { perInstance, start } = read;
        const on = basisOn(read, { id: SMALL, perInstance, prices: pricesOf(SMALL), start }, comparison);
        expect(on.present).toEqual(read.present);
        expect(on.inFlight).toBe(read.inFlight);
        for (const idleSeconds of [fleet.idleMs / SECOND_MS, minutes * 60, null])
          expect(optionOf(on, { ...on.present, idleSeconds })).toEqual(
            optionOf(read, idleSeconds === read.present.idleSeconds ? read.present : { ...read.present, idleSeconds }),
          );
      }),
      { numRuns: RUNS },
    );
  });

  test('is what a slower type would have done: longer requests, more copies, at its price', () => {
    const idleMs = 10 * MINUTE_MS;
    const requests = Array.from({ length: 20 }, (_, i) => ({ atMs: RANGE.fromMs + (5 + i * 70) * MINUTE_MS, serviceMs: 20_000 }));
    const read = basisOf(requests, { idleMs, schedule: [], seed: 3, min: 1, perInstance: 1, p50: 480 });
    // A request takes 10 s and 310 s, and a copy serves 8 and 4 at once.
    const [fast, slow] = [310, 10].map((tokens_per_second) => benchmarkPoint(1, { completion_tokens: 31_000, tokens_per_second }));
    const own = curveOf(8, [fast as BenchmarkPoint, benchmarkPoint(8)]);
    const comparison = comparisonOf(own, curveOf(4, [slow as BenchmarkPoint, benchmarkPoint(4)], LARGE), 1);
    expect(comparison).toEqual({ before: 8, after: 4, beforeMs: 10_000, afterMs: 310_000 });
    if (!comparison) return;
    const on = basisOn(read, { id: LARGE, perInstance: 1, prices: pricesOf(LARGE), start: read.start }, comparison);
    expect([on.present.minCopies, on.inFlight]).toEqual([2, 31]);
    const { instanceSeconds, costNanos, coldStarts } = optionOf(on, on.present);
    // $5.76 an hour are 1,600,000 nano-dollars a second.
    expect(costNanos).toBe(instanceSeconds * 1_600_000n);
    const other = simulateLife(
      requests.map(({ atMs, serviceMs }) => ({ atMs, serviceMs: serviceMs + 300_000 })),
      { range: RANGE, idleMs, seed: 4 },
    );
    const simulated = 2 * other.events.reduce((sum, { seconds, instances }) => sum + seconds * instances, 0);
    expect(coldStarts).toBe(other.coldStarts);
    // At each start, each sleep and each release, a pass can be a minute earlier or later.
    expect(Math.abs(Number(instanceSeconds) - simulated)).toBeLessThanOrEqual(2 * other.coldStarts * 3 * 61);
  });

  test('takes the times that were measured with about as many requests at once', () => {
    // In 1.1 s, 1.4 s and 3 s, on two copies.
    const tokens = { completion_tokens: 23_100, copies: 2 };
    const levels = [
      benchmarkPoint(1, { ...tokens, tokens_per_second: 4_200 }),
      benchmarkPoint(4, { ...tokens, tokens_per_second: 13_200 }),
      benchmarkPoint(16, { ...tokens, tokens_per_second: 24_640 }),
    ];
    const curve = curveOf(16, levels);
    const timesAt = (inFlight: number) => comparisonOf(curve, curve, inFlight)?.afterMs;
    expect([timesAt(1), timesAt(2.5), timesAt(3), timesAt(100)]).toEqual([1_100, 1_100, 1_400, 3_000]);
  });

  test.each([
    ['no result', curveOf(null, [benchmarkPoint(1)])],
    ['no request that counts', curveOf(1, [benchmarkPoint(1, { requests: 0, completion_tokens: 0 })])],
  ])('is not known from a curve with %s', (_, curve) => {
    const own = curveOf(1, [benchmarkPoint(1)]);
    expect(comparisonOf(own, curve, 1)).toBeUndefined();
    expect(comparisonOf(curve, own, 1)).toBeUndefined();
  });
});
