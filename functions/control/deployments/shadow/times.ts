import { longestIn, type ShadowCounts, type ShadowSide, TIME_BUCKETS, type Timing } from '../../../../shared/deployments/shadow-counts.ts';

/** Times of answers in milliseconds; null without any. */
export interface Times {
  count: number;
  mean_ms: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
}

/** The times of one side. A percentile is the upper end of its bucket, which is 19% above the lower one. */
export const timesOf = (counts: ShadowCounts, side: ShadowSide, timing: Timing): Times => {
  const buckets = Array.from({ length: TIME_BUCKETS }, (_, i) => counts[`${side}_${timing}_${i}`] ?? 0);
  const count = buckets.reduce((sum, each) => sum + each, 0);
  if (count === 0) return { count, mean_ms: null, p50_ms: null, p95_ms: null };
  const percentile = (percent: number): number => {
    let bucket = -1;
    for (let below = 0; below * 100 < count * percent; ) below += buckets[++bucket] ?? count;
    return longestIn(bucket);
  };
  return { count, mean_ms: Math.round((counts[`${side}_${timing}_ms`] ?? 0) / count), p50_ms: percentile(50), p95_ms: percentile(95) };
};
