import { MIN_BUDGET_NANOS, shareOfNanos } from '../../../shared/admission/shards.ts';

/**
 * Divides a key's budget among its shards. The shards together never exceed the budget, and can spend all that is left of it. What is left goes to
 * the first `usable` shards, or to fewer if their parts would be too small for a request.
 * @returns a part for each shard; the parts add up to the budget. Unless the budget is spent, no part is below what its shard has counted.
 */
export const shareBudget = (budgetNanos: bigint, countedNanos: readonly bigint[], usable: number): bigint[] => {
  const counted = countedNanos.reduce((sum, amount) => sum + amount, 0n);
  // The budget is spent: every shard has counted its part, so none can spend more until the next day or month.
  if (counted > 0n && counted >= budgetNanos) {
    const parts = countedNanos.map((amount) => (amount * budgetNanos) / counted);
    // Rounding leaves less than a nano-dollar per shard, which goes to shards that have counted it.
    let left = budgetNanos - parts.reduce((sum, amount) => sum + amount, 0n);
    return parts.map((part, i) => {
      if (left === 0n || part === countedNanos[i]) return part;
      left -= 1n;
      return part + 1n;
    });
  }
  const left = budgetNanos - counted;
  const among = Math.max(1, Math.min(usable, countedNanos.length, Number(left / MIN_BUDGET_NANOS)));
  return countedNanos.map((amount, shard) => amount + (shard < among ? shareOfNanos(left, among, shard) : 0n));
};
