/** A level that was measured: requests at the same time on each copy. */
export interface MeasuredLevel {
  concurrency_per_copy: number;
  /** Both goals were met, and no request failed. */
  meets_goals: boolean;
}

/**
 * Why a sweep ended. `goal_missed`: more requests at the same time would miss a goal. `never_met`: one alone misses it.
 * `max_reached`: the most that was to be measured meets both goals.
 */
export type SweepEnd = 'goal_missed' | 'never_met' | 'max_reached';

/** The next level to measure, or the result: the most requests per copy that meet the goals, or null if none do. */
export type SweepStep =
  | { kind: 'measure'; concurrencyPerCopy: number }
  | { kind: 'end'; because: SweepEnd; concurrencyPerCopy: number | null };

const FIRST = 1;
const GROWTH = 2;
// The result is at most this much less than the first level that misses a goal.
const PRECISION_PERCENT = 5;

/** A sweep up to 4,096 requests needs 13 levels that double, and 5 to halve 2,048 to 5 %. */
export const MAX_LEVELS = 24;

/**
 * The next step of a sweep: it doubles the requests at the same time until a goal is missed, and then halves the
 * interval between the best level and the first one that missed a goal. It depends only on the levels that were
 * measured, so a sweep that was interrupted continues where it was.
 * @param max the most requests per copy to measure, at least 1
 */
export const nextStep = (measured: readonly MeasuredLevel[], max: number): SweepStep => {
  const missed = measured.filter((level) => !level.meets_goals).map((level) => level.concurrency_per_copy);
  const lowestMissed = Math.min(...missed, Number.POSITIVE_INFINITY);
  const met = measured.filter((level) => level.meets_goals).map((level) => level.concurrency_per_copy);
  const best = Math.max(0, ...met.filter((concurrency) => concurrency < lowestMissed));
  if (best >= max) return { kind: 'end', because: 'max_reached', concurrencyPerCopy: best };
  if (lowestMissed === FIRST) return { kind: 'end', because: 'never_met', concurrencyPerCopy: null };
  if (lowestMissed === Number.POSITIVE_INFINITY)
    return { kind: 'measure', concurrencyPerCopy: best === 0 ? FIRST : Math.min(max, best * GROWTH) };
  if (lowestMissed - best <= Math.max(1, Math.floor((best * PRECISION_PERCENT) / 100)))
    return { kind: 'end', because: 'goal_missed', concurrencyPerCopy: best };
  return { kind: 'measure', concurrencyPerCopy: Math.floor((best + lowestMissed) / 2) };
};
