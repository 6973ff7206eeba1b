import { type Benchmark, type BenchmarkCurve, type BenchmarkPoint, hasLikeLengths } from './benchmark.ts';

// The organization is notified if the rate of tokens differs from an earlier one by more than this.
const DRIFT_PERCENT = 15;
// The mean lengths of two mixes that are alike differ by at most this.
const LIKE_PERCENT = 10;
const PERCENT = 100;

/** True for benchmarks of the same model with the same goals and similar lengths. */
export const isComparable = (one: BenchmarkCurve, other: BenchmarkCurve): boolean =>
  one.model === other.model &&
  one.goals.ttft_p95_ms === other.goals.ttft_p95_ms &&
  one.goals.inter_token_p95_ms === other.goals.inter_token_p95_ms &&
  hasLikeLengths(one.mix, other.mix, LIKE_PERCENT);

const isAlike = (one: BenchmarkCurve, other: BenchmarkCurve): boolean =>
  isComparable(one, other) && one.instance_type === other.instance_type && one.accelerators === other.accelerators;

// The rate of one copy, since the number of copies can differ.
const rateOfCopy = ({ tokens_per_second, copies }: BenchmarkPoint): number => tokens_per_second / copies;

const kneeOf = ({ points, result }: Pick<BenchmarkCurve, 'points' | 'result'>): BenchmarkPoint | undefined =>
  points.find(({ concurrency_per_copy }) => concurrency_per_copy === result);

/**
 * By how much the rate of a copy differs from the newest earlier benchmark of the same model, instance type, goals and
 * mean lengths; undefined: by at most 15 percent, or there is none.
 * @param earlier oldest first
 */
export const driftOf = (curve: BenchmarkCurve, earlier: readonly BenchmarkCurve[]): Benchmark['drift'] => {
  const last = earlier.findLast((other) => isAlike(curve, other) && kneeOf(other) !== undefined);
  const before = last && kneeOf(last);
  const knee = kneeOf(curve);
  if (!before || !knee) return undefined;
  const [is, was] = [Math.round(rateOfCopy(knee)), Math.round(rateOfCopy(before))];
  if (was === 0) return undefined;
  const percent = Math.round(((is - was) * PERCENT) / was);
  return Math.abs(percent) > DRIFT_PERCENT
    ? { benchmark: last.id, tokens_per_second: is, earlier_tokens_per_second: was, percent }
    : undefined;
};
