import * as z from 'zod';
import { commit } from '../../../../shared/audit/commit.ts';
import type { BilledMonthsStore } from '../../../../shared/billing/billed-months-store.ts';
import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';
import { invoiceNotification } from '../../../../shared/billing/invoice-notification.ts';
import type { InvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { type IssueDependencies, issueInvoice, NotADraft } from '../../../../shared/billing/issue-invoice.ts';
import type { Write } from '../../../../shared/database/transaction.ts';
import { Conflict, InvalidValue } from '../../../../shared/http/errors.ts';
import { checkVersion, retryChanged } from '../../../../shared/http/precondition.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { Actor, ActorChecks } from '../../access/actor.ts';
import { sendRender } from '../downloads/send-render.ts';
import { visibleInvoice } from './find-invoice.ts';
import { type InvoiceResource, toInvoiceResource } from './invoice-resource.ts';

export interface InvoiceDependencies extends IssueDependencies {
  invoices: InvoiceStore;
  billed: Pick<BilledMonthsStore, 'toRestore' | 'getState'>;
  billingTasks: BillingTasks;
  users: ActorChecks;
}

type Expected = readonly number[] | undefined;

export const InvoicePayment = z.strictObject({
  paid_at: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'When it was paid: not before the UTC day of its issue. Unix time in seconds. Default: now.' }),
  reference: z.string().trim().min(1).max(200).optional().meta({ description: 'Such as the reference of a bank transfer.' }),
});
export type InvoicePayment = z.output<typeof InvoicePayment>;

export const VoidReason = z.strictObject({ reason: z.string().trim().min(1).max(500) });
export type VoidReason = z.output<typeof VoidReason>;

/** The state of an invoice doesn't allow the change: 409. */
export class NotIssued extends Conflict {
  constructor({ number, id, state }: Invoice, allowed: string) {
    super({ code: 'invoice_not_issued', message: `The invoice ${number ?? id} is ${state}. ${allowed}` });
  }
}

// A credit note refers to the invoice, so it must stay.
class HasCreditNotes extends Conflict {
  constructor({ number }: Invoice) {
    super({
      code: 'invoice_has_credit_notes',
      message: `The invoice ${number} has credit notes, so it can't be voided. Issue another credit note instead.`,
    });
  }
}

const audited = ({ state, paid_at, payment_reference, voided_at }: Invoice) => ({ state, paid_at, payment_reference, voided_at });

interface Change {
  action: 'invoice.paid' | 'invoice.voided' | 'invoice.deleted';
  fields: Partial<Invoice>;
  reason?: string;
  writes?: readonly Write[];
}

// One transaction: the invoice, its audit entry, and the notification of an organization that got the invoice.
const change = async (
  deps: InvoiceDependencies,
  actor: Actor,
  before: Invoice,
  { action, fields, reason, writes = [] }: Change,
): Promise<InvoiceResource> => {
  const { origin } = actor;
  const { id, organization } = before;
  const after: Invoice = { ...before, ...fields, version: before.version + 1 };
  const entry = {
    action,
    organization,
    target: { type: 'invoice', id },
    reason: reason ?? null,
    before: audited(before),
    after: audited(after),
  };
  const notified =
    action === 'invoice.deleted' ? [] : [deps.outbox.toEmit(invoiceNotification(`sluice.${action}.v1`, after, origin.nowMs))];
  await commit(deps, origin, entry, [
    ...deps.users.toCheckActor(actor),
    ...deps.invoices.toReplace(before, fields),
    ...writes,
    ...notified,
  ]);
  return toInvoiceResource(after);
};

// The rendering of its files changes an invoice soon after its issue. A caller who expects no version gets no 412 for
// that.
const triesOf = (expected: Expected): number => (expected ? 1 : 5);

