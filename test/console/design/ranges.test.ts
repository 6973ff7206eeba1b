import { describe, expect, test } from '@jest/globals';
import { faultOfDays, faultOfRange, rangeNamed, rangeOf } from '../../../console/design/format/ranges.ts';

const NOW_S = Date.UTC(2027, 0, 15, 12, 30) / 1_000;
const none = { from: '', to: '' };
const seconds = (text: string): number => Date.parse(text) / 1_000;

describe('rangeOf', () => {
  test('counts back from now', () => {
    expect(rangeOf('7d', none, NOW_S)).toEqual({ startS: NOW_S - 7 * 86_400 });
  });

  test('begins this month at its first UTC day', () => {
    expect(rangeOf('month', none, NOW_S)).toEqual({ startS: seconds('2027-01-01T00:00Z') });
  });

  test('takes the whole last month, also in January', () => {
    expect(rangeOf('last_month', none, NOW_S)).toEqual({ startS: seconds('2026-12-01T00:00Z'), endS: seconds('2027-01-01T00:00Z') });
  });

  test('reads the days and times of a custom range as UTC', () => {
    expect(rangeOf('custom', { from: '2027-01-02', to: '2027-01-03T04:05' }, NOW_S)).toEqual({
      startS: seconds('2027-01-02T00:00Z'),
      endS: seconds('2027-01-03T04:05Z'),
    });
  });

  test('leaves out what is not a time', () => {
    expect(rangeOf('custom', { from: 'x', to: '' }, NOW_S)).toEqual({ startS: undefined, endS: undefined });
  });
});

describe('rangeNamed', () => {
  test('takes the first range for an unknown name', () => {
    expect([rangeNamed('30d', ['24h', '30d']), rangeNamed('x', ['24h', '30d'])]).toEqual(['30d', '24h']);
  });
});

describe('a custom range that the API would not read', () => {
  const LAST = 'Choose a last day that is on or after the first day';
  const NOW_S = Date.UTC(2026, 10, 20, 12) / 1_000;

  test.each([
    ['2026-10-01', '2026-10-31', undefined],
    ['2026-10-31', '2026-10-31', undefined],
    ['2026-10-01', '2026-11-01', 'Choose at most 31 days'],
    ['2026-10-02', '2026-10-01', LAST],
    ['2026-10-02', '', undefined],
    ['2026-11-20', '2026-11-25', undefined],
    ['2026-11-21', '2026-11-25', 'Choose a first day that is not in the future'],
    ['2026-11-21', '', 'Choose a first day that is not in the future'],
  ])('says what to change in days from %s to %s', (from, to, fault) => {
    expect(faultOfDays('custom', { from, to }, NOW_S, 31)).toBe(fault);
  });

  test.each([
    ['2026-10-01T10:00', '2026-10-01T10:01', undefined],
    ['2026-10-01T10:00', '2026-10-01T10:00', 'Choose an end that is after the start'],
    ['2026-10-01T10:00', '', undefined],
    ['', '2026-10-01T10:00', undefined],
    ['2026-11-20T11:59', '2026-11-21T10:00', undefined],
    ['2026-11-20T12:00', '2026-11-21T10:00', 'Choose a start in the past'],
    ['2027-01-01T00:00', '', 'Choose a start in the past'],
  ])('says what to change in times from %s to %s', (from, to, fault) => {
    expect(faultOfRange('custom', { from, to }, NOW_S)).toBe(fault);
  });

  test('is no other range, whatever the address says', () => {
    const reversed = { from: '2026-10-02', to: '2026-10-01' };
    expect([
      faultOfDays('last_month', reversed, NOW_S, 1),
      faultOfRange('7d', reversed, NOW_S),
      faultOfDays('custom', reversed, NOW_S),
    ]).toEqual([undefined, undefined, LAST]);
  });
});
