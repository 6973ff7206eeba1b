// Requests are rejected if their highest possible cost doesn't fit, so a budget is rarely used to the last cent.
// 99.5 % counts as 100 %.
const FULL_PER_MILLE = 995n;
const FULL_PERCENT = 100;

const isReached = (used: bigint, whole: bigint, percent: number): boolean =>
  percent >= FULL_PERCENT ? used * 1_000n >= whole * FULL_PER_MILLE : used * 100n >= whole * BigInt(percent);

/**
 * The highest percentage that `used` has reached of `whole`; undefined if it reached none or `whole` isn't positive.
 */
export const thresholdReached = (used: bigint, whole: bigint, percentages: readonly number[]): number | undefined =>
  whole <= 0n
    ? undefined
    : percentages.reduce<number | undefined>(
        (highest, percent) => (isReached(used, whole, percent) && percent > (highest ?? 0) ? percent : highest),
        undefined,
      );
