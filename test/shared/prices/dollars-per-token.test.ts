import { expect, test } from '@jest/globals';
import { dollarsPerToken } from '../../../shared/prices/dollars.ts';

test.each([
  [0, '0'],
  [1, '0.000000000000001'],
  [50_000_000, '0.00000005'],
  [123_456_789_012_345, '0.123456789012345'],
  [999_999_999_999_999, '0.999999999999999'],
  [1e15, '1'],
])('%i nano-dollars a million tokens are $%s a token, exactly', (nanos, dollars) => {
  expect(dollarsPerToken(nanos)).toBe(dollars);
});
