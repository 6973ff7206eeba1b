import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BusinessHours, createBusinessTime } from '../../../shared/tickets/business-time.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';

const at = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString();

const berlin = (overrides: object = {}): BusinessHours =>
  BusinessHours.parse({ timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', ...overrides });

describe('time within business hours', () => {
  const { after, between } = createBusinessTime(berlin({ holidays: ['2026-12-25'] }));

  test.each([
    ['counts at once within them', '2026-11-23T10:00:00+01:00', 2, '2026-11-23T12:00:00+01:00'],
    ['begins in the morning before them', '2026-11-23T03:00:00+01:00', 2, '2026-11-23T11:00:00+01:00'],
    ['ends with the day, not on the next morning', '2026-11-23T09:00:00+01:00', 8, '2026-11-23T17:00:00+01:00'],
    ['continues on the next working day', '2026-11-27T16:00:00+01:00', 2, '2026-11-30T10:00:00+01:00'],
    ['leaves out a holiday', '2026-12-24T16:00:00+01:00', 2, '2026-12-28T10:00:00+01:00'],
    ['keeps its hours when the clocks go forward', '2026-03-27T16:00:00+01:00', 2, '2026-03-30T10:00:00+02:00'],
    ['keeps its hours when the clocks go back', '2026-10-23T16:00:00+02:00', 2, '2026-10-26T10:00:00+01:00'],
  ])('%s', (_, from, hours, expected) => {
    expect(iso(after(at(from), hours * HOUR_MS))).toBe(iso(at(expected)));
    expect(between(at(from), at(expected))).toBe(hours * HOUR_MS);
  });

  test('nothing counts on a weekend or a holiday', () => {
    expect(between(at('2026-11-28T00:00:00+01:00'), at('2026-11-30T00:00:00+01:00'))).toBe(0);
    expect(between(at('2026-12-25T00:00:00+01:00'), at('2026-12-26T00:00:00+01:00'))).toBe(0);
  });

  test('nothing counts between a time and an earlier one', () => {
    expect(between(at('2026-11-23T12:00:00+01:00'), at('2026-11-23T10:00:00+01:00'))).toBe(0);
  });

  test.each([
    ['23 hours when the clocks go forward', '2026-03-29', 23],
    ['24 hours otherwise', '2026-03-30', 24],
    ['25 hours when the clocks go back', '2026-10-25', 25],
  ])('a whole day has %s', (_, day, hours) => {
    const noon = at(`${day}T12:00:00Z`);
    const onlyThatDay = createBusinessTime(berlin({ days: [new Date(noon).getUTCDay() || 7], from: '00:00', to: '24:00', holidays: [] }));
    expect(onlyThatDay.between(noon - 36 * HOUR_MS, noon + 36 * HOUR_MS)).toBe(hours * HOUR_MS);
  });

  test('a shift that begins in the hour that the clocks skip is one hour shorter', () => {
    const nights = createBusinessTime(berlin({ days: [7], from: '01:00', to: '05:00' }));
    expect(nights.between(at('2026-03-29T00:00:00+01:00'), at('2026-03-30T00:00:00+02:00'))).toBe(3 * HOUR_MS);
    expect(nights.between(at('2026-10-25T00:00:00+02:00'), at('2026-10-26T00:00:00+01:00'))).toBe(5 * HOUR_MS);
  });

  test('the time that support needs, counted again, is the same', () => {
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC');
    const hours = fc.record({
      timeZone: zones,
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      shift: fc.constantFrom(['00:00', '24:00'], ['09:00', '17:30'], ['01:30', '03:15'], ['22:00', '23:59']),
      holidays: fc.constantFrom<string[]>([], ['2026-03-30', '2026-10-26']),
    });
    const start = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2026-12-31T00:00:00Z') });
    const duration = fc.integer({ min: 1, max: 200 * HOUR_MS });
    fc.assert(
      fc.property(hours, start, duration, ({ shift: [from = '', to = ''], ...rest }, fromMs, durationMs) => {
        const time = createBusinessTime({ ...rest, from, to });
        const dueMs = time.after(fromMs, durationMs);
        expect(time.between(fromMs, dueMs)).toBe(durationMs);
        expect(time.between(fromMs, dueMs - 1)).toBe(durationMs - 1);
      }),
      { numRuns: 100 },
    );
  });
});

describe('business hours', () => {
  test.each([
    ['an unknown time zone', { timeZone: 'Europe/Atlantis' }],
    ['an end before the beginning', { from: '17:00', to: '09:00' }],
    ['no length', { from: '09:00', to: '09:00' }],
    ['a time that no day has', { to: '25:00' }],
    ['no days', { days: [] }],
    ['a day that no week has', { days: [8] }],
    ['a holiday that is no date', { holidays: ['Christmas'] }],
  ])('can’t have %s', (_, overrides) => {
    expect(() => berlin(overrides)).toThrow();
  });
});
