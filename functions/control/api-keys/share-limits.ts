import type { KeySettings } from '../../../shared/admission/key-item.ts';
import type { Limits, Period } from '../../../shared/admission/limits.ts';
import { MIN_BUDGET_NANOS, shareOf, shareOfNanos, usableShards } from '../../../shared/admission/shards.ts';
import { toLimits } from '../limits/limits.ts';
import type { StoredApiKey } from './api-key.ts';

/**
 * Each shard's part of a key's budget, by what the shards have counted, so that together they spend no more than the budget and can spend what is
 * left of it: on the first `usable` shards, or on fewer where the parts would be too small for a request.
 * @returns a part for each shard; they add up to the budget. Unless the budget is spent, no part is below what its shard has counted.
 */
export const shareBudget = (budgetNanos: bigint, countedNanos: readonly bigint[], usable: number): bigint[] => {
  const counted = countedNanos.reduce((sum, amount) => sum + amount, 0n);
  // The budget is spent: every shard has counted its part, so none spends more, and in the next day or month they have the budget again.
  if (counted > 0n && counted >= budgetNanos) {
    const parts = countedNanos.map((amount) => (amount * budgetNanos) / counted);
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
export type Counted = readonly Readonly<Record<Period, bigint>>[];

/** Divides a key's limits among its shards. @param counted absent for a new key */
export const shareLimits = (
  { requestsPerMinute, tokensPerMinute, concurrency, budgets, isPrepaid }: Limits,
  shards: number,
  counted: Counted = Array.from({ length: shards }, () => ({ day: 0n, month: 0n, total: 0n })),
): Limits[] => {
  const usable = usableShards(shards, { requestsPerMinute, concurrency });
  const parts = Object.entries(budgets).map(([name, budget]) => {
    const period = name as Period;
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
    requestsPerMinute: shareOf(requestsPerMinute, shards, shard),
    tokensPerMinute: shareOf(tokensPerMinute, shards, shard),
    concurrency: shareOf(concurrency, shards, shard),
    budgets: Object.fromEntries(parts.map(({ period, nanos }) => [period, nanos[shard]])) as Limits['budgets'],
    isPrepaid,
  }));
};

const MS = 1_000;

/** The settings of each limiter item of a key, in the order of its shards. */
export const settingsOf = (
  { status, limits, budgets, shards, models, expires_at, no_content }: Omit<StoredApiKey, 'version'>,
  counted?: Counted,
): KeySettings[] => {
  const whole = toLimits({ limits, budgets });
  const expiresAtMs = expires_at === null ? null : expires_at * MS;
  const common = { status, whole, shards, models, expiresAtMs, keepsNoContent: no_content };
  return shareLimits(whole, shards, counted).map((part) => ({ ...common, limits: part }));
};
