import type { Period } from './limits.ts';

/**
 * What a limiter may spend, pure: nano-dollars and instants come in. Counted is what was spent and what is held for requests in
 * flight, so a request that fits can be paid whatever the others turn out to cost.
 */
const DAY_MS = 24 * 60 * 60_000;

/** The day since the epoch (UTC) that an instant lies in. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** The month (UTC) that an instant lies in: 202611. */
export const monthOf = (ms: number): number => {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
};

/** The month before one. */
export const monthBefore = (month: number): number => (month % 100 === 1 ? month - 89 : month - 1);

export interface Budget {
  period: Period;
  limitNanos: bigint;
  countedNanos: bigint;
}

export interface Money {
  budgets: readonly Budget[];
  /** What is left of a prepaid credit; absent: nothing is prepaid. */
  creditNanos?: bigint;
  /** Of what is counted, or gone from the credit, what requests in flight hold and may give back. */
  heldNanos: bigint;
}

/** Why a request cannot be paid. */
export interface MoneyRefusal {
  dimension: 'budget' | 'credit';
  period?: Period;
  /** It fits once the requests in flight have given back what they do not need. */
  isHeld: boolean;
  retryAfterMs: number;
}

/** Requests in flight end at some time that nobody can foretell. */
const HELD_RETRY_MS = 1_000;
/** Nobody knows when credit is added or a budget raised. */
const EMPTY_RETRY_MS = 3_600_000;

const untilNext = (period: Period, nowMs: number): number => {
  if (period === 'day') return DAY_MS - (nowMs % DAY_MS);
  if (period === 'total') return EMPTY_RETRY_MS;
  const date = new Date(nowMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - nowMs;
};

/** Whether a request that may cost `holdNanos` can be paid, and if not, what is in its way for longest. One that costs nothing always can. */
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
