import type { z } from 'zod';
import type { BillingProfile } from './billing-profile.ts';
import type { Party } from './invoice.ts';
import type { Seller } from './seller.ts';

type PrintedParty = z.output<typeof Party>;

/** The seller as printed. */
export const sellerParty = ({ legal_name, address, tax_id, email }: Seller): PrintedParty => ({ legal_name, address, tax_id, email });

/** The buyer as printed. @param name the organization's, for a profile without a legal name */
export const buyerParty = ({ legal_name, address, tax_id, emails }: BillingProfile, name: string): PrintedParty => ({
  legal_name: legal_name ?? name,
  address,
  tax_id,
  email: emails[0] ?? null,
});
