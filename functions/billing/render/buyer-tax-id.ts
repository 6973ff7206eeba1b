import type { Invoice } from '../../../shared/billing/invoice.ts';

type Party = Invoice['buyer'];

// Member states, as ISO 3166-1 codes.
const EU_COUNTRIES = new Set('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '));

/**
 * True if an invoice must show the buyer's tax id: in the EU, if the buyer owes the VAT instead of a seller in another
 * country (reverse charge; Directive 2006/112/EC, article 226 (4)). False if a country is unknown.
 */
export const demandsTaxId = (seller: Pick<Party, 'address'>, buyer: Pick<Party, 'address'>): boolean =>
  buyer.address !== null && EU_COUNTRIES.has(buyer.address.country) && buyer.address.country !== seller.address?.country;
