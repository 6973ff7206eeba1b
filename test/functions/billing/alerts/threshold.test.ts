import { expect, test } from '@jest/globals';
import { thresholdReached } from '../../../../functions/billing/alerts/threshold.ts';

const DEFAULT = [50, 80, 100];

test.each([
  { used: 49n, reached: undefined },
  { used: 50n, reached: 50 },
  { used: 79n, reached: 50 },
  { used: 99n, reached: 80 },
  { used: 100n, reached: 100 },
  { used: 500n, reached: 100 },
  { used: -1n, reached: undefined },
])('$used of 100 reaches $reached', ({ used, reached }) => expect(thresholdReached(used, 100n, DEFAULT)).toBe(reached));

test('a budget is used up from 99.5 % on, because the next request may not fit', () => {
  expect(thresholdReached(9_949n, 10_000n, DEFAULT)).toBe(80);
  expect(thresholdReached(9_950n, 10_000n, DEFAULT)).toBe(100);
});

test('compares amounts exactly, whatever their size', () => {
  const whole = 10n ** 30n;
  expect(thresholdReached(whole / 2n - 1n, whole, DEFAULT)).toBeUndefined();
  expect(thresholdReached(whole / 2n, whole, DEFAULT)).toBe(50);
});

test.each([0n, -5n])('reaches nothing of %s', (whole) => expect(thresholdReached(1n, whole, DEFAULT)).toBeUndefined());

test('takes thresholds in any order, or none', () => {
  expect(thresholdReached(60n, 100n, [90, 10, 55])).toBe(55);
  expect(thresholdReached(100n, 100n, [])).toBeUndefined();
});
