import { describe, expect, test } from '@jest/globals';
import { timesOf } from '../../../../../functions/control/deployments/shadow/times.ts';
import { verdictOf } from '../../../../../functions/control/deployments/shadow/verdict.ts';
import { bucketOf, longestIn, type ShadowCounts, TIME_BUCKETS } from '../../../../../shared/deployments/shadow-counts.ts';

const of = (compared: number, counts: ShadowCounts = {}): ShadowCounts => ({
  compared,
  [`serving_duration_${bucketOf(100)}`]: compared,
  [`shadow_duration_${bucketOf(100)}`]: compared,
  ...counts,
});

describe('a verdict', () => {
  test.each<[what: string, counts: ShadowCounts, verdict: string, reason: string]>([
    ['too few answers', of(99), 'undecided', '99 of at least 100 answers are compared.'],
    ['as good as before', of(100), 'promote', 'No measure of 100 compared answers is worse than its threshold.'],
    ['1% failed', of(198, { failed_failed: 2 }), 'promote', 'No measure of 198 compared'],
    ['more than 1% failed', of(197, { failed_timed_out: 3 }), 'undecided', 'failed to answer 1.5% of 200 requests.'],
    ['more than 5% failed', of(187, { failed_refused: 13 }), 'roll_back', 'failed to answer 6.5% of 200 requests.'],
    ['all of few failed', { failed_no_capacity: 19 }, 'undecided', '0 of at least 100'],
    ['all of enough failed', { failed_no_capacity: 20 }, 'roll_back', 'failed to answer 100% of 20 requests.'],
    ['less valid JSON', of(100, { schema_both: 18, schema_serving_only: 2 }), 'roll_back', 'Of 20 answers with JSON, 10% fewer are valid'],
    ['less valid JSON of few', of(100, { schema_both: 17, schema_serving_only: 2 }), 'promote', 'No measure'],
    ['as much valid JSON', of(100, { schema_shadow_only: 9, schema_serving_only: 9, schema_both: 20 }), 'promote', 'No measure'],
    ['fewer valid calls', of(100, { tools_both: 97, tools_serving_only: 3 }), 'undecided', '3% fewer are valid'],
    ['other words', of(100, { exact_different: 100, finish_different: 100 }), 'promote', 'No measure'],
  ])('is given for %s', (_, counts, verdict, reason) => {
    expect(verdictOf(counts)).toEqual({ verdict, reasons: [expect.stringContaining(reason)] });
  });

  test.each([
    [110, 100, 'promote'],
    [180, 100, 'undecided'],
    [250, 100, 'roll_back'],
    [50, 10, 'promote'],
    [80, 10, 'roll_back'],
  ])('compares a p95 of %d ms with one of %d ms', (ms, before, verdict) => {
    const counts = { compared: 100, [`serving_duration_${bucketOf(before)}`]: 100, [`shadow_duration_${bucketOf(ms)}`]: 100 };
    expect(verdictOf(counts).verdict).toBe(verdict);
  });
});

describe('a histogram', () => {
  test('has a bucket for each time, whose end is less than 19% above it', () => {
    for (let ms = 10; ms < 500_000; ms = Math.ceil(ms * 1.03)) {
      const end = longestIn(bucketOf(ms));
      expect(end).toBeGreaterThanOrEqual(ms - 1);
      expect(end).toBeLessThanOrEqual(ms * 1.19 + 1);
    }
    expect([bucketOf(0), bucketOf(1e9)]).toEqual([0, TIME_BUCKETS - 1]);
  });

  test('gives the percentiles and the mean of its times', () => {
    const counts = { serving_duration_ms: 2_000, serving_duration_0: 94, serving_duration_4: 4, serving_duration_63: 2 };
    expect(timesOf(counts, 'serving', 'duration')).toEqual({ count: 100, mean_ms: 20, p50_ms: 10, p95_ms: 20 });
    expect(timesOf(counts, 'shadow', 'duration')).toEqual({ count: 0, mean_ms: null, p50_ms: null, p95_ms: null });
  });
});
