import { describe, expect, test } from '@jest/globals';
import { perMillion } from '../../../console/design/format/amounts.ts';

describe('perMillion', () => {
  test.each([
    ['0.0000001', '0.1'],
    ['0.000000000000001', '0.000000001'],
    ['0.00000005', '0.05'],
    ['0.00001234567', '12.34567'],
    ['0', '0'],
    ['0.000000', '0'],
    ['1.5', '1500000'],
  ])('makes %s a token %s a million', (perToken, price) => {
    expect(perMillion(perToken)).toBe(price);
  });
});
