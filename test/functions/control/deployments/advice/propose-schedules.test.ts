import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Demand } from '../../../../../functions/control/deployments/advice/demand.ts';
import { proposeSchedules } from '../../../../../functions/control/deployments/advice/propose-schedules.ts';
import { windowTimes } from '../../../../../shared/deployments/schedule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../shared/time/units.ts';

const WEEK_MS = 7 * DAY_MS;
// A Monday. Clocks in Berlin are put forward on the Sunday after.
const FROM = Date.UTC(2027, 2, 22);
const RANGE = { fromMs: FROM, toMs: FROM + 2 * WEEK_MS };

const callAt = (iso: string, minutes = 1): Demand => ({ atMs: Date.parse(iso), serviceMs: minutes * MINUTE_MS });

test('windows are the hours of the week in which calls came, on the clocks of their zone', () => {
  const berlin = [22, 23, 29, 30].flatMap((day) => [
    // Nine and eleven o'clock there, before and after the change.
    callAt(`2027-03-${day}T0${day < 28 ? 8 : 7}:10Z`),
    callAt(`2027-03-${day}T${day < 28 ? '10' : '09'}:20Z`, 30),
  ]);
  const window = { days: ['mon', 'tue'], from: '09:00', to: '12:00', time_zone: 'Europe/Berlin', min_copies: 1 };
  expect(proposeSchedules(berlin, RANGE, 'Europe/Berlin')).toEqual([[window]]);
});

test('hours in which calls came in some weeks only are in one schedule, and those of most weeks in another', () => {
  const calls = [callAt('2027-03-24T10:00Z'), callAt('2027-03-31T10:00Z'), callAt('2027-03-31T23:30Z', 45)];
  const [often, always] = proposeSchedules(calls, RANGE, 'UTC');
  const ten = { days: ['wed'], from: '10:00', to: '11:00', time_zone: 'UTC', min_copies: 1 };
  expect(often).toEqual([ten, { ...ten, from: '23:00', to: '24:00' }, { ...ten, days: ['thu'], from: '00:00', to: '01:00' }]);
  expect(always).toEqual([ten]);
});

test('nothing is proposed without calls, or for calls that come in too many different hours', () => {
  expect(proposeSchedules([], RANGE, 'UTC')).toEqual([]);
  const scattered = Array.from(
    { length: 16 },
    (_, i): Demand => ({ atMs: FROM + Math.floor(i / 3) * DAY_MS + ((i % 3) * 4 + i) * HOUR_MS, serviceMs: 0 }),
  );
  expect(proposeSchedules(scattered, RANGE, 'UTC')).toEqual([]);
});

test('calls of a fortnight are all in windows of the first schedule, in any zone, and windows near them', () => {
  const call = fc.record({ hour: fc.integer({ min: 0, max: 14 * 24 - 1 }), minute: fc.integer({ min: 0, max: 59 }) });
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns');
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 12 }), zones, (calls, zone) => {
      const demand = calls.map(({ hour, minute }): Demand => ({ atMs: FROM + hour * HOUR_MS + minute * MINUTE_MS, serviceMs: 0 }));
      const [schedule] = proposeSchedules(demand, RANGE, zone);
      if (!schedule) return;
      const times = windowTimes(schedule, RANGE.fromMs, RANGE.toMs);
      for (const { atMs } of demand) expect(times.some(({ startMs, endMs }) => startMs <= atMs && atMs < endMs)).toBe(true);
      // A call, in its hour and the one after it, is in the window of each week.
      for (const { startMs, endMs } of times) {
        const isNear = ({ atMs }: Demand): boolean =>
          [-2, -1, 0, 1, 2].some((week) => atMs + week * WEEK_MS >= startMs - 2 * HOUR_MS && atMs + week * WEEK_MS < endMs + 2 * HOUR_MS);
        expect(demand.some(isNear)).toBe(true);
        expect((endMs - startMs) / HOUR_MS).toBeLessThanOrEqual(2 * calls.length + 1);
      }
    }),
    { numRuns: 200 },
  );
});
