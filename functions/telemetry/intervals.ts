import type { Interval } from './metrics.ts';

const MS_NANOS = 1_000_000n;

/** Intervals that follow one another without a gap, each at least 1 ms long, as the points of delta metrics must. */
export const createIntervals = (now: () => number): (() => Interval) => {
  let lastMs = now();
  return () => {
    const startMs = lastMs;
    lastMs = Math.max(now(), startMs + 1);
    return { startNanos: BigInt(startMs) * MS_NANOS, endNanos: BigInt(lastMs) * MS_NANOS };
  };
};
