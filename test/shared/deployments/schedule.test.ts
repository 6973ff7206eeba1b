import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ScheduleWindow, WEEKDAYS, windowsAt, windowTimes } from '../../../shared/deployments/schedule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { sized } from '../../support/sized.ts';

const at = (iso: string): number => Date.parse(iso);
const window = (fields: Partial<ScheduleWindow> = {}): ScheduleWindow => ({
  days: [...WEEKDAYS],
  from: '09:00',
  to: '17:00',
  time_zone: 'UTC',
  min_copies: 1,
  ...fields,
});
const timesOf = (schedule: ScheduleWindow[], from: string, to: string): string[] =>
  windowTimes(schedule, at(from), at(to)).map(({ startMs, endMs }) =>
    [startMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 16)).join(' '),
  );

describe('a window', () => {
  test('is open on its days in its own time zone, and ends on the next day if its end is not later', () => {
    expect(timesOf([window({ days: ['mon'], time_zone: 'Asia/Kathmandu' })], '2026-11-22T00:00Z', '2026-11-29T00:00Z')).toEqual([
      '2026-11-23T03:15 2026-11-23T11:15',
    ]);
    expect(timesOf([window({ days: ['fri'], from: '22:00', to: '06:00' })], '2026-11-28T05:59Z', '2026-11-28T05:59Z')).toEqual([
      '2026-11-27T22:00 2026-11-28T06:00',
    ]);
    expect(timesOf([window({ days: ['fri'], from: '22:00', to: '06:00' })], '2026-11-28T06:00Z', '2026-11-29T00:00Z')).toEqual([]);
    expect(timesOf([window({ days: ['sat'], from: '00:00', to: '24:00' })], '2026-11-28T00:00Z', '2026-11-28T12:00Z')).toEqual([
      '2026-11-28T00:00 2026-11-29T00:00',
    ]);
  });

  test('begins and ends at the first instant after a gap if clocks skip its time', () => {
    const berlin = { days: ['sun'] as ScheduleWindow['days'], time_zone: 'Europe/Berlin' };
    const day = ['2026-03-29T00:00Z', '2026-03-29T12:00Z'] as const;
    expect(timesOf([window({ ...berlin, from: '02:30', to: '05:00' })], ...day)).toEqual(['2026-03-29T01:00 2026-03-29T03:00']);
    expect(timesOf([window({ ...berlin, from: '01:00', to: '02:30' })], ...day)).toEqual(['2026-03-29T00:00 2026-03-29T01:00']);
    // Nothing of it is left.
    expect(timesOf([window({ ...berlin, from: '02:00', to: '03:00' })], ...day)).toEqual([]);
  });

  test('begins the first time and ends the last time that clocks show its time', () => {
    const berlin = { days: ['sun'] as ScheduleWindow['days'], time_zone: 'Europe/Berlin' };
    const day = ['2026-10-25T00:00Z', '2026-10-25T12:00Z'] as const;
    expect(timesOf([window({ ...berlin, from: '02:30', to: '04:00' })], ...day)).toEqual(['2026-10-25T00:30 2026-10-25T03:00']);
    expect(timesOf([window({ ...berlin, from: '01:00', to: '02:30' })], ...day)).toEqual(['2026-10-24T23:00 2026-10-25T01:30']);
  });

  test('has no time on a day that a zone left out at the date line, except what reaches into the next one', () => {
    const friday = window({ days: ['fri'], time_zone: 'Pacific/Apia' });
    expect(timesOf([friday], '2011-12-30T00:00Z', '2011-12-31T12:00Z')).toEqual([]);
    expect(timesOf([{ ...friday, from: '22:00', to: '06:00' }], '2011-12-30T00:00Z', '2011-12-31T12:00Z')).toEqual([
      '2011-12-30T10:00 2011-12-30T16:00',
    ]);
  });
});

test('says which window is open, with the most copies, and which opens next', () => {
  const schedule = [window({ days: ['mon', 'tue'] }), window({ days: ['mon'], from: '10:00', to: '11:00', min_copies: 3 })];
  expect(windowsAt(schedule, at('2026-11-23T10:30Z'))).toEqual({
    current: { startMs: at('2026-11-23T10:00Z'), endMs: at('2026-11-23T11:00Z'), minCopies: 3 },
    next: { startMs: at('2026-11-24T09:00Z'), endMs: at('2026-11-24T17:00Z'), minCopies: 1 },
  });
  expect(windowsAt(schedule, at('2026-11-24T17:00Z'))).toMatchObject({ current: null, next: { startMs: at('2026-11-30T09:00Z') } });
  expect(windowsAt([], at('2026-11-24T17:00Z'))).toEqual({ current: null, next: null });
});

test('finds the next window two weeks later if clocks skip the one in between', () => {
  const night = window({ days: ['sun'], from: '02:00', to: '03:00', time_zone: 'Europe/Berlin' });
  expect(windowsAt([night], at('2026-03-22T02:00Z'))).toMatchObject({ current: null, next: { startMs: at('2026-04-05T00:00Z') } });
});

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Antarctica/Troll',
];
// Two years; Samoa moves to the other side of the date line in the first ones.
const YEARS = [at('2011-01-01T00:00Z'), at('2026-01-01T00:00Z')];
const MINUTES = (2 * 365 * DAY_MS) / MINUTE_MS;

