import { type AuditDependencies, commit } from '../audit/commit.ts';
import type { Origin } from '../audit/origin.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict } from '../http/errors.ts';
import type { Outbox } from '../notifications/outbox.ts';
import { DAY_MS } from '../time/units.ts';
import { minorUnitOf } from './amounts/minor-unit.ts';
import { roundTotal } from './amounts/round-total.ts';
import type { BillingSettingsStore } from './billing-settings-store.ts';
import type { Invoice } from './invoice.ts';
import { invoiceNotification } from './invoice-notification.ts';
import type { InvoiceStore } from './invoice-store.ts';
import { numberDocument } from './number-document.ts';
import { type NumberStore, printedNumber } from './number-store.ts';
import { buyerParty, sellerParty } from './parties.ts';

/** An invoice needs a seller: 409. */
export class NoSeller extends Conflict {
  constructor() {
    super({ code: 'no_seller', message: 'An invoice needs a seller. Set it with PUT /v1/billing/seller, then issue the invoice.' });
  }
}

/** Only a draft can be issued or deleted: 409. */
export class NotADraft extends Conflict {
  constructor({ number, id, state }: Pick<Invoice, 'number' | 'id' | 'state'>, change: 'issued' | 'deleted') {
    super({ code: 'invoice_not_draft', message: `The invoice ${number ?? id} is ${state}. Only a draft can be ${change}.` });
  }
}

// The amounts of a draft are in the currency that the seller had when it was made: 409.
class CurrencyChanged extends Conflict {
  constructor({ id, currency }: Invoice, now: string) {
    super({
      code: 'currency_changed',
      message: `The draft ${id} is in ${currency}, but the seller's currency is ${now} now. Delete the draft, and create the invoice again.`,
    });
  }
}

export interface IssueDependencies extends AuditDependencies {
  settings: Pick<BillingSettingsStore, 'getSeller' | 'getProfile'>;
  invoices: Pick<InvoiceStore, 'toReplace'>;
  numbers: NumberStore;
  outbox: Outbox;
  /** The name of an organization, which is printed if its profile has no legal name. @throws 404 */
  nameOf: (organization: string) => Promise<string>;
}

// Seller, buyer and terms are read again at the issue. The currency of a draft without a seller is a default, perhaps
// with another minor unit. That of the seller can have changed while the month was being closed.
const printedOf = async ({ settings, nameOf }: IssueDependencies, draft: Invoice, nowMs: number) => {
  const { organization, month, currency, lines } = draft;
  const [seller, profile, name] = await Promise.all([settings.getSeller(), settings.getProfile(organization), nameOf(organization)]);
  if (!seller) throw new NoSeller();
  if (draft.seller !== null && currency !== seller.currency) throw new CurrencyChanged(draft, seller.currency);
  const payment_terms_days = profile.payment_terms_days ?? seller.payment_terms_days;
  return {
    prefix: seller.invoice_prefix,
    printed: {
      ...(minorUnitOf(seller.currency) !== minorUnitOf(currency) && roundTotal({ month, currency: seller.currency, lines })),
      currency: seller.currency,
      currency_symbol: seller.currency_symbol,
      seller: sellerParty(seller),
      buyer: buyerParty(profile, name),
      purchase_order: profile.purchase_order,
      payment_terms_days,
      payment_instructions: seller.payment_instructions,
      note: profile.invoice_note ?? seller.invoice_note,
      issued_at: nowMs,
      due_at: nowMs + payment_terms_days * DAY_MS,
    },
  };
};

/**
 * Issues a draft: gives it the next number, and what it prints about seller, buyer and payment. Number, invoice,
 * audit entry and notification are one transaction, so no number is lost or used twice, wherever a function crashes.
 * @param invoice the draft as it was read
 * @param checks more conditions of the transaction
 * @returns the invoice as it was issued
 * @throws 409 without a seller, in another currency than the seller's, or for anything but a draft; 412 if the draft
 * was changed since it was read; 503
 */
export const issueInvoice = async (
  deps: IssueDependencies,
  origin: Origin,
  invoice: Invoice,
  checks: readonly Write[] = [],
): Promise<Invoice> => {
  if (invoice.state !== 'draft') throw new NotADraft(invoice, 'issued');
  const { prefix, printed } = await printedOf(deps, invoice, origin.nowMs);
  return numberDocument(deps, 'invoice', async (last) => {
    const fields = { ...printed, state: 'issued' as const, number: printedNumber(prefix, last + 1) };
    const issued: Invoice = { ...invoice, ...fields, version: invoice.version + 1 };
    const change = {
      action: 'invoice.issued',
      organization: invoice.organization,
      target: { type: 'invoice', id: invoice.id },
      before: { state: invoice.state, number: null },
      after: { state: issued.state, number: issued.number, issued_at: issued.issued_at, due_at: issued.due_at },
    };
    await commit(deps, origin, change, [
      ...checks,
      // Comes before the number, so that a draft that changed meanwhile is a 412 and not a retry with another number.
      ...deps.invoices.toReplace(invoice, fields),
      deps.numbers.toTake('invoice', last),
      deps.outbox.toEmit(invoiceNotification('sluice.invoice.issued.v1', issued, origin.nowMs)),
    ]);
    return issued;
  });
};
