import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import { CreditLine, ServiceLevel } from '../service-levels/service-level.ts';
import { Nanos } from '../usage/event.ts';
import { ReplacedMonth } from './billed-month.ts';
import { Address } from './seller.ts';

/**
 * Kinds of an invoice's lines. `tokens`: tokens of a kind at a price. `metering_difference`: the difference between the
 * exact cost of the events of a model or deployment at a price version, and their quantity × price; each event is
 * rounded to the nano-dollar and never charged more than was held for it. `gpu_time`: instances of a deployment.
 * `prepaid_credit`: the part that was paid from credit. `adjustment`: events that were rated again. `carried_forward`:
 * a negative total of the last invoice. `tax`: of the hook. `rounding`: of the total to the minor unit.
 */
export const LineKind = z.enum([
  'tokens',
  'metering_difference',
  'gpu_time',
  'adjustment',
  'prepaid_credit',
  'carried_forward',
  'tax',
  'rounding',
]);
export const TokenKind = z.enum(['prompt', 'cached_prompt', 'completion']);
export type TokenKind = z.infer<typeof TokenKind>;

/** A line at rest. Amounts are nano-dollars. */
export const InvoiceLine = z.object({
  kind: LineKind,
  description: z.string(),
  /** The UTC month of the usage, such as `2026-10`: earlier than the invoice's for a correction. */
  month: z.string(),
  /** It charges or credits usage of a month that was closed before. */
  is_correction: z.boolean(),
  model: z.string().nullable(),
  token_kind: TokenKind.nullable(),
  /** The deployment's id, and its served name at that time. */
  deployment: z.string().nullable(),
  deployment_name: z.string().nullable(),
  instance_type: z.string().nullable(),
  price_version: z.string().nullable(),
  /** Only an `adjustment`: the price version by which the usage was rated before. Lines of release 0.1.0 lack it. */
  rerate_from: z.string().nullable().optional(),
  /** Tokens, or seconds × instances; null for lines that are only an amount. */
  quantity: StoredInteger.nullable(),
  unit: z.enum(['token', 'second']).nullable(),
  /** Nano-dollars per 1,000,000 tokens or per instance-hour; null if it is unknown because the price was removed. */
  unit_price_nanos: StoredInteger.nullable(),
  amount_nanos: Nanos,
});
export type InvoiceLine = z.output<typeof InvoiceLine>;

/** The requests of the API keys of a project, among those that an invoice charges. */
export const ProjectCharge = z.object({
  /** Null: of API keys in no project. */
  project_id: z.string().nullable(),
  requests: z.int(),
  /** Negative if corrections credit more than is charged. */
  amount_nanos: Nanos,
});
export type ProjectCharge = z.output<typeof ProjectCharge>;

export const InvoiceState = z.enum(['draft', 'issued', 'paid', 'void']);
export type InvoiceState = z.infer<typeof InvoiceState>;

/** The seller or buyer as printed. */
export const Party = z.object({
  legal_name: z.string(),
  address: Address.nullable(),
  tax_id: z.string().nullable(),
  email: z.string().nullable(),
});

/** A file made of an issued invoice, in the bucket for billing. */
export const RenderedFile = z.object({ key: z.string(), sha256: z.string(), bytes: z.int() });
export type RenderedFile = z.infer<typeof RenderedFile>;
export const FileFormat = z.enum(['pdf', 'csv', 'focus', 'json']);
export type FileFormat = z.infer<typeof FileFormat>;
const RenderedFiles = z.partialRecord(FileFormat, RenderedFile);

/** The ends of the files' names. */
export const FILE_ENDINGS: Readonly<Record<FileFormat, string>> = { pdf: '.pdf', csv: '.csv', focus: '-focus.csv', json: '.json' };

/**
 * An invoice at rest: of an organization for a UTC month. Once it is issued, only `state`, `paid_at`,
 * `payment_reference`, `voided_at`, `void_reason`, `credited_nanos`, `files` and `version` change.
 */
export const Invoice = z.object({
  id: z.string(),
  organization: z.string(),
  /** `2026-10`. */
  month: z.string(),
  state: InvoiceState,
  /** Assigned when it is issued: the seller's prefix and a number without gaps. */
  number: z.string().nullable(),
  currency: z.string(),
  currency_symbol: z.string(),
  seller: Party.nullable(),
  buyer: Party,
  purchase_order: z.string().nullable(),
  payment_terms_days: z.int(),
  payment_instructions: z.string().nullable(),
  /** Text that the law demands, such as about VAT. Invoices of release 0.1.0 lack it, and drafts have none yet. */
  note: z.string().nullable().optional(),
  lines: z.array(InvoiceLine),
  /**
   * The annex: the charges for models by project, with corrections, before credit and taxes. They add up to the lines
   * of models. None if no request was in a project. Invoices of release 0.1.0 lack it.
   */
  projects: z.array(ProjectCharge).optional(),
  /** The service levels of models with a promise for the month; absent: there were none. */
  service_levels: z.array(ServiceLevel).optional(),
  /**
   * The sum of all lines except taxes and rounding; the taxes; and the sum of all lines, in whole units of its
   * currency, such as cents, and at least 0.
   */
  subtotal_nanos: Nanos,
  tax_nanos: Nanos,
  total_nanos: Nanos,
  /** A negative total that is left to the next invoice: 0 or less. */
  carried_forward_nanos: Nanos,
  /** The sum of its credit notes. */
  credited_nanos: Nanos,
  /** SHA-256 (hex) of the canonical JSON of its inputs, which are in the file `inputs`. */
  inputs_sha256: z.string(),
  inputs: RenderedFile.nullable(),
  /** The billed months that it changed, as they were before: if it becomes void, they are billed so again. */
  replaced: z.array(ReplacedMonth).default([]),
  /** The version of the code that closed the month. */
  release: z.string(),
  /** Milliseconds since the epoch. */
  created_at: z.int(),
  issued_at: z.int().nullable(),
  due_at: z.int().nullable(),
  paid_at: z.int().nullable(),
  /** The payment, such as the reference of a bank transfer. */
  payment_reference: z.string().nullable().default(null),
  voided_at: z.int().nullable(),
  void_reason: z.string().nullable(),
  /** Rendered once after the issue: by format. */
  files: RenderedFiles,
  version: z.int().min(1),
});
export type Invoice = z.output<typeof Invoice>;

/** True if something of an invoice is left to pay: not if prepaid credit paid it all, or it was credited whole. */
export const isOpen = ({ state, total_nanos, credited_nanos }: Pick<Invoice, 'state' | 'total_nanos' | 'credited_nanos'>): boolean =>
  state === 'issued' && credited_nanos < total_nanos;

/** A credit note: corrects an issued invoice, and never changes. */
export const CreditNote = z.object({
  id: z.string(),
  organization: z.string(),
  number: z.string(),
  /** The invoice that it corrects. */
  invoice: z.string(),
  invoice_number: z.string(),
  currency: z.string(),
  currency_symbol: z.string(),
  seller: Party,
  buyer: Party,
  reason: z.string(),
  /** The note of its invoice. */
  note: z.string().nullable().optional(),
  /** Only a credit note for service levels has lines: they add up to the amount. */
  lines: z.array(CreditLine).optional(),
  /** The credited amount, positive, in whole units of its currency, such as cents. */
  amount_nanos: Nanos,
  issued_at: z.int(),
  files: RenderedFiles,
  version: z.int().min(1),
});
export type CreditNote = z.output<typeof CreditNote>;
