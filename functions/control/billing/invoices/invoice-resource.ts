import * as z from 'zod';
import { FileFormat, type Invoice, InvoiceLine, InvoiceState, LineKind, Party, TokenKind } from '../../../../shared/billing/invoice.ts';
import { exactInteger } from '../../../../shared/http/json/json-numbers.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';

const amount = (description: string) => z.string().meta({ description: `${description} An exact decimal number.`, examples: ['12.5'] });
const time = (description: string) =>
  z
    .int()
    .nullable()
    .meta({ description: `${description} Unix time in seconds.` });

const Line = z.object({
  kind: LineKind,
  description: z.string(),
  month: z
    .string()
    .meta({ description: "The UTC month of the usage; earlier than the invoice's for a correction.", examples: ['2026-10'] }),
  is_correction: z.boolean().meta({ description: 'It charges or credits usage of a month that was closed before.' }),
  model: z.string().nullable(),
  token_kind: TokenKind.nullable(),
  deployment: z.string().nullable(),
  deployment_name: z.string().nullable(),
  instance_type: z.string().nullable(),
  price_version: z.string().nullable(),
  rerate_from: z.string().nullable().meta({ description: 'Of an adjustment: the price version by which the usage was rated before.' }),
  quantity: z
    .unknown()
    .meta({ type: ['integer', 'null'], description: 'Tokens, or seconds × instances; null for lines that are only an amount.' }),
  unit: InvoiceLine.shape.unit,
  unit_price: z
    .string()
    .nullable()
    .meta({ description: 'The price of 1,000,000 tokens or of an instance-hour; null if it is not known any more.' }),
  amount: amount('What the line charges; negative for a credit.'),
});

const Project = z.object({
  project_id: z.string().nullable().meta({ description: 'The project in which the requests were admitted; null: none.' }),
  requests: z.int(),
  amount: amount('The cost of these requests.'),
});

export const FileResource = z.object({ format: FileFormat, sha256: z.string(), bytes: z.int() });

/** An invoice without its lines, as in lists. */
export const InvoiceSummary = z.object({
  id: z.string(),
  object: z.literal('invoice'),
  organization: z.string(),
  month: z.string().meta({ description: 'The UTC month that it bills.', examples: ['2026-10'] }),
  state: InvoiceState,
  number: z.string().nullable().meta({ description: 'Assigned when the invoice is issued. Numbers have no gaps.' }),
  currency: z.string(),
  currency_symbol: z.string(),
  seller: Party.nullable(),
  buyer: Party,
  purchase_order: z.string().nullable(),
  payment_terms_days: z.int(),
  payment_instructions: z.string().nullable(),
  note: z.string().nullable().meta({ description: 'What the seller must say, such as about VAT. Null for a draft.' }),
  subtotal: amount('The sum of all lines except taxes and rounding.'),
  tax: amount('The sum of the tax lines.'),
  total: amount('What is to be paid: the sum of all lines, in whole cents or what the currency has instead.'),
  carried_forward: amount('What the next invoice credits: 0 or negative.'),
  credited: amount('The sum of its credit notes.'),
  inputs_sha256: z.string().meta({ description: 'The SHA-256 of what the invoice was made from, in hexadecimal.' }),
  release: z.string().meta({ description: 'The version of Sluice that made it.' }),
  created_at: z.int().meta({ description: 'When the month could be closed. Unix time in seconds.' }),
  issued_at: time('Null for a draft.'),
  due_at: time('When it is due.'),
  paid_at: time('When it was paid.'),
  payment_reference: z.string().nullable(),
  voided_at: time('When it became void.'),
  void_reason: z.string().nullable(),
  files: z.array(FileResource).meta({ description: 'The files that can be downloaded. They are made once, soon after the issue.' }),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type InvoiceSummary = z.infer<typeof InvoiceSummary>;

/** An invoice on the wire. */
export const InvoiceResource = InvoiceSummary.extend({
  lines: z.array(Line),
  projects: z.array(Project).meta({
    description:
      'The annex: what API keys in each project used of models, with corrections, before credit and taxes; last, what keys in no project used. The amounts add up to the lines of models. Empty if no request was in a project.',
  }),
});
export type InvoiceResource = z.infer<typeof InvoiceResource>;

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms));

const toLine = ({ rerate_from = null, quantity, unit_price_nanos, amount_nanos, ...line }: InvoiceLine): z.infer<typeof Line> => ({
  ...line,
  rerate_from,
  quantity: quantity === null ? null : exactInteger(quantity),
  unit_price: unit_price_nanos === null ? null : dollarsOf(unit_price_nanos),
  amount: dollarsOf(amount_nanos),
});

/** Converts the files of a document to the wire. */
export const toFiles = (files: Invoice['files']): z.infer<typeof FileResource>[] =>
  FileFormat.options.flatMap((format) => {
    const file = files[format];
    return file ? [{ format, sha256: file.sha256, bytes: file.bytes }] : [];
  });

/** Converts an invoice to the wire, without its lines. */
export const toSummary = (invoice: Invoice): InvoiceSummary => ({
  id: invoice.id,
  object: 'invoice',
  organization: invoice.organization,
  month: invoice.month,
  state: invoice.state,
  number: invoice.number,
  currency: invoice.currency,
  currency_symbol: invoice.currency_symbol,
  seller: invoice.seller,
  buyer: invoice.buyer,
  purchase_order: invoice.purchase_order,
  payment_terms_days: invoice.payment_terms_days,
  payment_instructions: invoice.payment_instructions,
  note: invoice.note ?? null,
  subtotal: dollarsOf(invoice.subtotal_nanos),
  tax: dollarsOf(invoice.tax_nanos),
  total: dollarsOf(invoice.total_nanos),
  carried_forward: dollarsOf(invoice.carried_forward_nanos),
  credited: dollarsOf(invoice.credited_nanos),
  inputs_sha256: invoice.inputs_sha256,
  release: invoice.release,
  created_at: unixSeconds(invoice.created_at),
  issued_at: secondsOrNull(invoice.issued_at),
  due_at: secondsOrNull(invoice.due_at),
  paid_at: secondsOrNull(invoice.paid_at),
  payment_reference: invoice.payment_reference,
  voided_at: secondsOrNull(invoice.voided_at),
  void_reason: invoice.void_reason,
  files: toFiles(invoice.files),
  version: invoice.version,
});

/** Converts an invoice to the wire. */
export const toInvoiceResource = (invoice: Invoice): InvoiceResource => ({
  ...toSummary(invoice),
  lines: invoice.lines.map(toLine),
  projects: (invoice.projects ?? []).map(({ amount_nanos, ...project }) => ({ ...project, amount: dollarsOf(amount_nanos) })),
});
