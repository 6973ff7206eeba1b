import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { linesIn } from '../../design/format/lists.ts';
import { isPaymentTerms, MAX_TERMS_DAYS } from '../../design/format/payment-terms.ts';
import { percentagesIn, percentText } from './alerts.ts';

export type Profile = ReplyBody<'GET /v1/billing/profile'>;
type Body = RequestBody<'PATCH /v1/billing/profile'>;

/** A profile as its form edits it. An empty text stands for no value. */
export type ProfileDraft = {
  legalName: string;
  /** One a line. */
  addressLines: string;
  country: string;
  taxId: string;
  /** One a line. */
  emails: string;
  purchaseOrder: string;
  terms: string;
  note: string;
  stripe: string;
};

export const PROFILE_LABELS = {
  legalName: 'Legal name',
  addressLines: 'Address',
  country: 'Country',
  taxId: 'Tax id',
  emails: 'Email addresses for invoices and alerts',
  purchaseOrder: 'Purchase order',
  terms: 'Payment due in (days)',
  note: 'Invoice note',
  stripe: 'Stripe customer',
} as const satisfies Record<keyof ProfileDraft, string>;

/** The fields that only those who issue invoices can change. */
export const AGREED_FIELDS = ['terms', 'note', 'stripe'] as const satisfies readonly (keyof ProfileDraft)[];

export const draftOfProfile = (profile: Profile): ProfileDraft => ({
  legalName: profile.legal_name ?? '',
  addressLines: profile.address?.lines.join('\n') ?? '',
  country: profile.address?.country ?? '',
  taxId: profile.tax_id ?? '',
  emails: profile.emails.join('\n'),
  purchaseOrder: profile.purchase_order ?? '',
  terms: profile.payment_terms_days === null ? '' : String(profile.payment_terms_days),
  note: profile.invoice_note ?? '',
  stripe: profile.stripe_customer ?? '',
});

/** Why fields can't be sent. */
export const profileFaults = ({ addressLines, country, terms }: ProfileDraft): Partial<Record<keyof ProfileDraft, string>> => ({
  ...((addressLines.trim() !== '' || country !== '') &&
    !/^[A-Za-z]{2}$/.test(country.trim()) && { country: 'Enter a two-letter country code, such as DE.' }),
  ...(country.trim() !== '' && addressLines.trim() === '' && { addressLines: 'Enter an address, or clear the country.' }),
  ...(terms !== '' && !isPaymentTerms(terms) && { terms: `Enter a number of days, at most ${MAX_TERMS_DAYS}.` }),
});

const BODY: { readonly [Name in keyof ProfileDraft]: (draft: ProfileDraft) => Body } = {
  legalName: ({ legalName }) => ({ legal_name: legalName.trim() || null }),
  addressLines: ({ addressLines, country }) => {
    const lines = linesIn(addressLines);
    return { address: lines.length === 0 ? null : { lines, country: country.trim().toUpperCase() } };
  },
  country: (draft) => BODY.addressLines(draft),
  taxId: ({ taxId }) => ({ tax_id: taxId.trim() || null }),
  emails: ({ emails }) => ({ emails: linesIn(emails) }),
  purchaseOrder: ({ purchaseOrder }) => ({ purchase_order: purchaseOrder.trim() || null }),
  terms: ({ terms }) => ({ payment_terms_days: terms === '' ? null : Number(terms) }),
  note: ({ note }) => ({ invoice_note: note.trim() || null }),
  stripe: ({ stripe }) => ({ stripe_customer: stripe.trim() || null }),
};

/** The body that changes a profile: only what differs from it. */
export const changesOfProfile = (draft: ProfileDraft, profile: Profile): Body => {
  const opened = draftOfProfile(profile);
  const changed = (Object.keys(BODY) as (keyof ProfileDraft)[]).filter((name) => draft[name] !== opened[name]);
  return Object.assign({}, ...changed.map((name) => BODY[name](draft))) as Body;
};

/** The alerts of a profile as their form edits them: percentages. */
export type AlertsDraft = { budget: string; credit: string };

export const ALERTS_LABELS = { budget: 'Budget alerts (%)', credit: 'Prepaid credit alerts (%)' } as const satisfies Record<
  keyof AlertsDraft,
  string
>;

export const draftOfAlerts = ({ budget_thresholds, credit_thresholds }: Profile): AlertsDraft => ({
  budget: percentText(budget_thresholds),
  credit: percentText(credit_thresholds),
});

/** The body that changes the alerts; undefined if a field has something else than percentages, or nothing differs. */
export const changesOfAlerts = (draft: AlertsDraft, profile: Profile): Body | undefined => {
  const [budget, credit] = [percentagesIn(draft.budget), percentagesIn(draft.credit)];
  if (!budget || !credit) return undefined;
  const body = {
    ...(percentText(budget) !== percentText(profile.budget_thresholds) && { budget_thresholds: budget }),
    ...(percentText(credit) !== percentText(profile.credit_thresholds) && { credit_thresholds: credit }),
  };
  return Object.keys(body).length > 0 ? body : undefined;
};
