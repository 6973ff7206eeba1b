import type { Invoice } from '../../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { type Actor, can, isOfPlatform, type Rights } from '../../access/actor.ts';

export interface InvoiceReads {
  invoices: InvoiceStore;
}

/** Owners see issued invoices; drafts, deleted ones included, belong to the platform. */
export const isVisibleTo = (actor: Rights, { issued_at }: Invoice): boolean => can(actor, 'billing:issue') || issued_at !== null;

/**
 * Returns an invoice that the actor can see: an issued one of their own organization, or any for admins.
 * @throws 404
 */
export const visibleInvoice = async ({ invoices }: InvoiceReads, actor: Actor, id: string): Promise<Invoice> => {
  const invoice = await invoices.find(id);
  const isOwn = isOfPlatform(actor) || invoice?.organization === actor.organization;
  if (!(invoice && isOwn && isVisibleTo(actor, invoice))) throw new ResourceNotFound('invoice', id);
  return invoice;
};
