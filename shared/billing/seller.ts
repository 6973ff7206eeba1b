import * as z from 'zod';

export const LegalName = z.string().trim().min(1).max(200);
export const TaxId = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .meta({ examples: ['DE123456789'] });

/** A postal address as it is printed. */
export const Address = z.strictObject({
  lines: z.array(z.string().trim().min(1).max(100)).min(1).max(6),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'expected an ISO 3166-1 alpha-2 code, such as "DE"')
    .meta({ examples: ['DE'] }),
});
export type Address = z.infer<typeof Address>;

/** Text that the law demands beside the amounts, such as about VAT. */
export const InvoiceNote = z
  .string()
  .trim()
  .min(1)
  .max(1_000)
  .meta({ examples: ['Reverse charge: the customer owes the VAT.'] });

/** The currency and the terms of a seller who sets none, and those of drafts while there is no seller. */
export const DEFAULT_TERMS = { currency: 'USD', currency_symbol: '$', payment_terms_days: 30 };

/** The deployer's company. It is copied to each invoice, so a change applies to later ones only. */
export const Seller = z.object({
  legal_name: LegalName,
  address: Address,
  tax_id: TaxId.nullable().default(null),
  email: z.email().max(254).nullable().default(null).meta({ description: 'Where customers can ask about invoices.' }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code, such as "USD"')
    .default(DEFAULT_TERMS.currency)
    .meta({
      description:
        'The currency of all prices. Amounts called dollars are amounts of this currency. A change converts nothing: prices, budgets, credit and amounts carried forward keep their numbers.',
    }),
  currency_symbol: z.string().min(1).max(4).default(DEFAULT_TERMS.currency_symbol),
  payment_terms_days: z
    .int()
    .min(0)
    .max(365)
    .default(DEFAULT_TERMS.payment_terms_days)
    .meta({ description: 'An invoice is due so many days after its issue.' }),
  payment_instructions: z
    .string()
    .max(1_000)
    .nullable()
    .default(null)
    .meta({ description: 'Printed on invoices, such as a bank account.' }),
  invoice_note: InvoiceNote.nullable()
    .default(null)
    .meta({ description: 'Printed on invoices and credit notes, such as a note about VAT. A billing profile can have another one.' }),
  invoice_prefix: z
    .string()
    .regex(/^[A-Z0-9-]{0,12}$/, 'expected up to 12 capital letters, digits and dashes')
    .default('INV-'),
  credit_note_prefix: z
    .string()
    .regex(/^[A-Z0-9-]{0,12}$/, 'expected up to 12 capital letters, digits and dashes')
    .default('CN-'),
  issue: z
    .enum(['automatic', 'manual'])
    .default('automatic')
    .meta({ description: '`automatic`: invoices are issued when their month is closed. `manual`: an admin issues each draft.' }),
  version: z.int().min(0),
});
export type Seller = z.output<typeof Seller>;
