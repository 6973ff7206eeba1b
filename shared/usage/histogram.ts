import { type Counts, count, mergeCounts, sumOfCounts } from './counts.ts';

/**
 * The number of requests per latency bucket. At a scale, an octave has 2^scale buckets, as in OpenTelemetry's
 * exponential histograms (https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram): bucket
 * `i` contains latencies from 2^(i/2^scale) ms to below 2^((i+1)/2^scale) ms. Latencies are within 1 ms to 600,000
 * ms; one outside this range counts as the nearer end. Empty buckets are absent.
 */
export interface Histogram {
  scale: number;
  counts: Counts<number>;
}

/** 32 buckets an octave, so at most 615. */
export const SCALE = 5;
const MIN_MS = 1;
// No request takes longer because of its function's timeout.
const MAX_MS = 600_000;

// A bucket of a scale consists of two of the next one, because the logarithm is computed first, and is the same for
// both.
const bucketOf = (ms: number, scale: number): number => Math.floor(2 ** scale * Math.log2(Math.min(Math.max(ms, MIN_MS), MAX_MS)));

/** The last bucket of a scale. */
export const lastBucket = (scale: number): number => bucketOf(MAX_MS, scale);

export const noLatencies = (): Histogram => ({ scale: SCALE, counts: new Map() });

/** Adds one latency, in place. */
export const addLatency = ({ scale, counts }: Histogram, ms: number): void => count(counts, bucketOf(ms, scale));

/** Returns the same latencies in the buckets of another scale, if that is coarser. */
export const coarsened = (histogram: Histogram, scale: number): Histogram => {
  if (histogram.scale <= scale) return histogram;
  const counts: Counts<number> = new Map();
  for (const [bucket, times] of histogram.counts) count(counts, bucket >> (histogram.scale - scale), times);
  return { scale, counts };
};

// Without latencies, a histogram has no scale that others would have to be coarsened to.
const scaleOf = ({ scale, counts }: Histogram): number => (counts.size === 0 ? SCALE : scale);

/**
 * The latencies of both, at the coarser of their scales: totals of earlier versions have 8 buckets an octave. The
 * result does not depend on the order in which histograms are merged.
 */
export const mergeHistograms = (a: Histogram, b: Histogram): Histogram => {
  const scale = Math.min(scaleOf(a), scaleOf(b));
  return { scale, counts: mergeCounts(coarsened(a, scale).counts, coarsened(b, scale).counts) };
};

/**
 * The latencies in ms that these shares of the requests did not exceed; undefined without requests. Each is the
 * geometric middle of the bucket that contains the value of that rank (the ceil(share × requests)-th smallest). So it
 * is off by at most a factor of 2^(1/64): 1.1 % too high or too low. With latencies of earlier versions it is
 * 2^(1/16): 4.5 % too high or 4.3 % too low.
 * @param shares from 0 to 1, rising: 0.99 for the 99th percentile
 */
export const quantiles = ({ scale, counts }: Histogram, shares: readonly number[]): number[] | undefined => {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const requests = sumOfCounts(counts);
  if (requests === 0) return undefined;
  let [at, passed] = [-1, 0];
  return shares.map((share) => {
    const rank = Math.max(1, Math.ceil(share * requests));
    while (passed < rank && at < buckets.length - 1) passed += buckets[++at]?.[1] ?? 0;
    return 2 ** (((buckets[at]?.[0] ?? 0) + 0.5) / 2 ** scale);
  });
};
