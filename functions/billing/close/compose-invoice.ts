import { amountLine, sumLines } from '../../../shared/billing/amounts/amount-line.ts';
import { roundTotal } from '../../../shared/billing/amounts/round-total.ts';
import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import type { ChargeGroup } from './charge-group.ts';
import type { InvoicePrices } from './invoice-prices.ts';
import { usageLines } from './line.ts';

/** A month's charges, from usage and earlier invoices, before taxes. */
export interface MonthCharges {
  month: string;
  /** Groups by month: the invoice's own month, and the differences to what was billed for earlier months. */
  groups: ReadonlyMap<string, readonly ChargeGroup[]>;
  prices: InvoicePrices;
  /** The amount that the last invoice carried forward: 0 or less. */
  carriedNanos: bigint;
}

/**
 * The lines of an invoice before taxes: those of its month, then corrections of earlier months, then the amount carried
 * forward.
 * @returns none if no usage is charged or credited; the amount carried forward then waits for the next invoice
 */
export const chargeLines = ({ month, groups, prices, carriedNanos }: MonthCharges): InvoiceLine[] => {
  const others = [...groups.keys()].filter((each) => each !== month).sort();
  const lines = [month, ...others].flatMap((each) =>
    usageLines(groups.get(each) ?? [], { month: each, isCorrection: each !== month }, prices),
  );
  if (lines.length === 0 || carriedNanos === 0n) return lines;
  return [...lines, amountLine('carried_forward', 'Carried forward from the last invoice', month, carriedNanos)];
};

/** A line that the tax function returns. */
export interface Tax {
  description: string;
  amount_nanos: bigint;
}

/** The lines and sums of an invoice, as in `Invoice`. */
export interface InvoiceTotals {
  lines: InvoiceLine[];
  subtotal_nanos: bigint;
  tax_nanos: bigint;
  total_nanos: bigint;
  carried_forward_nanos: bigint;
}

/**
 * Adds taxes, and rounds the total to whole units of its currency, such as cents, half up. A negative total is carried
 * forward, and the invoice's total is then 0.
 */
export const composeInvoice = (
  { month, currency }: Pick<Invoice, 'month' | 'currency'>,
  charges: readonly InvoiceLine[],
  taxes: readonly Tax[],
): InvoiceTotals => {
  const taxLines = taxes.map(({ description, amount_nanos }) => amountLine('tax', description, month, amount_nanos));
  const exact = sumLines([...charges, ...taxLines]);
  const carried = exact < 0n ? exact : 0n;
  const untaxed =
    carried === 0n ? charges : [...charges, amountLine('carried_forward', 'Carried forward to the next invoice', month, -carried)];
  return {
    ...roundTotal({ month, currency, lines: [...untaxed, ...taxLines] }),
    subtotal_nanos: sumLines(untaxed),
    tax_nanos: sumLines(taxLines),
    carried_forward_nanos: carried,
  };
};
