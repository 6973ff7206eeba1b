import { commit } from '../../../../shared/audit/commit.ts';
import { minorUnitOf } from '../../../../shared/billing/amounts/minor-unit.ts';
import { roundToUnit } from '../../../../shared/billing/amounts/round-total.ts';
import type { BillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { AlreadyCredited, type CreditNoteStore } from '../../../../shared/billing/credit-note-store.ts';
import type { CreditNote, Invoice } from '../../../../shared/billing/invoice.ts';
import { creditNoteNotification } from '../../../../shared/billing/invoice-notification.ts';
import { NoSeller } from '../../../../shared/billing/issue-invoice.ts';
import { numberDocument } from '../../../../shared/billing/number-document.ts';
import { NumberInUse, printedNumber } from '../../../../shared/billing/number-store.ts';
import { Conflict, InternalError, InvalidValue, PreconditionFailed } from '../../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../../shared/http/idempotency-key.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { dollarsOf, nanosOf } from '../../../../shared/prices/dollars.ts';
import type { Actor } from '../../access/actor.ts';
import { sendRender } from '../downloads/send-render.ts';
import { type InvoiceDependencies, NotIssued } from '../invoices/change-invoice.ts';
import { visibleInvoice } from '../invoices/find-invoice.ts';
import { type CreditNoteResource, type NewCreditNote, toCreditNoteResource } from './credit-note-resource.ts';

export interface CreditNoteDependencies extends InvoiceDependencies {
  creditNotes: CreditNoteStore;
  settings: Pick<BillingSettingsStore, 'getSeller' | 'getProfile'>;
}

class CreditExceedsInvoice extends Conflict {
  constructor({ number, currency }: Invoice, leftNanos: bigint) {
    super({
      code: 'credit_exceeds_invoice',
      param: 'amount',
      message: `Only ${dollarsOf(leftNanos)} ${currency} of the invoice ${number} is left to be credited. Lower the amount.`,
    });
  }
}

class SmallerThanUnit extends InvalidValue {
  constructor({ currency }: Invoice) {
    const { decimals } = minorUnitOf(currency);
    const most = decimals === 0 ? 'without decimals' : `with at most ${decimals} decimals`;
    super('amount', `expected an amount in ${currency} ${most}`);
  }
}

const planNote = async (
  { settings }: CreditNoteDependencies,
  invoice: Invoice,
  { amount, reason }: NewCreditNote,
  last: number,
  nowMs: number,
): Promise<CreditNote> => {
  const { id, organization, state, number, seller, currency, currency_symbol, buyer, note, total_nanos, credited_nanos } = invoice;
  if (state !== 'issued' && state !== 'paid') throw new NotIssued(invoice, 'Only issued and paid invoices can be credited.');
  if (number === null || seller === null) throw new InternalError();
  const left = total_nanos - credited_nanos;
  const amount_nanos = amount === undefined ? left : nanosOf(amount);
  if (amount_nanos === undefined || amount_nanos <= 0n || amount_nanos > left) throw new CreditExceedsInvoice(invoice, left);
  if (amount !== undefined && roundToUnit(amount_nanos, currency) !== amount_nanos) throw new SmallerThanUnit(invoice);
  const current = await settings.getSeller();
  if (!current) throw new NoSeller();
  return {
    id: newTimedId('creditNote', nowMs),
    organization,
    number: printedNumber(current.credit_note_prefix, last + 1),
    invoice: id,
    invoice_number: number,
    currency,
    currency_symbol,
    seller,
    buyer,
    reason,
    note: note ?? null,
    amount_nanos,
    issued_at: nowMs,
    files: {},
    version: 1,
  };
};

// The credit note, its invoice's new sum, its number, its audit entry and its notification are one transaction.
const write = async (
  deps: CreditNoteDependencies,
  { origin, ...actor }: Actor,
  invoice: Invoice,
  note: CreditNote,
  { last, once }: { last: number; once: { key: string; request: string } | undefined },
): Promise<void> => {
  const { id, organization, number, reason, amount_nanos } = note;
  const target = { type: 'credit_note', id };
  const after = { number, invoice: invoice.id, amount: dollarsOf(amount_nanos) };
  const credited_nanos = invoice.credited_nanos + amount_nanos;
  await commit(deps, origin, { action: 'credit_note.issued', organization, target, reason, after }, [
    ...deps.users.toCheckActor({ ...actor, origin }),
    ...deps.creditNotes.toCreate(note, once),
    ...deps.invoices.toReplace(invoice, { credited_nanos }),
    deps.numbers.toTake('credit-note', last),
    deps.outbox.toEmit(creditNoteNotification(note)),
  ]);
};

/**
 * Issues a credit note for an issued or paid invoice, with the next number of its own series. If the idempotency key
 * was used before, returns that credit note.
 * @throws 400, 404, 409, 422 if the key was used for another credit note, 503
 */
export const createCreditNote = async (
  deps: CreditNoteDependencies,
  actor: Actor,
  invoiceId: string,
  body: NewCreditNote,
  key?: string,
): Promise<CreditNoteResource> => {
  const { organization } = await visibleInvoice(deps, actor, invoiceId);
  const once = key === undefined ? undefined : { key, request: JSON.stringify([invoiceId, body.amount ?? 'whole', body.reason]) };
  const earlier = async (): Promise<CreditNote | undefined> => {
    const existing = once && (await deps.creditNotes.getOnce(organization, once.key));
    if (existing && existing.request !== once.request) throw new IdempotencyKeyReused();
    return existing?.note;
  };
  const note = await numberDocument(deps, 'credit-note', async (last) => {
    const existing = await earlier();
    if (existing) return existing;
    const invoice = await visibleInvoice(deps, actor, invoiceId);
    const planned = await planNote(deps, invoice, body, last, actor.origin.nowMs);
    try {
      await write(deps, actor, invoice, planned, { last, once });
      return planned;
    } catch (error) {
      // A concurrent credit note, payment or equal request came first: the remaining amount is computed again.
      throw error instanceof PreconditionFailed || error instanceof AlreadyCredited ? new NumberInUse() : error;
    }
  });
  await sendRender(deps, note, actor.origin.nowMs);
  return toCreditNoteResource(note);
};
