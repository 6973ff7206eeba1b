import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { demandOf } from '../../../../../functions/control/deployments/advice/demand.ts';
import { cyclesOf, type Period } from '../../../../../functions/control/deployments/advice/history.ts';
import { type Basis, replay } from '../../../../../functions/control/deployments/advice/replay.ts';
import { costOfReplay } from '../../../../../functions/control/deployments/advice/replayed-cost.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../../shared/usage/gpu-event.ts';
import { PRICES, START, small } from '../../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';
import { type Life, type Request, simulateLife } from '../../../../support/fixtures/gpu-time/simulated-life.ts';
import { sized } from '../../../../support/sized.ts';

const RANGE: Period = { fromMs: START, toMs: START + 30 * HOUR_MS };

const secondsOf = (events: readonly GpuEvent[]): bigint =>
  events.reduce((sum, { seconds, instances }) => sum + BigInt(seconds) * BigInt(instances), 0n);
const costOf = (events: readonly GpuEvent[]): bigint => events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);

const basisOf = ({ events, busy }: Life, idleMs: number, windows: readonly Period[] = []): Basis => {
  const cycles = cyclesOf(events);
  return {
    range: RANGE,
    cycles,
    demand: demandOf(busy, cycles, windows),
    windows,
    idleMs,
    startMs: 8 * MINUTE_MS,
    requestsPerSecond: () => 0.1,
  };
};

const LEAST = { copies: { min: 1, max: 1 }, windows: [] };
const chargesOf = ({ events }: Life) => ({
  events,
  least: LEAST,
  instances: small(1),
  instancesFor: (copies: number) => copies,
  prices: PRICES,
});

// Requests that came about when the deployment was about to sleep: a poll decides if it did.
const closeCalls = ({ busy }: Life, idleMs: number): number =>
  busy.filter(({ fromMs }, i) => {
    const gapMs = fromMs - (busy[i - 1]?.toMs ?? Number.NEGATIVE_INFINITY);
    return gapMs >= idleMs && gapMs <= idleMs + 4 * MINUTE_MS;
  }).length;
// Requests that came about when a window ended or began, or when its deployment was about to sleep after it.
const closeWindows = ({ busy }: Life, windows: readonly Period[], idleMs: number): number =>
  busy.filter(({ fromMs, toMs }) =>
    windows.some((window) =>
      [window.fromMs, window.toMs].some(
        (edgeMs) => Math.abs(fromMs - edgeMs) <= 4 * MINUTE_MS || Math.abs(toMs + idleMs - edgeMs) <= 4 * MINUTE_MS,
      ),
    ),
  ).length;
// If requests follow one that waits for a start without a pause, only the arrival of the first is known.
const mergedArrivals = ({ busy }: Life, requests: readonly Request[]): number =>
  busy.filter(({ fromMs, toMs }) => requests.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length > 1).length;
const LONGEST_START_SECONDS = 9 * 60;
// A start and a release.
const LONGEST_CYCLE_SECONDS = 20 * 60;

const anyRequests = fc
  .array(fc.record({ afterMs: fc.integer({ min: 1, max: 100 * MINUTE_MS }), serviceMs: fc.integer({ min: 100, max: 4 * MINUTE_MS }) }), {
    minLength: 0,
    maxLength: 60,
  })
  .map((gaps) => {
    let atMs = RANGE.fromMs + MINUTE_MS;
    return gaps.flatMap(({ afterMs, serviceMs }): Request[] => {
      atMs += afterMs;
      return atMs < RANGE.toMs - 20 * MINUTE_MS ? [{ atMs, serviceMs }] : [];
    });
  });
const anyIdleMs = fc.integer({ min: 1, max: 90 }).map((minutes) => minutes * MINUTE_MS);
// Apart, each in hours of its own.
const anyWindows = fc
  .uniqueArray(fc.record({ slot: fc.integer({ min: 0, max: 6 }), minutes: fc.integer({ min: 1, max: 210 }) }), {
    maxLength: 4,
    selector: ({ slot }) => slot,
  })
  .map((all) =>
    all
      .map(
        ({ slot, minutes }): Period => ({
          fromMs: RANGE.fromMs + (4 * slot + 1) * HOUR_MS,
          toMs: RANGE.fromMs + (4 * slot + 1) * HOUR_MS + minutes * MINUTE_MS,
        }),
      )
      .sort((one, other) => one.fromMs - other.fromMs),
  );
const anySeed = fc.integer({ min: 1, max: 1_000_000 });
const RUNS = sized(40, 1_000);

