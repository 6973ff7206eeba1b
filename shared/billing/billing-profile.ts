import * as z from 'zod';
import { Address, InvoiceNote, LegalName, TaxId } from './seller.ts';

const Thresholds = z.array(z.int().min(1).max(100)).max(10).meta({ description: 'Percentages, such as 50, 80 and 100. Empty: no alerts.' });
export const DEFAULT_THRESHOLDS = [50, 80, 100];

/** The buyer, and its alerts. The fields that an invoice shows are copied to it when it is issued. */
export const BillingProfile = z.object({
  organization: z.string(),
  legal_name: LegalName.nullable().default(null).meta({ description: 'Null: the name of the organization.' }),
  address: Address.nullable().default(null),
  tax_id: TaxId.nullable().default(null),
  emails: z
    .array(z.email().max(254))
    .max(10)
    .default([])
    .meta({ description: 'Where invoices and alerts are sent, if email is configured.' }),
  purchase_order: z.string().trim().min(1).max(100).nullable().default(null).meta({ description: 'Printed on invoices.' }),
  payment_terms_days: z
    .int()
    .min(0)
    .max(365)
    .nullable()
    .default(null)
    .meta({ description: 'Null: those of the seller. Changing it requires `billing:issue`.' }),
  invoice_note: InvoiceNote.nullable()
    .default(null)
    .meta({ description: "Printed instead of the seller's, such as a note about reverse charge. Changing it requires `billing:issue`." }),
  stripe_customer: z
    .string()
    .regex(/^cus_\w{1,64}$/, "expected the id of a customer in Stripe, such as 'cus_NffrFeUfNV2Hib'")
    .nullable()
    .default(null)
    .meta({
      description: 'The customer to whom usage is exported, if an export to Stripe is configured. Changing it requires `billing:issue`.',
    }),
  budget_thresholds: Thresholds.default(DEFAULT_THRESHOLDS),
  credit_thresholds: Thresholds.default(DEFAULT_THRESHOLDS),
  version: z.int().min(0).default(0),
});
export type BillingProfile = z.output<typeof BillingProfile>;
