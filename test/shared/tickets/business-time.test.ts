import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BusinessHours, type BusinessTime, createBusinessTime } from '../../../shared/tickets/business-time.ts';

const HOUR_MS = 3_600_000;
const at = (time: string): number => Date.parse(time);
const timeIn = (fields: object = {}): BusinessTime =>
  createBusinessTime(BusinessHours.parse({ timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', ...fields }));

describe('time that support works', () => {
  // Friday, 2026-11-20. Berlin is an hour ahead of UTC in winter.
  test.each([
    ['within a day', '2026-11-20T09:00:00Z', 2, '2026-11-20T11:00:00Z'],
    ['begins in the morning', '2026-11-20T03:00:00Z', 2, '2026-11-20T10:00:00Z'],
    ['goes on after a weekend', '2026-11-20T15:00:00Z', 2, '2026-11-23T09:00:00Z'],
    ['begins on Monday for what comes on Saturday', '2026-11-21T12:00:00Z', 1, '2026-11-23T09:00:00Z'],
    ['ends with the day', '2026-11-20T08:00:00Z', 8, '2026-11-20T16:00:00Z'],
  ])('%s', (_, from, hours, until) => {
    expect(new Date(timeIn().after(at(from), hours * HOUR_MS)).toISOString()).toBe(new Date(until).toISOString());
    expect(timeIn().between(at(from), at(until))).toBe(hours * HOUR_MS);
  });

  test('leaves out holidays', () => {
    const time = timeIn({ holidays: ['2026-12-25'] });
    expect(time.after(at('2026-12-24T15:00:00Z'), 2 * HOUR_MS)).toBe(at('2026-12-28T09:00:00Z'));
    expect(time.between(at('2026-12-25T00:00:00Z'), at('2026-12-26T00:00:00Z'))).toBe(0);
  });

  test.each([
    ['forward', '2026-03-29', '2026-03-27T16:00:00Z', '2026-03-30T07:00:00Z'],
    ['back', '2026-10-25', '2026-10-23T15:00:00Z', '2026-10-26T08:00:00Z'],
  ])('follows the clocks of the zone when they go %s on %s', (_, _day, fridayEnd, mondayStart) => {
    expect(timeIn().after(at(fridayEnd) - HOUR_MS, 2 * HOUR_MS)).toBe(at(mondayStart) + HOUR_MS);
    expect(timeIn().between(at(fridayEnd), at(mondayStart))).toBe(0);
  });

  test('of a day in which the clocks change has as many hours as pass', () => {
    const everyDay = timeIn({ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '24:00' });
    expect(everyDay.between(at('2026-03-28T23:00:00Z'), at('2026-03-29T22:00:00Z'))).toBe(23 * HOUR_MS);
    expect(everyDay.between(at('2026-10-24T22:00:00Z'), at('2026-10-25T23:00:00Z'))).toBe(25 * HOUR_MS);
  });

  test('from one time until so much has passed is so much, in any zone', () => {
    const Hours = fc.record({
      timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia'),
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      from: fc.constantFrom('00:00', '02:30', '09:00', '11:00'),
      to: fc.constantFrom('12:00', '17:30', '24:00'),
    });
    const START = at('2026-01-01T00:00:00Z');
    fc.assert(
      fc.property(Hours, fc.nat(400 * 24 * HOUR_MS), fc.integer({ min: 1, max: 40 * HOUR_MS }), (hours, sinceMs, durationMs) => {
        const time = timeIn(hours);
        const endMs = time.after(START + sinceMs, durationMs);
        expect(time.between(START + sinceMs, endMs)).toBe(durationMs);
        expect(time.between(START + sinceMs, endMs - 1)).toBe(durationMs - 1);
      }),
      { numRuns: 50 },
    );
  });
});

test.each([
  ['an unknown zone', { timeZone: 'Europe/Atlantis' }],
  ['no days', { days: [] }],
  ['an end before the start', { from: '18:00' }],
  ['an hour that does not exist', { from: '25:00' }],
])('hours with %s are refused', (_, fields) => {
  const hours = { timeZone: 'UTC', days: [1], from: '09:00', to: '17:00', ...fields };
  expect(BusinessHours.safeParse(hours).success).toBe(false);
});
