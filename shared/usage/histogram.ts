/** How often each thing was seen; a thing that is absent was never seen. */
export type Counts<Thing> = Map<Thing, number>;

/** Counts a thing, in place. */
export const count = <Thing>(counts: Counts<Thing>, thing: Thing, times = 1): void => {
  counts.set(thing, (counts.get(thing) ?? 0) + times);
};

/** The counts of both together. */
export const mergeCounts = <Thing>(a: Counts<Thing>, b: Counts<Thing>): Counts<Thing> => {
  const merged = new Map(a);
  for (const [thing, times] of b) count(merged, thing, times);
  return merged;
};

/**
 * The latencies of any number of requests in at most 154 numbers: how many fell into each bucket. Bucket `i` holds the
 * milliseconds from 2^(i/8) to below 2^((i+1)/8), from 1 ms to 600,000; what lies outside counts as the nearer end. Empty
 * buckets are not in it.
 */
export type Histogram = Counts<number>;

const BUCKETS_AN_OCTAVE = 8;
const MIN_MS = 1;
/** No request is longer: its function's time ends. */
const MAX_MS = 600_000;

/** Adds one latency, in place. */
export const addLatency = (histogram: Histogram, ms: number): void =>
  count(histogram, Math.floor(BUCKETS_AN_OCTAVE * Math.log2(Math.min(Math.max(ms, MIN_MS), MAX_MS))));
