import { shareOfNanos } from '../../../shared/admission/shards.ts';

/** A part should hold what a request costs at most: a dollar, in nano-dollars. */
const MIN_PART_NANOS = 1_000_000_000n;

/**
 * The parts of a budget that fall to the shards of a key, by what each has counted already, so that together they spend no more than the budget
 * and what is left of it can be spent: on the first `usable` shards, or on fewer where the parts would be too small for a request.
 * @returns a part for each shard; they add up to the budget. Where less than the budget is counted, none is below what its shard has counted.
 */
export const shareBudget = (budgetNanos: bigint, countedNanos: readonly bigint[], usable: number): bigint[] => {
  const counted = countedNanos.reduce((sum, amount) => sum + amount, 0n);
  // Used up: every shard has counted its part, so none spends more, and in the next day or month they have the budget again.
  if (counted > 0n && counted >= budgetNanos) {
    const parts = countedNanos.map((amount) => (amount * budgetNanos) / counted);
    // What rounding left is less than a nano-dollar a shard, and goes to those that have counted it.
    let left = budgetNanos - parts.reduce((sum, amount) => sum + amount, 0n);
    return parts.map((part, i) => {
      if (left === 0n || part === countedNanos[i]) return part;
      left -= 1n;
      return part + 1n;
    });
  }
  const left = budgetNanos - counted;
  const among = Math.max(1, Math.min(usable, countedNanos.length, Number(left / MIN_PART_NANOS)));
  return countedNanos.map((amount, shard) => amount + (shard < among ? shareOfNanos(left, among, shard) : 0n));
};