/** Issues a draft, and queues the rendering of its files. @throws 404, 409, 412, 503 */
export const issueDraft = async (deps: InvoiceDependencies, actor: Actor, id: string, expected: Expected): Promise<InvoiceResource> => {
  const draft = checkVersion(await visibleInvoice(deps, actor, id), expected);
  const issued = await issueInvoice(deps, actor.origin, draft, deps.users.toCheckActor(actor));
  await sendRender(deps, issued, actor.origin.nowMs);
  return toInvoiceResource(issued);
};

// Compares days, because banks record no time.
const checkPaidSinceIssue = ({ issued_at }: Invoice, paidAtMs: number): void => {
  if (issued_at === null || dayOf(paidAtMs) >= dayOf(issued_at)) return;
  throw new InvalidValue('paid_at', `expected ${dayOf(issued_at)}, when the invoice was issued, or a later day`);
};

/** Records that an invoice was paid. @throws 400, 404, 409, 412 */
export const payInvoice = async (
  deps: InvoiceDependencies,
  actor: Actor,
  id: string,
  { paid_at, reference }: InvoicePayment,
  expected: Expected,
): Promise<InvoiceResource> => {
  const { nowMs } = actor.origin;
  const paidAtMs = paid_at === undefined ? nowMs : paid_at * SECOND_MS;
  if (paidAtMs > nowMs) throw new InvalidValue('paid_at', 'expected a time that is not in the future');
  return retryChanged(triesOf(expected), async () => {
    const before = checkVersion(await visibleInvoice(deps, actor, id), expected);
    if (before.state !== 'issued') throw new NotIssued(before, 'Only an issued invoice can be paid.');
    checkPaidSinceIssue(before, paidAtMs);
    const fields = { state: 'paid' as const, paid_at: paidAtMs, payment_reference: reference ?? null };
    return change(deps, actor, before, { action: 'invoice.paid', fields });
  });
};

// After these writes, the invoice bills nothing, and no scheduled task issues or renders it.
const toTakeBack = async ({ billed, invoices }: InvoiceDependencies, invoice: Invoice): Promise<Write[]> => [
  ...(await billed.toRestore(invoice)),
  invoices.toFinish(invoice),
];

/**
 * Voids an issued invoice, which keeps its number. It bills nothing any more, so its month can be closed again.
 * @throws 404, 412; 409 for an invoice that is paid, has credit notes or has a later invoice that builds on it
 */
export const voidInvoice = async (
  deps: InvoiceDependencies,
  actor: Actor,
  id: string,
  { reason }: VoidReason,
  expected: Expected,
): Promise<InvoiceResource> =>
  retryChanged(triesOf(expected), async () => {
    const before = checkVersion(await visibleInvoice(deps, actor, id), expected);
    if (before.state === 'draft') throw new NotIssued(before, 'Delete the draft instead.');
    if (before.state === 'paid') throw new NotIssued(before, "It can't be voided. Issue a credit note instead.");
    if (before.state !== 'issued') throw new NotIssued(before, 'Only an issued invoice can be voided.');
    if (before.credited_nanos !== 0n) throw new HasCreditNotes(before);
    const fields = { state: 'void' as const, voided_at: actor.origin.nowMs, void_reason: reason };
    return change(deps, actor, before, { action: 'invoice.voided', fields, reason, writes: await toTakeBack(deps, before) });
  });

/**
 * Deletes a draft: it becomes void without ever having had a number, so closing the month again makes a new draft.
 * @throws 404, 409, 412
 */
export const deleteDraft = async (deps: InvoiceDependencies, actor: Actor, id: string, expected: Expected): Promise<InvoiceResource> => {
  const before = checkVersion(await visibleInvoice(deps, actor, id), expected);
  if (before.state !== 'draft') throw new NotADraft(before, 'deleted');
  const fields = { state: 'void' as const, voided_at: actor.origin.nowMs, void_reason: 'The draft was deleted.' };
  return change(deps, actor, before, { action: 'invoice.deleted', fields, writes: await toTakeBack(deps, before) });
};
