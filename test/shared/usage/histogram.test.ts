import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addLatency, type Histogram, mergeCounts } from '../../../shared/usage/histogram.ts';

const BUCKETS_PER_OCTAVE = 8;

/**
 * The latency in ms that a share of the requests did not exceed; undefined without requests. It is the middle of the bucket that contains the value
 * of that rank (the ceil(share × count)-th smallest), so it is off by at most a factor of 2^(1/16): 4.5 % too high or 4.3 % too low.
 * @param share from 0 to 1: 0.99 for the 99th percentile
 */
const quantile = (histogram: Histogram, share: number): number | undefined => {
  const buckets = [...histogram].sort(([a], [b]) => a - b);
  const requests = buckets.reduce((sum, [, times]) => sum + times, 0);
  const rank = Math.max(1, Math.ceil(share * requests));
  let passed = 0;
  for (const [bucket, times] of buckets) {
    passed += times;
    if (passed >= rank) return 2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE);
  }
  return undefined;
};

const histogramOf = (latencies: readonly number[]): Histogram => {
  const histogram: Histogram = new Map();
  for (const ms of latencies) addLatency(histogram, ms);
  return histogram;
};
const Latencies = fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 200 });

describe('a histogram', () => {
  test('gives every quantile at most 4.5 % too high or 4.3 % too low', () => {
    fc.assert(
      fc.property(Latencies, fc.double({ min: 0, max: 1, noNaN: true }), (latencies, share) => {
        const exact = latencies.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * latencies.length) - 1)] as number;
        const approximate = quantile(histogramOf(latencies), share) as number;
        expect(approximate / exact).toBeLessThan(1.045);
        expect(approximate / exact).toBeGreaterThan(0.957);
      }),
    );
  });

  test('of two merged parts equals the histogram of the whole, in any order', () => {
    fc.assert(
      fc.property(Latencies, Latencies, (a, b) => {
        expect(mergeCounts(histogramOf(a), histogramOf(b))).toEqual(histogramOf([...b, ...a]));
      }),
    );
  });

  test('has at most 154 buckets, eight per octave, and counts latencies outside its range as the nearer end', () => {
    const all = histogramOf(Array.from({ length: 600_000 }, (_, i) => i + 1));
    expect(Math.max(...all.keys())).toBe(153);
    for (let power = 0; power < 20; power++) expect([...histogramOf([2 ** power]).keys()]).toEqual([8 * power]);
    expect(histogramOf([0, -5, 1])).toEqual(new Map([[0, 3]]));
    expect(histogramOf([600_001, 10_000_000])).toEqual(new Map([[153, 2]]));
  });

  test('without requests has no quantile', () => {
    expect(quantile(new Map(), 0.5)).toBeUndefined();
  });
});
