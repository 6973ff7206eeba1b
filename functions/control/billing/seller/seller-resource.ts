import * as z from 'zod';
import { Seller } from '../../../../shared/billing/seller.ts';

const { version: _, ...fields } = Seller.shape;

/** All fields of the seller; absent ones get their defaults. */
export const NewSeller = z
  .strictObject(fields)
  .refine(
    ({ invoice_prefix, credit_note_prefix }) => invoice_prefix !== credit_note_prefix,
    'expected different prefixes for invoices and credit notes, so that their numbers differ',
  );
export type NewSeller = z.output<typeof NewSeller>;

/** The seller on the wire. */
export const SellerResource = z.object({
  object: z.literal('seller'),
  ...fields,
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type SellerResource = z.output<typeof SellerResource>;
