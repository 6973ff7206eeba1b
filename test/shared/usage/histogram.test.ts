import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addLatency, coarsened, type Histogram, mergeHistograms, noLatencies, quantiles } from '../../../shared/usage/histogram.ts';
import { StoredHistogram, storedHistogram } from '../../../shared/usage/stored-histogram.ts';

const EARLIER_SCALE = 3;

const histogramOf = (latencies: readonly number[]): Histogram => {
  const histogram = noLatencies();
  for (const ms of latencies) addLatency(histogram, ms);
  return histogram;
};

// Earlier versions stored a map of counts, with 8 buckets an octave.
const earlierRow = (latencies: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const ms of latencies) {
    const bucket = Math.floor(8 * Math.log2(Math.min(Math.max(ms, 1), 600_000)));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
};

const exactly = (latencies: readonly number[], share: number): number =>
  latencies.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * latencies.length) - 1)] as number;

const Latencies = fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 200 });
// Histograms of this version and of earlier ones, some without latencies.
const AnyHistogram = fc.tuple(fc.array(fc.integer({ min: 0, max: 700_000 }), { maxLength: 60 }), fc.boolean());
type Any = [number[], boolean];
const read = ([latencies, isEarlier]: Any): Histogram =>
  isEarlier ? StoredHistogram.parse(earlierRow(latencies)) : histogramOf(latencies);

describe('a histogram', () => {
  test('gives every quantile at most 1.1 % too high or too low', () => {
    fc.assert(
      fc.property(Latencies, fc.double({ min: 0, max: 1, noNaN: true }), (latencies, share) => {
        const [approximate = 0] = quantiles(histogramOf(latencies), [share]) ?? [];
        expect(Math.abs(approximate / exactly(latencies, share) - 1)).toBeLessThan(0.011);
      }),
    );
  });

  test('gives percentiles at most 1.1 % too high or too low after parts were stored and merged', () => {
    const file = path.join(import.meta.dirname, 'recorded-latencies.json');
    const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number[]>;
    for (const latencies of Object.values(recorded)) {
      expect(latencies.length).toBeGreaterThan(1_000);
      const parts = Map.groupBy(latencies, (_, i) => i % 37);
      const merged = [...parts.values()]
        .map((part) => StoredHistogram.parse(storedHistogram(histogramOf(part))))
        .reduce(mergeHistograms, noLatencies());
      const shares = [0.5, 0.9, 0.99];
      const percentiles = quantiles(merged, shares) as number[];
      for (const [i, share] of shares.entries())
        expect(Math.abs((percentiles[i] as number) / exactly(latencies, share) - 1)).toBeLessThan(0.011);
    }
  });

  test('merges parts in any order and grouping to the histogram of the whole, earlier versions included', () => {
    fc.assert(
      fc.property(AnyHistogram, AnyHistogram, AnyHistogram, (...drafts) => {
        const [a, b, c] = drafts.map(read) as [Histogram, Histogram, Histogram];
        const merged = mergeHistograms(mergeHistograms(a, b), c);
        expect(mergeHistograms(a, mergeHistograms(b, c))).toEqual(merged);
        expect(mergeHistograms(c, mergeHistograms(b, a))).toEqual(merged);
        expect(mergeHistograms(noLatencies(), a)).toEqual(a);
        const whole = histogramOf(drafts.flatMap(([latencies]) => latencies));
        const hasEarlier = drafts.some(([latencies, isEarlier]) => isEarlier && latencies.length > 0);
        expect(merged).toEqual(hasEarlier ? coarsened(whole, EARLIER_SCALE) : whole);
      }),
    );
  });

  test('reads an earlier version, of which each bucket covers four of today’s', () => {
    const latencies = Array.from({ length: 20_000 }, (_, i) => i * 31);
    expect(StoredHistogram.parse(earlierRow(latencies))).toEqual(coarsened(histogramOf(latencies), EARLIER_SCALE));
  });

  test('is the same after it is stored and read', () => {
    fc.assert(
      fc.property(AnyHistogram, fc.integer({ min: 1, max: 2 ** 40 }), (draft, times) => {
        const histogram = read(draft);
        for (const bucket of histogram.counts.keys()) histogram.counts.set(bucket, times + bucket);
        expect(StoredHistogram.parse(storedHistogram(histogram))).toEqual(histogram);
      }),
    );
  });

  test.each([
    ['no scale', []],
    ['a scale that is too fine', [6]],
    ['empty buckets at its end', [5, 3, 0, 2]],
    ['no number of empty buckets', [5, 3, 0]],
    ['empty buckets twice in a row', [5, 0, 2, 0, 2, 1]],
    ['no empty buckets where there should be some', [5, 0, 0, 1]],
    ['a count that is cut off', [5, 3, 0x81]],
    ['a bucket beyond the last one', [5, 0, 0xe7, 0x04, 1]],
    ['an integer without an end', [5, ...Array(12).fill(0x81), 1]],
  ])('is invalid with %s at rest', (_, bytes) => {
    expect(StoredHistogram.safeParse(Uint8Array.from(bytes as number[])).success).toBe(false);
  });

  test('has at most 615 buckets, 32 per octave, and counts latencies outside its range as the nearer end', () => {
    const all = histogramOf(Array.from({ length: 600_000 }, (_, i) => i + 1));
    expect(Math.max(...all.counts.keys())).toBe(614);
    for (let power = 0; power < 20; power++) expect([...histogramOf([2 ** power]).counts.keys()]).toEqual([32 * power]);
    expect(histogramOf([0, -5, 1]).counts).toEqual(new Map([[0, 3]]));
    expect(histogramOf([600_001, 10_000_000]).counts).toEqual(new Map([[614, 2]]));
  });

  test('has no quantile without requests', () => {
    expect(quantiles(noLatencies(), [0.5])).toBeUndefined();
  });
});
