import { isKeyItem } from '../item/key-item.ts';
import { countedNanosAt, hasCountedAfter, type LimiterItem, rateLimitsOf, slotCounters } from '../item/limiter-item.ts';
import type { BudgetPeriod, Limits, RateLimits } from '../item/limits.ts';
import { MIN_BUDGET_NANOS, shareOf, shareOfNanos, usableShards } from '../item/shards.ts';
import { slotOf } from '../item/sliding-window.ts';

/**
 * Each shard's part of a key's budget, by what the shards have counted, so that together they spend no more than the
 * budget and can spend what is left of it: on the first `usable` shards, or on fewer where the parts would be too
 * small for a request.
 * @returns a part for each shard; they add up to the budget. Unless the budget is spent, no part is below what its
 * shard has counted.
 */
export const shareBudget = (budgetNanos: bigint, countedNanos: readonly bigint[], usable: number): bigint[] => {
  const counted = countedNanos.reduce((sum, amount) => sum + amount, 0n);
  // The budget is spent: every shard has counted its part, so none spends more, and in the next day or month they
  // have the budget again.
  if (counted > 0n && counted >= budgetNanos) {
    // A shard that received money from others can have a negative count. It keeps that as its part.
    const isNegative = (amount: bigint): boolean => amount < 0n;
    const negative = countedNanos.filter(isNegative).reduce((sum, amount) => sum + amount, 0n);
    const parts = countedNanos.map((amount) => (isNegative(amount) ? amount : (amount * (budgetNanos - negative)) / (counted - negative)));
    // Rounding leaves less than a nano-dollar a shard, which goes to shards that have counted it.
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

/** The nano-dollars that each shard of a key has counted. */
export type CountedNanos = readonly Readonly<Record<BudgetPeriod, bigint>>[];

const equalRates = ({ requestsPerMinute, tokensPerMinute, concurrency }: RateLimits, shards: number, shard: number): RateLimits => ({
  requestsPerMinute: shareOf(requestsPerMinute, shards, shard),
  tokensPerMinute: shareOf(tokensPerMinute, shards, shard),
  concurrency: shareOf(concurrency, shards, shard),
});

/**
 * Divides limits among shards. @param counted absent for a new key @param rates each shard's part of the rate limits,
 * if the parts are not equal
 */
export const shareLimits = (
  { requestsPerMinute, tokensPerMinute, concurrency, budgets, isPrepaid }: Limits,
  shards: number,
  counted: CountedNanos = Array.from({ length: shards }, () => ({ day: 0n, month: 0n, total: 0n })),
  rates?: readonly RateLimits[],
): Limits[] => {
  const usable = usableShards(shards, { requestsPerMinute, concurrency });
  const parts = Object.entries(budgets).map(([name, budget]) => {
    const period = name as BudgetPeriod;
    return {
      period,
      nanos: shareBudget(
        budget,
        counted.map((nanos) => nanos[period]),
        usable,
      ),
    };
  });
  return Array.from({ length: shards }, (_, shard) => ({
    ...(rates?.[shard] ?? equalRates({ requestsPerMinute, tokensPerMinute, concurrency }, shards, shard)),
    budgets: Object.fromEntries(parts.map(({ period, nanos }) => [period, nanos[shard]])) as Limits['budgets'],
    isPrepaid,
  }));
};

// A higher limit raises every part, a lower one lowers every part, and parts need not be equal. So no mixture of
// current and new parts adds up to more than the larger of the two limits.
const reshare = (parts: readonly number[], whole: number): number[] => {
  const before = parts.reduce((sum, part) => sum + part, 0);
  if (!Number.isFinite(whole) || !Number.isFinite(before)) return parts.map((_, i) => shareOf(whole, parts.length, i));
  if (whole >= before) return parts.map((part, i) => part + shareOf(whole - before, parts.length, i));
  const lower = parts.map((part) => Math.floor((part * whole) / before));
  let left = whole - lower.reduce((sum, part) => sum + part, 0);
  return lower.map((part, i) => {
    if (left === 0 || part === parts[i]) return part;
    left -= 1;
    return part + 1;
  });
};

// Where a budget is not spent, each shard must stay within its part, or together they could exceed the budget.
const isUnspent = (budget: bigint, period: BudgetPeriod, counted: CountedNanos): boolean =>
  counted.reduce((sum, nanos) => sum + nanos[period], 0n) < budget;

/** Counts that move among shards. */
export interface MovedCounts {
  /** The slot in which all shards count from now on, if they get or give anything. */
  slot: number;
  /** The amounts to add, by counter. */
  by: ReadonlyMap<string, number>;
}

/** A shard's new part of the limits, and the counts for which the parts hold. */
export interface ShardPart {
  limits: Limits;
  /** The most that it can have counted of budgets that are not spent, and the least of those that are. */
  most: Limits['budgets'];
  least: Limits['budgets'];
  /** The counts of the sliding minute that it gets from other shards, or gives to them. */
  moved?: MovedCounts | undefined;
}

const inProportion = (count: number, parts: readonly number[]): number[] => {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  const shares = parts.map((part, i) => (whole > 0 ? Math.floor((count * part) / whole) : i === 0 ? count : 0));
  let left = count - shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => (left-- > 0 ? share + 1 : share));
};

// If the shards have counted a whole new limit, each has then counted its part of it, so a lowered limit applies to
// the next request.
const movedCounts = (items: readonly LimiterItem[], limits: readonly Limits[], slot: number): Map<string, number>[] => {
  const moved = items.map(() => new Map<string, number>());
  if (items.length === 1 || items.some((item) => hasCountedAfter(item, slot))) return moved;
  for (const [kind, limit] of [
    ['r', 'requestsPerMinute'],
    ['t', 'tokensPerMinute'],
  ] as const) {
    const parts = limits.map((part) => part[limit]);
    if (!parts.every(Number.isFinite)) continue;
    for (const name of slotCounters(kind, slot)) {
      const counts = items.map((item) => item[name] ?? 0);
      const shares = inProportion(
        counts.reduce((sum, count) => sum + count, 0),
        parts,
      );
      for (const [i, count] of counts.entries()) {
        const by = (shares[i] as number) - count;
        if (by !== 0) moved[i]?.set(name, by);
      }
    }
  }
  return moved;
};

/** Divides new limits among the existing shards of a key or organization, by what they have counted. */
export const redivide = (whole: Limits, items: readonly LimiterItem[], nowMs: number): ShardPart[] => {
  const counted = items.map((item) => countedNanosAt(item, nowMs));
  const current = items.map(rateLimitsOf);
  // A key's parts are equal, so that one can be guessed from another. Those of an organization's shards are not.
  const isEqual = items.some(isKeyItem);
  const requests = reshare(
    current.map((rates) => rates.requestsPerMinute),
    whole.requestsPerMinute,
  );
  const tokens = reshare(
    current.map((rates) => rates.tokensPerMinute),
    whole.tokensPerMinute,
  );
  const concurrency = reshare(
    current.map((rates) => rates.concurrency),
    whole.concurrency,
  );
  const rates = items.map((_, i) => ({
    requestsPerMinute: requests[i] as number,
    tokensPerMinute: tokens[i] as number,
    concurrency: concurrency[i] as number,
  }));
  const divided = shareLimits(whole, items.length, counted, isEqual ? undefined : rates);
  const slot = slotOf(nowMs);
  const moved = movedCounts(items, divided, slot);
  return divided.map((limits, i) => {
    const budgets = Object.entries(limits.budgets) as [BudgetPeriod, bigint][];
    const unspent = ([period]: [BudgetPeriod, bigint]): boolean => isUnspent(whole.budgets[period] as bigint, period, counted);
    return {
      limits,
      most: Object.fromEntries(budgets.filter(unspent)),
      least: Object.fromEntries(budgets.filter((budget) => !unspent(budget))),
      ...(moved[i]?.size && { moved: { slot, by: moved[i] } }),
    };
  });
};
