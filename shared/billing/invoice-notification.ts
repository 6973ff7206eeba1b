import { type Notification, newNotification } from '../notifications/notification.ts';
import { dollarsOf } from '../prices/dollars.ts';
import { unixSeconds } from '../time/units.ts';
import type { CreditNote, Invoice } from './invoice.ts';

const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms));

type InvoiceEvent = 'sluice.invoice.issued.v1' | 'sluice.invoice.paid.v1' | 'sluice.invoice.voided.v1';

/** Tells an organization what happened to its invoice at `atMs`. */
export const invoiceNotification = (type: InvoiceEvent, invoice: Invoice, atMs: number): Notification =>
  newNotification({
    type,
    organization: invoice.organization,
    subject: invoice.id,
    at: atMs,
    data: {
      invoice: invoice.id,
      number: invoice.number,
      month: invoice.month,
      state: invoice.state,
      currency: invoice.currency,
      total: dollarsOf(invoice.total_nanos),
      issued_at: secondsOrNull(invoice.issued_at),
      due_at: secondsOrNull(invoice.due_at),
      paid_at: secondsOrNull(invoice.paid_at),
      voided_at: secondsOrNull(invoice.voided_at),
    },
  });

/** Tells an organization of a credit note that was issued. */
export const creditNoteNotification = (note: CreditNote): Notification =>
  newNotification({
    type: 'sluice.credit_note.issued.v1',
    organization: note.organization,
    subject: note.id,
    at: note.issued_at,
    data: {
      credit_note: note.id,
      number: note.number,
      invoice: note.invoice,
      invoice_number: note.invoice_number,
      currency: note.currency,
      amount: dollarsOf(note.amount_nanos),
      reason: note.reason,
      issued_at: secondsOrNull(note.issued_at),
    },
  });
