/** The number of occurrences of each value; absent: none. */
export type Counts<Value> = Map<Value, number>;

/** Counts a value, in place. */
export const count = <Value>(counts: Counts<Value>, value: Value, times = 1): void => {
  counts.set(value, (counts.get(value) ?? 0) + times);
};

/** The sum of both counts. */
export const mergeCounts = <Value>(a: Counts<Value>, b: Counts<Value>): Counts<Value> => {
  const merged = new Map(a);
  for (const [value, times] of b) count(merged, value, times);
  return merged;
};

/**
 * The number of requests per latency bucket, in at most 154 buckets. Bucket `i` contains latencies from 2^(i/8) ms to below 2^((i+1)/8) ms, within
 * 1 ms to 600,000 ms; a latency outside this range counts as the nearer end. Empty buckets are absent.
 */
export type Histogram = Counts<number>;

const BUCKETS_PER_OCTAVE = 8;
const MIN_MS = 1;
/** No request takes longer because of its function's timeout. */
const MAX_MS = 600_000;

/** Adds one latency, in place. */
export const addLatency = (histogram: Histogram, ms: number): void =>
  count(histogram, Math.floor(BUCKETS_PER_OCTAVE * Math.log2(Math.min(Math.max(ms, MIN_MS), MAX_MS))));
