import * as z from 'zod';
import { type CreditNote, Party } from '../../../../shared/billing/invoice.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { CreditLineRecord, creditLineRecord } from '../../../../shared/service-levels/service-level.ts';
import { unixSeconds } from '../../../../shared/time/units.ts';
import { FileResource, toFiles } from '../invoices/invoice-resource.ts';

/** A credit note to create: for an amount, or for all that is left of the invoice. */
export const NewCreditNote = z
  .strictObject({
    amount: z
      .string()
      .regex(
        /^(?!0+(\.0+)?$)\d{1,12}(\.\d{1,3})?$/,
        'expected a positive amount with no more decimals than the currency has, such as "12.50"',
      )
      .optional()
      .meta({ description: 'The amount to credit, in whole cents or what the currency of the invoice has instead.', examples: ['12.50'] }),
    whole: z.literal(true).optional().meta({ description: 'Credits all that is left of the invoice.' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Printed on the credit note.' }),
  })
  .refine(({ amount, whole }) => (amount === undefined) !== (whole === undefined), 'expected either `amount` or `whole`');
export type NewCreditNote = z.output<typeof NewCreditNote>;

/** A credit note on the wire. It never changes. */
export const CreditNoteResource = z.object({
  id: z.string(),
  object: z.literal('credit_note'),
  organization: z.string(),
  number: z.string().meta({ description: 'Credit notes have a series of their own. Numbers have no gaps.' }),
  invoice: z.string().meta({ description: 'The id of the invoice that it corrects.' }),
  invoice_number: z.string(),
  currency: z.string(),
  currency_symbol: z.string(),
  seller: Party,
  buyer: Party,
  reason: z.string(),
  note: z.string().nullable().meta({ description: 'What the seller must say, such as about VAT.' }),
  lines: z.array(CreditLineRecord).meta({
    description:
      'Of a credit note for service levels: each promise that was missed, and the numbers that prove it. They add up to the amount.',
  }),
  amount: z.string().meta({ description: 'What is credited: a positive decimal number.', examples: ['12.5'] }),
  issued_at: z.int().meta({ description: 'Unix time in seconds.' }),
  files: z.array(FileResource).meta({ description: 'The files that can be downloaded. They are made once, soon after the issue.' }),
});
export type CreditNoteResource = z.infer<typeof CreditNoteResource>;

/** Converts a credit note to the wire. */
export const toCreditNoteResource = ({
  amount_nanos,
  lines = [],
  issued_at,
  files,
  version: _,
  ...creditNote
}: CreditNote): CreditNoteResource => ({
  ...creditNote,
  note: creditNote.note ?? null,
  object: 'credit_note',
  lines: lines.map(creditLineRecord),
  amount: dollarsOf(amount_nanos),
  issued_at: unixSeconds(issued_at),
  files: toFiles(files),
});
