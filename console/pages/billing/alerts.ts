import { fromUnits, toUnits } from '../../design/format/amounts.ts';

const MAX_ALERTS = 10;
const WHOLE = 100n;
// The service counts 99.5 % as all, because requests that don't fit a budget are refused before it is used up.
const FULL_PER_MILLE = 995n;
const PER_MILLE = 1_000n;

/** An alert of a budget. */
export interface AlertRow {
  percent: number;
  /** The exact amount at which it is sent. */
  amount: string;
  isReached: boolean;
}

/** The alerts of a budget, the lowest first. @param spent, budget amounts */
export const alertsOf = (percentages: readonly number[], { spent, budget }: { spent: string; budget: string }): readonly AlertRow[] => {
  const [used, whole] = [toUnits(spent), toUnits(budget)];
  return [...new Set(percentages)]
    .sort((one, other) => one - other)
    .map((percent) => ({
      percent,
      amount: fromUnits((whole * BigInt(percent)) / WHOLE),
      isReached: BigInt(percent) >= WHOLE ? used * PER_MILLE >= whole * FULL_PER_MILLE : used * WHOLE >= whole * BigInt(percent),
    }));
};

/** Percentages as their field has them. */
export const percentText = (percentages: readonly number[]): string => percentages.join(', ');

/** The percentages in a field: whole ones from 1 to 100, at most ten; undefined if the text has anything else. */
export const percentagesIn = (text: string): number[] | undefined => {
  const parts = text.split(/[\s,;%]+/).filter(Boolean);
  if (parts.length > MAX_ALERTS || !parts.every((part) => /^([1-9]\d?|100)$/.test(part))) return undefined;
  return [...new Set(parts.map(Number))].sort((one, other) => one - other);
};
