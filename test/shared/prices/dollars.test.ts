import { expect, test } from '@jest/globals';
import { dollarsOf, dollarsPerToken, nanosOf } from '../../../shared/prices/dollars.ts';

test.each([
  [0, '0'],
  [1, '0.000000000000001'],
  [50_000_000, '0.00000005'],
  [123_456_789_012_345, '0.123456789012345'],
  [999_999_999_999_999, '0.999999999999999'],
  [1e15, '1'],
])('converts %i nano-dollars per million tokens to exactly $%s per token', (nanos, dollars) => {
  expect(dollarsPerToken(nanos)).toBe(dollars);
});

test.each([
  ['0', 0n],
  ['0.000000001', 1n],
  ['12.5', 12_500_000_000n],
  ['999999999999.999999999', 999_999_999_999_999_999_999n],
])('converts $%s to nano-dollars and back exactly', (dollars, nanos) => {
  expect(nanosOf(dollars)).toBe(nanos);
  expect(dollarsOf(nanos)).toBe(dollars);
});

test.each(['', '1e3', '-1', '1.0000000001', '1,5', '.5', '1.', '1234567890123'])('rejects %j as an amount of dollars', (text) => {
  expect(nanosOf(text)).toBeUndefined();
});

test('keeps the sign of a negative amount', () => {
  expect(dollarsOf(-250_000_000n)).toBe('-0.25');
});
