import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createMeterPass } from '../../../../functions/deployments/gpu-time/gpu-time.ts';
import type { ScheduleWindow } from '../../../../shared/deployments/schedule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { sized } from '../../../support/sized.ts';
import { createWorld } from '../world.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const at = (iso: string): number => Date.parse(iso);
const BERLIN = 'Europe/Berlin';
const SCHEDULE: ScheduleWindow[] = [
  { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', time_zone: BERLIN, min_copies: 1 },
  // Clocks are put forward in it.
  { days: ['sun'], from: '01:30', to: '03:30', time_zone: BERLIN, min_copies: 2 },
  // Ends when a day in Berlin begins.
  { days: ['tue'], from: '20:00', to: '02:00', time_zone: 'America/New_York', min_copies: 1 },
];

// By hand, in UTC: Berlin is ahead by an hour until 28 March, 01:00, and by two hours from then on.
const AWAKE = [
  ['2027-03-26T07:00Z', '2027-03-26T17:00Z'],
  ['2027-03-28T00:30Z', '2027-03-28T01:30Z'],
  ['2027-03-29T06:00Z', '2027-03-29T16:00Z'],
  ['2027-03-30T06:00Z', '2027-03-30T16:00Z'],
  ['2027-03-31T00:00Z', '2027-03-31T16:00Z'],
  ['2027-04-01T06:00Z', '2027-04-01T16:00Z'],
].map(([opens = '', ends = '']) => ({ opensMs: at(opens), endsMs: at(ends) }));

const START = at('2027-03-25T22:00Z');
const END = at('2027-04-01T22:00Z');
const PRICE_CHANGE = at('2027-03-30T12:00:12.345Z');
const SECOND_NANOS = [392_000n, 420_000n] as const;
const PRICES = SECOND_NANOS.map((nanos, i) => ({
  version: `price_${i}`,
  effective_at: i * PRICE_CHANGE,
  hour_nanos: Number(nanos) * 3_600,
}));

// A start takes eight minutes and a little, and begins up to two minutes earlier; a release takes two minutes.
const MOST_EARLY_MS = 12 * MINUTE_MS;
const MOST_LATE_MS = 5 * MINUTE_MS;
// Passes of every minute from before a start begins until the window is open, and while a release takes place.
const NEAR = AWAKE.flatMap(({ opensMs, endsMs }) => [
  { fromMs: opensMs - MOST_EARLY_MS - 2 * MINUTE_MS, toMs: opensMs + 2 * MINUTE_MS },
  { fromMs: endsMs - 2 * MINUTE_MS, toMs: endsMs + MOST_LATE_MS + 2 * MINUTE_MS },
]);
// Otherwise a few passes a day, because nothing changes.
const QUIET_MS = sized(4 * HOUR_MS, HOUR_MS / 2);
const nextPass = (nowMs: number): number => {
  const [near] = NEAR.filter(({ toMs }) => nowMs < toMs);
  if (near && near.fromMs <= nowMs) return nowMs + MINUTE_MS;
  return Math.min(nowMs + QUIET_MS, near?.fromMs ?? END);
};

test('meters a week of windows with a change of the clocks to the second, and nothing outside of them', async () => {
  const times = { instance_ms: 8 * MINUTE_MS, release_ms: 2 * MINUTE_MS };
  const world = await createWorld(database, { scale_to_zero_after_seconds: 300, copies: { min: 1, max: 2 } }, { settings: { times } });
  const { plane, dependencies } = world;
  plane.advance(START - plane.now());
  const meterPass = createMeterPass({
    database: database.database,
    usageTable: database.tables.Usage as string,
    keysTable: database.tables.Keys as string,
    pricesOf: async () => PRICES,
  });
  const looks: { atMs: number; instances: number }[] = [];
  dependencies.meterPass = async (input) => {
    looks.push({ atMs: input.nowMs, instances: input.running.reduce((sum, { instances }) => sum + instances, 0) });
    return meterPass(input);
  };
  await world.pass();
  await world.run(HOUR_MS);
  expect(await world.read()).toMatchObject({ state: 'scaled_to_zero' });
  await world.change({ schedule: SCHEDULE });
  looks.length = 0;

  let lateMinutes = 0;
  while (plane.now() < END) {
    const stepMs = nextPass(plane.now()) - plane.now();
    if (stepMs > MINUTE_MS) {
      plane.advance(stepMs - MINUTE_MS);
      await world.pass();
    }
    const { state, progress } = await world.run(MINUTE_MS);
    const open = AWAKE.find(({ opensMs, endsMs }) => plane.now() >= opensMs && plane.now() < endsMs);
    const copies = open && new Date(open.opensMs).getUTCDay() === 0 ? 2 : 1;
    if (open && !(state === 'in_service' && progress.ready === copies)) lateMinutes++;
  }
  expect(lateMinutes).toBe(0);

  // Each second counts as the last look saw it.
  let seconds = 0n;
  let nanos = 0n;
  for (const [i, { atMs, instances }] of looks.entries()) {
    const nextMs = looks[i + 1]?.atMs ?? atMs;
    const isInWindow = AWAKE.some(({ opensMs, endsMs }) => atMs >= opensMs - MOST_EARLY_MS && atMs <= endsMs + MOST_LATE_MS);
    if (!isInWindow) expect([new Date(atMs).toISOString(), instances]).toEqual([expect.any(String), 0]);
    for (
      let ms = Math.floor(atMs / SECOND_MS) * SECOND_MS;
      instances > 0 && ms < Math.floor(nextMs / SECOND_MS) * SECOND_MS;
      ms += SECOND_MS
    ) {
      seconds += BigInt(instances);
      nanos += BigInt(instances) * SECOND_NANOS[ms >= PRICE_CHANGE ? 1 : 0];
    }
  }
  const store = createGpuEventStore(database.database, database.tables.Usage as string);
  const events = await Array.fromAsync(store.listByDeployment(world.id, '2027-03-26', '2027-04-02'));
  expect(events.reduce((sum, { seconds: each, instances }) => sum + BigInt(each) * BigInt(instances), 0n)).toBe(seconds);
  expect(events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n)).toBe(nanos);
  // The windows have 57 hours; one of them has two copies.
  const hours = AWAKE.reduce((sum, { opensMs, endsMs }) => sum + (endsMs - opensMs), 0) / HOUR_MS;
  expect(hours).toBe(57);
  expect(Number(seconds)).toBeGreaterThanOrEqual((hours + 1) * 3_600);
  expect(Number(seconds)).toBeLessThan((hours + 1) * 3_600 + (AWAKE.length + 1) * ((MOST_EARLY_MS + MOST_LATE_MS) / SECOND_MS));
  expect(END - START).toBe(7 * DAY_MS);
}, 240_000);
