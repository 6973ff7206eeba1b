import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import type { CreditNote, InvoiceLine, ProjectCharge } from '../../../shared/billing/invoice.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { creditLineRecord } from '../../../shared/service-levels/service-level.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { IssuedInvoice } from '../focus/invoice-detail.ts';

// A larger quantity than 9 × 10¹⁵ occurs in no month.
const exactQuantity = (quantity: bigint): number => {
  const number = Number(quantity);
  if (!Number.isSafeInteger(number)) throw new Error(`The quantity ${quantity} is not exact as a number.`);
  return number;
};

const lineOf = ({ quantity, unit_price_nanos, amount_nanos, ...line }: InvoiceLine) => ({
  ...line,
  quantity: quantity === null ? null : exactQuantity(quantity),
  unit_price: unit_price_nanos === null ? null : dollarsOf(unit_price_nanos),
  amount: dollarsOf(amount_nanos),
});

const projectOf = ({ amount_nanos, ...project }: ProjectCharge) => ({ ...project, amount: dollarsOf(amount_nanos) });

/**
 * The JSON of an issued invoice, which never changes: as the control plane returns it, without its state and files.
 * Amounts are decimal text, times are Unix seconds.
 */
export const invoiceJson = (invoice: IssuedInvoice): string => {
  const { id, organization, number, month, currency, currency_symbol, seller, buyer, lines, inputs_sha256, release } = invoice;
  return canonicalJson({
    object: 'invoice',
    id,
    organization,
    number,
    month,
    currency,
    currency_symbol,
    seller,
    buyer,
    purchase_order: invoice.purchase_order,
    payment_terms_days: invoice.payment_terms_days,
    payment_instructions: invoice.payment_instructions,
    note: invoice.note,
    lines: lines.map(lineOf),
    projects: (invoice.projects ?? []).map(projectOf),
    subtotal: dollarsOf(invoice.subtotal_nanos),
    tax: dollarsOf(invoice.tax_nanos),
    total: dollarsOf(invoice.total_nanos),
    carried_forward: dollarsOf(invoice.carried_forward_nanos),
    inputs_sha256,
    release,
    created_at: unixSeconds(invoice.created_at),
    issued_at: unixSeconds(invoice.issued_at),
    due_at: invoice.due_at === null ? null : unixSeconds(invoice.due_at),
  });
};

/** The JSON of a credit note. @param month that of the corrected invoice */
export const creditNoteJson = ({ amount_nanos, lines, issued_at, files: _, version: __, ...note }: CreditNote, month: string): string =>
  canonicalJson({
    object: 'credit_note',
    ...note,
    lines: lines?.map(creditLineRecord),
    month,
    amount: dollarsOf(amount_nanos),
    issued_at: unixSeconds(issued_at),
  });
