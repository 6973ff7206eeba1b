import { DAY_MS } from '../../time/units.ts';
import type { BudgetPeriod } from './limits.ts';

/**
 * Pure rules of a limiter's spending, in nano-dollars. Counts include spent money and money held for requests in
 * flight, so a request that fits can be paid whatever the other requests turn out to cost.
 */

/** The UTC day of an instant, counted from the epoch. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** The UTC month of an instant: 202611. */
export const monthOf = (ms: number): number => {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
};

export const monthBefore = (month: number): number => (month % 100 === 1 ? month - 89 : month - 1);

export const monthAfter = (month: number): number => (month % 100 === 12 ? month + 89 : month + 1);

export interface Budget {
  period: BudgetPeriod;
  limitNanos: bigint;
  countedNanos: bigint;
}

export interface Money {
  budgets: readonly Budget[];
  /** Prepaid credit that is left; absent: not prepaid. */
  creditNanos?: bigint;
  /** The part of the counts, or of the used credit, that requests in flight hold and can release. */
  heldNanos: bigint;
}

export interface MoneyRefusal {
  dimension: 'budget' | 'credit';
  period?: BudgetPeriod;
  /** The request can fit after requests in flight release what they do not use. */
  isHeld: boolean;
  retryAfterMs: number;
}

// Requests in flight end at unknown times.
const HELD_RETRY_MS = 1_000;
// Nobody knows when credit is added or a budget is raised.
const EMPTY_RETRY_MS = 3_600_000;

const untilNext = (period: BudgetPeriod, nowMs: number): number => {
  if (period === 'day') return DAY_MS - (nowMs % DAY_MS);
  if (period === 'total') return EMPTY_RETRY_MS;
  const date = new Date(nowMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - nowMs;
};

/**
 * The reason why a request that can cost `holdNanos` cannot be paid, with the longest wait; undefined if it can. A
 * cost of 0 can always be paid.
 */
export const moneyRefusalOf = ({ budgets, creditNanos, heldNanos }: Money, holdNanos: bigint, nowMs: number): MoneyRefusal | undefined => {
  if (holdNanos === 0n) return undefined;
  const refusals: MoneyRefusal[] = [];
  for (const { period, limitNanos, countedNanos } of budgets) {
    const missing = countedNanos + holdNanos - limitNanos;
    if (missing <= 0n) continue;
    const isHeld = missing <= heldNanos;
    refusals.push({ dimension: 'budget', period, isHeld, retryAfterMs: isHeld ? HELD_RETRY_MS : untilNext(period, nowMs) });
  }
  if (creditNanos !== undefined && creditNanos < holdNanos) {
    const isHeld = creditNanos + heldNanos >= holdNanos;
    refusals.push({ dimension: 'credit', isHeld, retryAfterMs: isHeld ? HELD_RETRY_MS : EMPTY_RETRY_MS });
  }
  return refusals.reduce<MoneyRefusal | undefined>(
    (longest, refusal) => (longest && longest.retryAfterMs >= refusal.retryAfterMs ? longest : refusal),
    undefined,
  );
};
