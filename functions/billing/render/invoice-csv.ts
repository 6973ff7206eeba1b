import type { CreditNote } from '../../../shared/billing/invoice.ts';
import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { IssuedInvoice } from '../focus/invoice-detail.ts';
import { timeText } from '../focus/units.ts';

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
];

/** The lines of an issued invoice as CSV. Prices are per million tokens or per hour; quantities are tokens or seconds × instances. */
export const invoiceCsv = ({ number, issued_at, currency, lines }: IssuedInvoice): string =>
  csvLines([
    INVOICE_COLUMNS,
    ...lines.map((line, i): Cell[] => [
      number,
      timeText(issued_at),
      String(i + 1),
      line.kind,
      line.description,
      line.month,
      String(line.is_correction),
      line.model,
      line.token_kind,
      line.deployment,
      line.deployment_name,
      line.instance_type,
      line.price_version,
      line.quantity === null ? null : String(line.quantity),
      line.unit,
      line.unit_price_nanos === null ? null : dollarsOf(line.unit_price_nanos),
      dollarsOf(line.amount_nanos),
      currency,
    ]),
  ]);

/** A credit note as CSV: one row. */
export const creditNoteCsv = ({ number, issued_at, invoice_number, reason, amount_nanos, currency }: CreditNote): string =>
  csvLines([
    ['credit_note', 'issued_at', 'invoice', 'reason', 'amount', 'currency'],
    [number, timeText(issued_at), invoice_number, reason, dollarsOf(-amount_nanos), currency],
  ]);
