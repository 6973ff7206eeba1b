import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { exponentialHistogram } from '../../../../functions/telemetry/otlp/exponential-histogram.ts';

const boundOf = (index: number, scale: number): number => 2 ** (index / 2 ** scale);

describe('exponentialHistogram', () => {
  test('counts each value in the bucket that has it, in at most 160 buckets', () =>
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1_000_000, noNaN: true }), { minLength: 1, maxLength: 40 }), (raw) => {
        const values = raw.map((value) => (value < 1e-6 ? 0 : value));
        const { count, zeroCount, scale, positive, min, max } = exponentialHistogram(values);
        const counts = positive.bucketCounts.map(Number);
        expect(counts.length).toBeLessThanOrEqual(160);
        expect(Number(count)).toBe(values.length);
        expect(Number(zeroCount) + counts.reduce((a, b) => a + b, 0)).toBe(values.length);
        expect([min, max]).toEqual([Math.min(...values), Math.max(...values)]);
        const isRight = counts.every((bucketCount, i) => {
          const [low, high] = [boundOf(positive.offset + i, scale), boundOf(positive.offset + i + 1, scale)];
          // A value on a bound can be on either side of it, by the precision of logarithms.
          const surely = values.filter((value) => value > low * (1 + 1e-12) && value < high * (1 - 1e-12)).length;
          const perhaps = values.filter((value) => value > low * (1 - 1e-12) && value < high * (1 + 1e-12)).length;
          return bucketCount >= surely && bucketCount <= perhaps;
        });
        expect(isRight).toBe(true);
      }),
    ));

  test('makes buckets whose middle is within 1.1 % of their values, if these span up to five octaves', () => {
    const values = Array.from({ length: 500 }, (_, i) => 0.02 * 1.005 ** i);
    const { scale, positive } = exponentialHistogram(values);
    expect(scale).toBe(5);
    for (const i of positive.bucketCounts.keys()) {
      const low = boundOf(positive.offset + i, scale);
      expect(Math.sqrt(low * boundOf(positive.offset + i + 1, scale)) / low).toBeLessThan(1.011);
    }
  });
});
