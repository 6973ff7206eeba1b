import type { Invoice } from '../invoice.ts';
import { amountLine, sumLines } from './amount-line.ts';
import { divideRounded } from './divide-rounded.ts';
import { minorUnitOf } from './minor-unit.ts';

/** Rounds an amount to the minor unit of a currency, half away from zero. */
export const roundToUnit = (nanos: bigint, currency: string): bigint => {
  const unit = minorUnitOf(currency).nanos;
  return divideRounded(nanos, unit) * unit;
};

/**
 * Rounds the sum of an invoice's lines, half up, and adds a line for the difference in place of an earlier one.
 * @param lines their sum is at least 0
 */
export const roundTotal = ({
  month,
  currency,
  lines,
}: Pick<Invoice, 'month' | 'currency' | 'lines'>): Pick<Invoice, 'lines' | 'total_nanos'> => {
  const exact = lines.filter(({ kind }) => kind !== 'rounding');
  const sum = sumLines(exact);
  const total_nanos = roundToUnit(sum, currency);
  if (total_nanos === sum) return { lines: exact, total_nanos };
  return {
    lines: [...exact, amountLine('rounding', `Rounding to ${minorUnitOf(currency).name}`, month, total_nanos - sum)],
    total_nanos,
  };
};
