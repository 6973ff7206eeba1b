import * as z from 'zod';
import { minorUnitOf } from '../../../shared/billing/amounts/minor-unit.ts';
import { DEFAULT_TERMS, type Seller } from '../../../shared/billing/seller.ts';

/** The currency of all prices, budgets and costs on the wire: the seller's. */
export const Currency = z.object({
  code: z.string().meta({ description: 'The ISO 4217 code.', examples: ['USD'] }),
  symbol: z.string().meta({ description: 'How invoices write it.', examples: ['$'] }),
  decimals: z.int().meta({ description: 'The decimals of what is paid: 2 if the currency has cents.', examples: [2] }),
});
export type Currency = z.infer<typeof Currency>;

/** Reads the currency of all prices. */
export interface CurrencyReads {
  /** The currency of all prices. */
  currency: () => Promise<Currency>;
}

/** The currency of a seller; US dollars until an admin has set the seller. */
export const currencyOf = (seller: Pick<Seller, 'currency' | 'currency_symbol'> | undefined): Currency => {
  const { currency: code, currency_symbol: symbol } = seller ?? DEFAULT_TERMS;
  return { code, symbol, decimals: minorUnitOf(code).decimals };
};
