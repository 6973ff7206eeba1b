import { describe, expect, test } from '@jest/globals';
import { demandOf } from '../../../../../functions/control/deployments/advice/demand.ts';
import { type Cycle, cyclesOf, type Period } from '../../../../../functions/control/deployments/advice/history.ts';
import { type Basis, type ReplaySettings, replay as replayed } from '../../../../../functions/control/deployments/advice/replay.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../../shared/usage/gpu-event.ts';

const minutes = (from: number, to: number): Period => ({ fromMs: from * MINUTE_MS, toMs: to * MINUTE_MS });
const cycle = (from: number, ready: number, asleep: number | undefined, to: number): Cycle => ({
  ...minutes(from, to),
  readyMs: ready * MINUTE_MS,
  ...(asleep !== undefined && { asleepMs: asleep * MINUTE_MS }),
});
const eventOf = (from: number, to: number, phase: GpuEvent['phase'], generation = 1) =>
  ({ started_at: from * MINUTE_MS, ended_at: to * MINUTE_MS, phase, generation, seconds: (to - from) * 60 }) as GpuEvent;

const basisOf = (busy: readonly Period[], cycles: readonly Cycle[], fields: Partial<Basis> = {}): Basis => ({
  range: minutes(0, 600),
  cycles,
  demand: demandOf(busy, cycles, fields.windows ?? []),
  idleMs: 30 * MINUTE_MS,
  windows: [],
  startMs: 8 * MINUTE_MS,
  requestsPerSecond: () => 0.5,
  ...fields,
});

describe('the cycles of a deployment', () => {
  test('last from a start until its instances are released, whatever the order of the events', () => {
    const events = [eventOf(0, 8, 'starting'), eventOf(8, 23, 'serving'), eventOf(23, 30, 'serving'), eventOf(30, 42, 'draining')];
    expect(cyclesOf(events.toReversed())).toEqual([cycle(0, 8, 30, 42)]);
  });

  test('are two if it is woken before its instances are released', () => {
    const events = [eventOf(8, 30, 'serving'), eventOf(30, 35, 'draining'), eventOf(35, 40, 'starting'), eventOf(40, 50, 'serving')];
    expect(cyclesOf(events)).toEqual([cycle(8, 8, 30, 35), cycle(35, 40, undefined, 50)]);
  });

  test('have reached the phase of the generation that is furthest', () => {
    const events = [eventOf(0, 30, 'serving'), eventOf(10, 20, 'starting', 2), eventOf(20, 60, 'serving', 2), eventOf(30, 35, 'draining')];
    expect(cyclesOf(events)).toEqual([cycle(0, 0, undefined, 60)]);
  });

  test('without a copy that was ever ready have no time in service, and end as if they were stopped', () => {
    expect(cyclesOf([eventOf(0, 9, 'starting'), eventOf(9, 12, 'draining')])).toEqual([cycle(0, 12, undefined, 12)]);
    const again = [eventOf(0, 9, 'starting'), eventOf(9, 12, 'draining'), eventOf(12, 20, 'starting', 2), eventOf(20, 30, 'serving', 2)];
    expect(cyclesOf(again)).toEqual([cycle(0, 12, undefined, 12), cycle(12, 20, undefined, 30)]);
  });
});

describe('the demand', () => {
  test('is without the wait for a start', () => {
    expect(demandOf([minutes(1, 12), minutes(20, 21)], [cycle(2, 10, 60, 72)], [])).toEqual([
      { atMs: MINUTE_MS, serviceMs: 2 * MINUTE_MS },
      { atMs: 20 * MINUTE_MS, serviceMs: MINUTE_MS },
    ]);
  });

  test('includes callers who were told to come back, and leaves out what nothing answered', () => {
    expect(demandOf([minutes(1, 2)], [cycle(100, 108, 140, 152)], [])).toEqual([{ atMs: 100 * MINUTE_MS, serviceMs: 0 }]);
  });

  test('is without starts for windows, also if their prediction has changed by some minutes since', () => {
    for (const from of [91, 99, 109]) expect(demandOf([], [cycle(100, 108, 140, 152)], [minutes(from, 130)])).toEqual([]);
    expect(demandOf([], [cycle(100, 108, 140, 152)], [minutes(89, 130)])).toHaveLength(1);
  });
});

const replay = (basis: Basis, settings: Partial<ReplaySettings>) => replayed(basis, { windows: basis.windows, ...settings });

describe('a replay', () => {
  const once = [cycle(2, 10, 42, 54)];

  test('counts the requests that wait: the first from its arrival, the others while their demand lasts', () => {
    const { waits, coldStarts } = replay(basisOf([minutes(1, 12)], once), { idleMs: 30 * MINUTE_MS });
    expect(coldStarts).toBe(1);
    expect(waits[0]).toEqual({ ms: 9 * MINUTE_MS, requests: 1 });
    expect(waits.slice(1)).toHaveLength(119);
    expect(waits.at(-1)).toEqual({ ms: 9 * MINUTE_MS - 119_000, requests: 0.5 });
  });

  test('ends where the owner stopped the deployment', () => {
    expect(replay(basisOf([minutes(1, 12)], [cycle(2, 10, undefined, 20)]), {}).awake).toEqual([minutes(2, 20)]);
  });

  test('keeps the instances of a deployment that is woken before they are released', () => {
    const cycles = [cycle(2, 10, 42, 54), cycle(70, 78, 110, 122)];
    const { awake } = replay(basisOf([minutes(1, 12), minutes(69, 80)], cycles), { idleMs: 50 * MINUTE_MS });
    // It would sleep at 62 and have its instances until 74; the next request comes at 69.
    expect(awake).toEqual([{ fromMs: 2 * MINUTE_MS, toMs: expect.any(Number) }]);
  });

  test('starts for a window although nobody calls, and sleeps at its end unless somebody just did', () => {
    const { awake, coldStarts } = replay(basisOf([], [], { windows: [minutes(60, 120)] }), { idleMs: 10 * MINUTE_MS });
    expect(coldStarts).toBe(0);
    // A minute until the instances run; it sleeps two after the end, and its instances are released after twelve.
    expect(awake).toEqual([minutes(61, 120 + 2 + 12)]);
    const called = replay(
      basisOf([minutes(115, 116)], [cycle(61, 70, 128, 140)], { windows: [minutes(60, 120)], idleMs: 10 * MINUTE_MS }),
      {
        idleMs: 10 * MINUTE_MS,
      },
    );
    expect(called.awake).toEqual([minutes(61, 116 + 10 + 2 + 12)]);
  });

  test('begins awake if it was, and ends with the range', () => {
    const cycles = [cycle(-300, -292, undefined, 600)];
    const { awake, waits } = replay(basisOf([minutes(-290, -289), minutes(500, 501)], cycles), {});
    expect([awake, waits]).toEqual([[minutes(0, 600)], []]);
    const idle = replay(basisOf([minutes(-290, -289), minutes(500, 501)], cycles), { idleMs: HOUR_MS });
    expect(idle.coldStarts).toBe(1);
    expect(idle.awake[0]?.fromMs).toBeGreaterThanOrEqual(500 * MINUTE_MS);
  });
});
