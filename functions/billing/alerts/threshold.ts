/**
 * A budget is rarely used to the last cent, because a request is rejected if what it can cost at most doesn't fit:
 * 99.5 % is 100 %.
 */
const FULL_PER_MILLE = 995n;
const FULL_PERCENT = 100;

const isReached = (used: bigint, whole: bigint, percent: number): boolean =>
  percent >= FULL_PERCENT ? used * 1_000n >= whole * FULL_PER_MILLE : used * 100n >= whole * BigInt(percent);

/**
 * The highest of some percentages that a used part of a whole has reached; undefined if none, or if there is nothing
 * to use.
 */
export const thresholdReached = (used: bigint, whole: bigint, percentages: readonly number[]): number | undefined =>
  whole <= 0n
    ? undefined
    : percentages.reduce<number | undefined>(
        (highest, percent) => (isReached(used, whole, percent) && percent > (highest ?? 0) ? percent : highest),
        undefined,
      );
