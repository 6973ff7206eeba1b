import * as z from 'zod';
import { DEFAULT_TERMS, Seller } from '../../../../shared/billing/seller.ts';

const { version: _, ...fields } = Seller.shape;

/** All fields of the seller; absent ones get their defaults, the currency and its symbol by `withCurrency`. */
export const NewSeller = z
  .strictObject({
    ...fields,
    currency: fields.currency
      .removeDefault()
      .optional()
      .meta({
        description: `${fields.currency.description} Default: ${DEFAULT_TERMS.currency}, unless the seller has another currency: it is then required.`,
      }),
    currency_symbol: fields.currency_symbol
      .removeDefault()
      .optional()
      .meta({
        description: `Default: \`${DEFAULT_TERMS.currency_symbol}\` for ${DEFAULT_TERMS.currency}, and otherwise the code of the currency.`,
      }),
  })
  .refine(
    ({ invoice_prefix, credit_note_prefix }) => invoice_prefix !== credit_note_prefix,
    'expected different prefixes for invoices and credit notes, so that their numbers differ',
  );
export type NewSeller = z.output<typeof NewSeller>;

/** The fields of a new seller, with the currency and a symbol that belongs to it. */
export const withCurrency = (body: NewSeller): Omit<Seller, 'version'> => {
  const { currency = DEFAULT_TERMS.currency } = body;
  const symbol = currency === DEFAULT_TERMS.currency ? DEFAULT_TERMS.currency_symbol : currency;
  return { ...body, currency, currency_symbol: body.currency_symbol ?? symbol };
};

/** The seller on the wire. */
export const SellerResource = z.object({
  object: z.literal('seller'),
  ...fields,
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type SellerResource = z.output<typeof SellerResource>;
