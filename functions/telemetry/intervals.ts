import type { PointInterval } from './metrics.ts';

const MS_NANOS = 1_000_000n;

/** Consecutive intervals without gaps, each at least 1 ms long, as delta metrics require. */
export const createIntervals = (now: () => number): (() => PointInterval) => {
  let lastMs = now();
  return () => {
    const startMs = lastMs;
    lastMs = Math.max(now(), startMs + 1);
    return { startNanos: BigInt(startMs) * MS_NANOS, endNanos: BigInt(lastMs) * MS_NANOS };
  };
};