const requestAt = (ms: number, serviceMs = 100): Request => ({ atMs: RANGE.fromMs + ms, serviceMs });
const windowAt = (fromMs: number, toMs: number): Period => ({ fromMs: RANGE.fromMs + fromMs, toMs: RANGE.fromMs + toMs });
// A window begins just before the sleep that was due; a request comes just after a short window.
const CLOSE_WINDOWS: [Request[], number, Period[], number][] = [
  [
    [requestAt(5_348_049), requestAt(10_471_565), requestAt(14_314_001), requestAt(15_421_033, 93_968)],
    39 * MINUTE_MS,
    [windowAt(HOUR_MS, 174 * MINUTE_MS), windowAt(5 * HOUR_MS, 301 * MINUTE_MS)],
    184_036,
  ],
  [[requestAt(113_001, 168_001), requestAt(3_661_000)], 45 * MINUTE_MS, [windowAt(HOUR_MS, 61 * MINUTE_MS)], 643_379],
];

describe('a replay', () => {
  test('equals what was metered with the same settings, to the second and the nano-dollar', () => {
    fc.assert(
      fc.property(anyRequests, anyIdleMs, anySeed, (requests, idleMs, seed) => {
        const life = simulateLife(requests, { range: RANGE, idleMs, seed });
        const { awake, coldStarts } = replay(basisOf(life, idleMs), { idleMs, windows: [] });
        expect(costOfReplay(awake, chargesOf(life), LEAST)).toEqual({
          instanceSeconds: secondsOf(life.events),
          costNanos: costOf(life.events),
        });
        expect(coldStarts).toBe(life.coldStarts);
      }),
      { numRuns: RUNS },
    );
  });

  test('equals what was metered with windows, too', () => {
    fc.assert(
      fc.property(anyRequests, anyIdleMs, anyWindows, anySeed, (requests, idleMs, windows, seed) => {
        const life = simulateLife(requests, { range: RANGE, idleMs, windows, seed });
        const { awake } = replay(basisOf(life, idleMs, windows), { idleMs, windows });
        expect(costOfReplay(awake, chargesOf(life), LEAST)).toEqual({
          instanceSeconds: secondsOf(life.events),
          costNanos: costOf(life.events),
        });
      }),
      { numRuns: RUNS, examples: CLOSE_WINDOWS },
    );
  });

  test('predicts what the deployment does with other windows, except for the time between two polls', () => {
    fc.assert(
      fc.property(anyRequests, anyIdleMs, anyWindows, anySeed, (requests, idleMs, windows, seed) => {
        const life = simulateLife(requests, { range: RANGE, idleMs, seed });
        const other = simulateLife(requests, { range: RANGE, idleMs, windows, seed: seed + 1 });
        const { awake } = replay(basisOf(life, idleMs), { idleMs, windows });
        const replayed = costOfReplay(awake, chargesOf(life), LEAST).instanceSeconds;
        const cycles = Math.max(awake.length, cyclesOf(other.events).length, cyclesOf(life.events).length);
        const close = closeCalls(life, idleMs) + closeCalls(other, idleMs) + closeWindows(other, windows, idleMs);
        // A pass begins a start, and others see its instances, that it serves, that it is idle, and the release.
        const bound = cycles * 5 * 61 + close * LONGEST_CYCLE_SECONDS + mergedArrivals(life, requests) * LONGEST_START_SECONDS;
        expect(Math.abs(Number(replayed - secondsOf(other.events)))).toBeLessThanOrEqual(bound);
      }),
      { numRuns: RUNS },
    );
  });

  test('predicts what the deployment does with another idle time, except for the time between two polls', () => {
    fc.assert(
      fc.property(anyRequests, anyIdleMs, anyIdleMs, anySeed, (requests, idleMs, otherMs, seed) => {
        const life = simulateLife(requests, { range: RANGE, idleMs, seed });
        const other = simulateLife(requests, { range: RANGE, idleMs: otherMs, seed: seed + 1 });
        const { awake } = replay(basisOf(life, idleMs), { idleMs: otherMs, windows: [] });
        const replayed = costOfReplay(awake, chargesOf(life), LEAST).instanceSeconds;
        // A poll at the start, one at the end, and one for the release of each cycle of either.
        const cycles = Math.max(awake.length, cyclesOf(other.events).length, cyclesOf(life.events).length);
        const bound =
          cycles * 3 * 61 + closeCalls(other, otherMs) * LONGEST_CYCLE_SECONDS + mergedArrivals(life, requests) * LONGEST_START_SECONDS;
        expect(Math.abs(Number(replayed - secondsOf(other.events)))).toBeLessThanOrEqual(bound);
      }),
      { numRuns: RUNS },
    );
  });
});
