import { temporarySince } from '../../../shared/admission/item/key-item.ts';
import {
  countedNanosAt,
  entriesOf,
  type LimiterItem,
  limitsOf,
  moneyCountersAt,
  moneyCountersOf,
  PERIODS,
} from '../../../shared/admission/item/limiter-item.ts';
import type { BudgetPeriod } from '../../../shared/admission/item/limits.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';

/** The spent part of a budget, in nano-dollars. */
export interface BudgetUse {
  period: BudgetPeriod;
  /**
   * Such as `2026-11-21`, `2026-11`; a budget in total has one period for each amount. Each temporary key of an id has
   * periods of its own.
   */
  periodId: string;
  budgetNanos: bigint;
  /** Without what is held for requests in flight. */
  spentNanos: bigint;
  hasEnded: boolean;
}

const MONTH_CHARACTERS = 7;
const DAY_CHARACTERS = 10;

const periodIdOf = (period: BudgetPeriod, budgetNanos: bigint, nowMs: number): string => {
  const now = new Date(nowMs).toISOString();
  switch (period) {
    case 'day':
      return now.slice(0, DAY_CHARACTERS);
    case 'month':
      return now.slice(0, MONTH_CHARACTERS);
    case 'total':
      return `total ${budgetNanos}`;
  }
};

const heldNanosIn = (item: LimiterItem, period: BudgetPeriod, nowMs: number): bigint => {
  const counter = moneyCountersAt(nowMs)[period];
  return entriesOf(item).reduce((held, [id, { holdNanos }]) => (moneyCountersOf(id)[period] === counter ? held + holdNanos : held), 0n);
};

// By then, requests of a day or month that has ended are settled, and have been added up.
const EVALUATED_MS = HOUR_MS;

const usesAt = (item: LimiterItem, ms: number): Omit<BudgetUse, 'hasEnded'>[] => {
  const { budgets } = limitsOf(item);
  const counted = countedNanosAt(item, ms);
  const since = temporarySince(item);
  return PERIODS.flatMap((period) => {
    const budgetNanos = budgets[period];
    if (budgetNanos === undefined) return [];
    const spentNanos = counted[period] - heldNanosIn(item, period, ms);
    const periodId = periodIdOf(period, budgetNanos, ms) + (since === undefined ? '' : ` since ${since}`);
    return [{ period, periodId, budgetNanos, spentNanos }];
  });
};

/**
 * The use of each budget of a key, project or organization; during the first hour of a day or month, first that of the
 * last one. @param item its shards, merged
 */
export const budgetUseOf = (item: LimiterItem, nowMs: number): BudgetUse[] => {
  const current = usesAt(item, nowMs);
  const ended = usesAt(item, nowMs - EVALUATED_MS).filter(({ periodId }) => current.every((use) => use.periodId !== periodId));
  return [...ended.map((use) => ({ ...use, hasEnded: true })), ...current.map((use) => ({ ...use, hasEnded: false }))];
};
