import { expect, test } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { instantsOf, isTimeZone, localMsAt, offsetMsAt } from '../../../shared/time/zoned-time.ts';

const at = (iso: string): number => Date.parse(iso);
const instants = (zone: string, local: string): string[] => {
  const { firstMs, lastMs } = instantsOf(zone, at(`${local}Z`));
  return [firstMs, lastMs].map((ms) => new Date(ms).toISOString());
};

test('knows IANA’s names of time zones, and nothing else', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    expect([name, isTimeZone(name)]).toEqual([name, true]);
  for (const name of ['', '+05:30', 'Berlin', 'Mars/Olympus', 'Europe/Berlin ', 'Europe/Berlin\n', 'x'.repeat(100)])
    expect([name, isTimeZone(name)]).toEqual([name, false]);
});

test.each([
  ['UTC', '2026-07-01T12:00:00Z', 0],
  ['Europe/Berlin', '2026-01-01T12:00:00Z', HOUR_MS],
  ['Europe/Berlin', '2026-07-01T12:00:00Z', 2 * HOUR_MS],
  ['Asia/Kathmandu', '2026-07-01T12:00:00Z', 5 * HOUR_MS + 45 * MINUTE_MS],
  ['America/St_Johns', '2026-01-01T12:00:00Z', -(3 * HOUR_MS + 30 * MINUTE_MS)],
  ['Pacific/Apia', '2011-12-30T09:59:59Z', -10 * HOUR_MS],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', 14 * HOUR_MS],
])('clocks in %s at %s are ahead of UTC by %d ms', (zone, instant, offset) => {
  expect(offsetMsAt(zone, at(instant))).toBe(offset);
  expect(localMsAt(zone, at(instant))).toBe(at(instant) + offset);
});

test('finds the instant of a local time, and both instants of one that clocks show twice', () => {
  expect(instants('Europe/Berlin', '2026-07-01T08:00:00')).toEqual(Array(2).fill('2026-07-01T06:00:00.000Z'));
  expect(instants('Europe/Berlin', '2026-10-25T02:30:00')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']);
  expect(instants('Europe/Berlin', '2026-10-25T03:00:00')).toEqual(Array(2).fill('2026-10-25T02:00:00.000Z'));
  expect(instants('Australia/Lord_Howe', '2026-04-05T01:45:00')).toEqual(['2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z']);
});

test('takes the first instant after a gap for a local time that clocks skip, even on a skipped day', () => {
  expect(instants('Europe/Berlin', '2026-03-29T02:30:00')).toEqual(Array(2).fill('2026-03-29T01:00:00.000Z'));
  expect(instants('Europe/Berlin', '2026-03-29T03:00:00')).toEqual(Array(2).fill('2026-03-29T01:00:00.000Z'));
  expect(instants('America/New_York', '2026-03-08T02:00:00')).toEqual(Array(2).fill('2026-03-08T07:00:00.000Z'));
  expect(instants('Pacific/Apia', '2011-12-30T12:00:00')).toEqual(Array(2).fill('2011-12-30T10:00:00.000Z'));
});
