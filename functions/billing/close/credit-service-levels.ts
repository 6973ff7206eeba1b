import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { BillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import type { CreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import type { CreditNote, Invoice } from '../../../shared/billing/invoice.ts';
import { creditNoteNotification } from '../../../shared/billing/invoice-notification.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { NoSeller } from '../../../shared/billing/issue-invoice.ts';
import { numberDocument } from '../../../shared/billing/number-document.ts';
import { NumberInUse, type NumberStore, printedNumber } from '../../../shared/billing/number-store.ts';
import { AlreadyGranted, type CreditStore } from '../../../shared/credit/credit-store.ts';
import { applyGrants, grantCredit, type LedgerDependencies } from '../../../shared/credit/grant-credit.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { CreditLine } from '../../../shared/service-levels/service-level.ts';
import {
  limitedTo,
  prepaidCreditKey,
  prepaidCreditNanos,
  serviceCreditLines,
  serviceCreditNoteId,
  sumOfCredit,
} from './service-credits.ts';

export interface ServiceCreditDependencies extends AuditDependencies, LedgerDependencies {
  settings: Pick<BillingSettingsStore, 'getSeller'>;
  invoices: Pick<InvoiceStore, 'get' | 'ofMonth' | 'toReplace'>;
  creditNotes: Pick<CreditNoteStore, 'find' | 'toCreate'>;
  numbers: NumberStore;
  credit: CreditStore;
  outbox: Outbox;
  tasks: BillingTasks;
  now: () => number;
}

const reasonFor = ({ month }: Invoice): string => `Service levels of ${month}`;

const planNote = async (
  { settings, now }: ServiceCreditDependencies,
  invoice: Invoice,
  lines: CreditLine[],
  last: number,
): Promise<CreditNote> => {
  const { organization, number, seller, buyer, currency, currency_symbol, note } = invoice;
  const current = await settings.getSeller();
  if (number === null || seller === null || !current) throw new NoSeller();
  return {
    id: serviceCreditNoteId(invoice),
    organization,
    number: printedNumber(current.credit_note_prefix, last + 1),
    invoice: invoice.id,
    invoice_number: number,
    currency,
    currency_symbol,
    seller,
    buyer,
    reason: reasonFor(invoice),
    note: note ?? null,
    lines,
    amount_nanos: sumOfCredit(lines),
    issued_at: now(),
    files: {},
    version: 1,
  };
};

// The same transaction as that of a credit note that an admin issues.
const writeNote = async (deps: ServiceCreditDependencies, invoice: Invoice, note: CreditNote, last: number): Promise<void> => {
  const { id, organization, number, reason, amount_nanos } = note;
  const change = {
    action: 'credit_note.issued',
    organization,
    target: { type: 'credit_note', id },
    reason,
    after: { number, invoice: invoice.id, amount: dollarsOf(amount_nanos) },
  };
  await commit(deps, systemOrigin('billing', deps.now()), change, [
    ...deps.invoices.toReplace(invoice, { credited_nanos: invoice.credited_nanos + amount_nanos }),
    ...deps.creditNotes.toCreate(note),
    deps.numbers.toTake('credit-note', last),
    deps.outbox.toEmit(creditNoteNotification(note)),
  ]);
};

// The invoice is read for each attempt, because another credit note or a payment can come first.
const issueNote = (deps: ServiceCreditDependencies, { organization, id }: Invoice): Promise<CreditNote | undefined> =>
  numberDocument(deps, 'credit-note', async (last) => {
    const invoice = await deps.invoices.get(organization, id);
    const existing = await deps.creditNotes.find(serviceCreditNoteId(invoice));
    if (existing || invoice.state === 'void') return existing;
    const lines = limitedTo(serviceCreditLines(invoice), invoice.total_nanos - invoice.credited_nanos);
    if (lines.length === 0) return undefined;
    const note = await planNote(deps, invoice, lines, last);
    try {
      await writeNote(deps, invoice, note, last);
    } catch (error) {
      throw error instanceof PreconditionFailed ? new NumberInUse() : error;
    }
    logInfo('service_levels_credited', { organization, invoice: id, credit_note: note.id, amount_nanos: note.amount_nanos });
    return note;
  });

const creditByNote = async (deps: ServiceCreditDependencies, invoice: Invoice): Promise<void> => {
  if (serviceCreditLines(invoice).length === 0) return;
  const note = await issueNote(deps, invoice);
  if (note && note.files.pdf === undefined)
    await deps.tasks.send({ task: 'render', organization: invoice.organization, document: note.id }, deps.now());
};

/** The prepaid credit that was granted for earlier invoices of the same month, which are void. */
export const grantedForVoid = async (
  { invoices, credit }: { invoices: Pick<InvoiceStore, 'ofMonth'>; credit: Pick<CreditStore, 'getOnce'> },
  { organization, month, id }: Pick<Invoice, 'organization' | 'month' | 'id'>,
): Promise<bigint> => {
  let granted = 0n;
  for (const other of await invoices.ofMonth(organization, month)) {
    if (other.id === id) break;
    granted += (await credit.getOnce(organization, prepaidCreditKey(other.id)))?.amount_nanos ?? 0n;
  }
  return granted;
};

const grantPrepaid = async (deps: ServiceCreditDependencies, invoice: Invoice): Promise<void> => {
  const { organization } = invoice;
  const key = prepaidCreditKey(invoice.id);
  // A crash can have left the grant out of the balance.
  if (await deps.credit.getOnce(organization, key)) return applyGrants(deps, organization);
  const amount_nanos = prepaidCreditNanos(invoice.service_levels ?? []) - (await grantedForVoid(deps, invoice));
  if (amount_nanos <= 0n) return;
  const reason = reasonFor(invoice);
  try {
    await grantCredit(deps, { organization, amount_nanos, actor: 'billing', reason, granted_at: deps.now() }, (grant) => {
      const target = { type: 'credit_grant', id: String(grant.number) };
      const change = { action: 'credit.granted', organization, target, reason, after: { amount: dollarsOf(amount_nanos) } };
      return commit(deps, systemOrigin('billing', deps.now()), change, deps.credit.toCreate(grant, key));
    });
  } catch (error) {
    if (!(error instanceof AlreadyGranted)) throw error;
    await applyGrants(deps, organization);
  }
};

/**
 * Credits the promises that the month of an issued invoice missed, once: by a credit note, and for what was paid from
 * prepaid credit by a grant. Finished steps are skipped.
 * @throws 503 if too many other documents are numbered at the same time
 */
export const creditServiceLevels = async (deps: ServiceCreditDependencies, invoice: Invoice): Promise<void> => {
  if (!invoice.service_levels?.some(({ misses }) => misses.length > 0)) return;
  await creditByNote(deps, invoice);
  await grantPrepaid(deps, invoice);
};
