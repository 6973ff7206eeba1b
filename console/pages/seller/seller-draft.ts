import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { isPaymentTerms, MAX_TERMS_DAYS } from '../../design/format/payment-terms.ts';

export type Seller = ReplyBody<'GET /v1/billing/seller'>;

/** The seller as the form edits it. An empty text is no value. */
export type SellerDraft = {
  legalName: string;
  /** One line of the address in each line. */
  address: string;
  country: string;
  taxId: string;
  email: string;
  currency: string;
  currencySymbol: string;
  paymentTermsDays: string;
  paymentInstructions: string;
  invoiceNote: string;
  invoicePrefix: string;
  creditNotePrefix: string;
  issue: string;
};

export const SELLER_LABELS = {
  legalName: 'Legal name',
  address: 'Address',
  country: 'Country code',
  taxId: 'Tax ID',
  email: 'Contact email',
  currency: 'Currency',
  currencySymbol: 'Currency symbol',
  paymentTermsDays: 'Payment due in (days)',
  paymentInstructions: 'Payment instructions',
  invoiceNote: 'Invoice note',
  invoicePrefix: 'Invoice number prefix',
  creditNotePrefix: 'Credit note number prefix',
  issue: 'Issue invoices',
} as const satisfies Record<keyof SellerDraft, string>;

/** A seller that is not set yet, with the defaults of the API. Its version is that of the first change. */
export const NO_SELLER: Seller = {
  object: 'seller',
  legal_name: '',
  address: { lines: [], country: '' },
  tax_id: null,
  email: null,
  currency: 'USD',
  currency_symbol: '$',
  payment_terms_days: 30,
  payment_instructions: null,
  invoice_note: null,
  invoice_prefix: 'INV-',
  credit_note_prefix: 'CN-',
  issue: 'automatic',
  version: 0,
};

/** The seller as the form edits it. */
export const draftOfSeller = (seller: Seller): SellerDraft => ({
  legalName: seller.legal_name,
  address: seller.address.lines.join('\n'),
  country: seller.address.country,
  taxId: seller.tax_id ?? '',
  email: seller.email ?? '',
  currency: seller.currency,
  currencySymbol: seller.currency_symbol,
  paymentTermsDays: String(seller.payment_terms_days),
  paymentInstructions: seller.payment_instructions ?? '',
  invoiceNote: seller.invoice_note ?? '',
  invoicePrefix: seller.invoice_prefix,
  creditNotePrefix: seller.credit_note_prefix,
  issue: seller.issue,
});

const linesOf = (address: string): string[] =>
  address
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const orNull = (text: string): string | null => text.trim() || null;

/** The body that replaces the seller. */
export const sellerOf = (draft: SellerDraft): RequestBody<'PUT /v1/billing/seller'> => ({
  legal_name: draft.legalName.trim(),
  address: { lines: linesOf(draft.address), country: draft.country.trim().toUpperCase() },
  tax_id: orNull(draft.taxId),
  email: orNull(draft.email),
  currency: draft.currency.trim().toUpperCase(),
  currency_symbol: draft.currencySymbol,
  payment_terms_days: Number(draft.paymentTermsDays),
  payment_instructions: orNull(draft.paymentInstructions),
  invoice_note: orNull(draft.invoiceNote),
  invoice_prefix: draft.invoicePrefix,
  credit_note_prefix: draft.creditNotePrefix,
  issue: draft.issue === 'manual' ? 'manual' : 'automatic',
});

/** Why fields can't be sent. */
export const faultsOfSeller = (draft: SellerDraft): Partial<Record<keyof SellerDraft, string>> => ({
  ...(!/^[A-Za-z]{2}$/.test(draft.country.trim()) && draft.country !== '' && { country: 'Enter two letters, such as DE.' }),
  ...(!/^[A-Za-z]{3}$/.test(draft.currency.trim()) && { currency: 'Enter three letters, such as USD.' }),
  ...(!isPaymentTerms(draft.paymentTermsDays) && { paymentTermsDays: `Enter a number of days, at most ${MAX_TERMS_DAYS}.` }),
  ...(draft.invoicePrefix === draft.creditNotePrefix && { creditNotePrefix: 'Must differ from the invoice number prefix.' }),
});

/** True for a draft that can be sent, and that changes something. */
export const canSave = (draft: SellerDraft, seller: Seller): boolean =>
  draft.legalName.trim() !== '' &&
  linesOf(draft.address).length > 0 &&
  draft.country !== '' &&
  Object.keys(faultsOfSeller(draft)).length === 0 &&
  JSON.stringify(draft) !== JSON.stringify(draftOfSeller(seller));
