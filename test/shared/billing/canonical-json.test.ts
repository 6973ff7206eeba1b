import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import { closableAt, daysOfMonth, endOfMonth, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';

test('writes one text for a value, in whatever order its fields were set', () => {
  expect(canonicalJson({ b: [1n, null, undefined], a: { y: 'é"', x: undefined }, 10: 1, 9: 2 })).toBe(
    '{"10":1,"9":2,"a":{"y":"é\\""},"b":["1",null,null]}',
  );
});

test('writes JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('lists all days of months that follow one another', () => {
  expect(daysOfMonth('2028-02').at(-1)).toBe('2028-02-29');
  expect(daysOfMonth('2026-12')).toHaveLength(31);
  for (let month = '2026-01'; month < '2029-01'; month = nextMonth(month)) {
    expect(startOfMonth(nextMonth(month))).toBe(endOfMonth(month));
    expect(monthOf(endOfMonth(month) - 1)).toBe(month);
  }
  expect(new Date(closableAt('2026-12')).toISOString()).toBe('2027-01-01T01:00:00.000Z');
});
