import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';

/** A sum below the lines of an invoice. */
export interface Total {
  label: string;
  nanos: bigint;
}

/** True if lines of a kind are printed as credit: paid before, or carried from or to another invoice. */
export const isCredit = (kind: InvoiceLine['kind']): boolean => kind === 'prepaid_credit' || kind === 'carried_forward';

const sumOf = (lines: readonly InvoiceLine[]): bigint => lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n);

/** The sums between an invoice's lines and its total: charges, credit, subtotal, taxes and rounding. */
export const totalsOf = ({ lines, subtotal_nanos, tax_nanos }: Pick<Invoice, 'lines' | 'subtotal_nanos' | 'tax_nanos'>): Total[] => {
  const ofKind = (wanted: InvoiceLine['kind']): InvoiceLine[] => lines.filter(({ kind }) => kind === wanted);
  const credits = lines.filter(({ kind }) => isCredit(kind));
  const taxes = ofKind('tax').map(({ description, amount_nanos }) => ({ label: description, nanos: amount_nanos }));
  const roundings = ofKind('rounding');
  return [
    { label: 'Charges', nanos: subtotal_nanos - sumOf(credits) },
    ...(credits.length === 0 ? [] : [{ label: 'Credit', nanos: sumOf(credits) }]),
    { label: 'Subtotal', nanos: subtotal_nanos },
    ...(taxes.length === 0 ? [{ label: 'Tax', nanos: tax_nanos }] : taxes),
    ...(roundings.length === 0 ? [] : [{ label: 'Rounding', nanos: sumOf(roundings) }]),
  ];
};
