import type { CreditNote, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { endOfMonth, startOfMonth } from '../../../shared/billing/month.ts';
import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { CreditLine } from '../../../shared/service-levels/service-level.ts';
import { timeText } from '../focus/charge-units.ts';
import type { IssuedInvoice } from '../focus/invoice-detail.ts';

const CUSTOMER_COLUMNS = ['organization', 'buyer', 'buyer_tax_id', 'purchase_order', 'period_start', 'period_end'] as const;

const INVOICE_COLUMNS = [
  'invoice',
  'issued_at',
  'line',
  'kind',
  'description',
  'month',
  'is_correction',
  'model',
  'token_kind',
  'deployment',
  'deployment_name',
  'instance_type',
  'price_version',
  'quantity',
  'unit',
  'unit_price',
  'amount',
  'currency',
  'rerate_from',
  'due_at',
  ...CUSTOMER_COLUMNS,
] as const;

const CREDIT_NOTE_COLUMNS = [
  'credit_note',
  'issued_at',
  'invoice',
  'reason',
  'amount',
  'currency',
  'invoice_issued_at',
  ...CUSTOMER_COLUMNS,
] as const;

// The columns of a credit note with lines, which has a row for each line.
const CREDIT_LINE_COLUMNS = [
  'line',
  'kind',
  'description',
  'model',
  'measure',
  'threshold',
  'requests',
  'answered',
  'p95_ms',
  'base',
  'percent',
] as const;

type Row<Column extends string> = Partial<Record<Column, Cell | undefined>>;

const csvOf = <Column extends string>(columns: readonly Column[], rows: readonly Row<Column>[]): string =>
  csvLines([columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))]);

const customerCells = ({ organization, buyer, purchase_order, month }: IssuedInvoice): Row<(typeof CUSTOMER_COLUMNS)[number]> => ({
  organization,
  buyer: buyer.legal_name,
  buyer_tax_id: buyer.tax_id,
  purchase_order,
  period_start: timeText(startOfMonth(month)),
  period_end: timeText(endOfMonth(month)),
});

type InvoiceRow = Row<(typeof INVOICE_COLUMNS)[number]>;

const lineCells = ({ is_correction, quantity, unit_price_nanos, amount_nanos, ...names }: InvoiceLine, i: number): InvoiceRow => ({
  ...names,
  line: String(i + 1),
  is_correction: String(is_correction),
  quantity: quantity === null ? null : String(quantity),
  unit_price: unit_price_nanos === null ? null : dollarsOf(unit_price_nanos),
  amount: dollarsOf(amount_nanos),
});

/**
 * An issued invoice as CSV: a row for each line, and one for the total. Prices are per million tokens or per hour;
 * quantities are tokens or seconds × instances.
 */
export const invoiceCsv = (invoice: IssuedInvoice): string => {
  const { number, issued_at, due_at, currency, lines, total_nanos } = invoice;
  const document: InvoiceRow = {
    invoice: number,
    issued_at: timeText(issued_at),
    due_at: due_at === null ? null : timeText(due_at),
    currency,
    ...customerCells(invoice),
  };
  const total: InvoiceRow = { kind: 'total', description: 'Total due', amount: dollarsOf(total_nanos) };
  return csvOf(
    INVOICE_COLUMNS,
    [...lines.map(lineCells), total].map((cells) => ({ ...document, ...cells })),
  );
};

type CreditNoteRow = Row<(typeof CREDIT_NOTE_COLUMNS)[number] | (typeof CREDIT_LINE_COLUMNS)[number]>;

const cellOf = (number: number | null): Cell => (number === null ? null : String(number));

const creditLineCells = (line: CreditLine, i: number): CreditNoteRow => ({
  line: String(i + 1),
  kind: line.kind,
  description: line.description,
  model: line.model,
  measure: line.measure,
  threshold: line.threshold,
  requests: cellOf(line.requests),
  answered: cellOf(line.answered),
  p95_ms: cellOf(line.p95_ms),
  base: line.base_nanos === null ? null : dollarsOf(line.base_nanos),
  percent: cellOf(line.percent),
  amount: dollarsOf(-line.amount_nanos),
});

/** A credit note as CSV: one row, or a row for each of its lines. @param invoice the corrected one */
export const creditNoteCsv = (note: CreditNote, invoice: IssuedInvoice): string => {
  const { number, issued_at, invoice_number, reason, amount_nanos, currency, buyer } = note;
  const row: CreditNoteRow = {
    credit_note: number,
    issued_at: timeText(issued_at),
    invoice: invoice_number,
    reason,
    amount: dollarsOf(-amount_nanos),
    currency,
    invoice_issued_at: timeText(invoice.issued_at),
    ...customerCells({ ...invoice, buyer }),
  };
  if (!note.lines) return csvOf<(typeof CREDIT_NOTE_COLUMNS)[number]>(CREDIT_NOTE_COLUMNS, [row]);
  return csvOf(
    [...CREDIT_NOTE_COLUMNS, ...CREDIT_LINE_COLUMNS],
    note.lines.map((line, i) => ({ ...row, ...creditLineCells(line, i) })),
  );
};