// The local time of each minute, as a sortable number: only this reads clocks, and it knows nothing of offsets.
const clocks = new Map<string, Float64Array>();
const clockOf = (zone: string, startMs: number): Float64Array => {
  const id = `${zone} ${startMs}`;
  const known = clocks.get(id);
  if (known) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const local = new Float64Array(MINUTES);
  const read = (minute: number): number => {
    const [date = '', time = ''] = format.format(startMs + minute * MINUTE_MS).split(' ');
    const [year = 0, month = 1, dayOfMonth = 1] = date.split('-').map(Number);
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    return (Date.UTC(year, month - 1, dayOfMonth) / DAY_MS) * 1_440 + hours * 60 + minutes;
  };
  // The minutes between two that are known. No zone changes its clocks twice in a day.
  const fill = (from: number, to: number): void => {
    const first = local[from] as number;
    if ((local[to] as number) - first === to - from) {
      for (let minute = from + 1; minute < to; minute++) local[minute] = first + minute - from;
      return;
    }
    if (to - from === 1) return;
    const middle = Math.floor((from + to) / 2);
    local[middle] = read(middle);
    fill(from, middle);
    fill(middle, to);
  };
  local[0] = read(0);
  for (let from = 0; from < MINUTES - 1; ) {
    const to = Math.min(from + 1_440, MINUTES - 1);
    local[to] = read(to);
    fill(from, to);
    from = to;
  }
  clocks.set(id, local);
  return local;
};

// For each minute: the most copies of the open windows. A window is open from the first minute whose clock shows its
// beginning or later, until after the last minute whose clock shows less than its end, and until the last one that
// shows its end.
const minuteByMinute = (schedule: readonly ScheduleWindow[], startMs: number): Uint8Array => {
  const open = new Uint8Array(MINUTES);
  for (const { days: names, from, to, time_zone, min_copies } of schedule) {
    const local = clockOf(time_zone, startMs);
    const [first = 0, last = 0] = [local[0], local.at(-1)];
    const clock = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    for (let day = Math.floor(first / 1_440) - 1; day <= Math.floor(last / 1_440); day++) {
      if (!names.includes(WEEKDAYS[(((day + 4) % 7) + 7) % 7] as ScheduleWindow['days'][number])) continue;
      const begins = day * 1_440 + clock(from);
      const ends = (clock(to) > clock(from) ? day : day + 1) * 1_440 + clock(to);
      if (ends <= first - 1_440 || begins > last + 1_440) continue;
      // Near the expected place: no clock differs from UTC by more than a day, nor is put back by more.
      const near = (wanted: number): number => Math.max(0, Math.min(MINUTES, wanted - startMs / MINUTE_MS - 2 * 1_440));
      let start = near(begins);
      while (start < MINUTES && (local[start] ?? 0) < begins) start++;
      let end = Math.max(0, Math.min(MINUTES, ends - startMs / MINUTE_MS + 2 * 1_440));
      while (end > 0 && (local[end - 1] ?? 0) >= ends) end--;
      const again = local.subarray(end, end + 1_440).lastIndexOf(ends);
      if (again > 0) end += again;
      for (let minute = start; minute < end; minute++) open[minute] = Math.max(open[minute] ?? 0, min_copies);
    }
  }
  return open;
};

const clockTime = fc
  .record({ hours: fc.integer({ min: 0, max: 23 }), minutes: fc.constantFrom(0, 15, 29, 30, 45, 59) })
  .map(({ hours, minutes }) => `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`);
const anyWindow = fc
  .record({
    days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }),
    from: fc.oneof(clockTime, fc.constantFrom('02:00', '02:30', '01:30', '00:00', '23:30')),
    to: fc.oneof(clockTime, fc.constantFrom('02:30', '03:00', '24:00', '01:45')),
    time_zone: fc.constantFrom(...ZONES),
    min_copies: fc.integer({ min: 1, max: 5 }),
  })
  .filter(({ from, to }) => from !== to);

test('equals a computation minute by minute over two years, in eleven zones', () => {
  let transitions = 0;
  const property = fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 4 }), fc.constantFrom(...YEARS), (schedule, startMs) => {
    const expected = minuteByMinute(schedule, startMs);
    const endMs = startMs + MINUTES * MINUTE_MS;
    const found = new Uint8Array(MINUTES);
    for (const each of windowTimes(schedule, startMs, endMs)) {
      const from = Math.max(0, (each.startMs - startMs) / MINUTE_MS);
      const to = Math.min(MINUTES, (each.endMs - startMs) / MINUTE_MS);
      for (let minute = from; minute < to; minute++) found[minute] = Math.max(found[minute] ?? 0, each.minCopies);
    }
    expect(Buffer.compare(found, expected)).toBe(0);
    for (let minute = 0; minute < MINUTES; minute++) if (expected[minute] !== expected[minute - 1]) transitions++;
  });
  fc.assert(property, { seed: 20_261_126, numRuns: sized(25, 600) });
  expect(transitions).toBeGreaterThan(10_000);
}, 120_000);

test('is the same from whatever moment one looks', () => {
  const property = fc.property(fc.array(anyWindow, { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 729 }), (schedule, day) => {
    const nowMs = (YEARS[1] as number) + day * DAY_MS + 7 * HOUR_MS;
    const whole = windowTimes(schedule, nowMs - 5 * DAY_MS, nowMs + 20 * DAY_MS);
    const { next } = windowsAt(schedule, nowMs);
    expect(windowTimes(schedule, nowMs, nowMs)).toEqual(whole.filter(({ startMs, endMs }) => startMs <= nowMs && endMs > nowMs));
    expect(next).toEqual(whole.find(({ startMs }) => startMs > nowMs));
  });
  fc.assert(property, { seed: 20_261_126, numRuns: sized(120, 3_000) });
});
