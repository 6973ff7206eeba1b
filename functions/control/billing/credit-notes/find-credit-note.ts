import * as z from 'zod';
import type { CreditNoteStore } from '../../../../shared/billing/credit-note-store.ts';
import type { CreditNote } from '../../../../shared/billing/invoice.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { type Page, pageQueryOf } from '../../../../shared/http/page.ts';
import { type Actor, isOfPlatform, organizationFor } from '../../access/actor.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import type { Download } from '../downloads/download.ts';
import { type DownloadDependencies, downloadDocument, fileFormatOf } from '../downloads/download-document.ts';
import { type InvoiceReads, visibleInvoice } from '../invoices/find-invoice.ts';
import { type CreditNoteResource, toCreditNoteResource } from './credit-note-resource.ts';

export const CreditNotesQuery = z.strictObject({
  ...pageQueryOf('creditNote'),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose credit notes to list. Required for admins; otherwise your own organization.',
  }),
  invoice: z.string().min(1).max(64).optional().meta({ description: 'Only credit notes of this invoice.' }),
});
export type CreditNotesQuery = z.output<typeof CreditNotesQuery>;

interface CreditNoteReads extends InvoiceReads {
  creditNotes: CreditNoteStore;
}

/** Returns a credit note that the actor can see: of their own organization, or any for admins. @throws 404 */
export const visibleCreditNote = async ({ creditNotes }: CreditNoteReads, actor: Actor, id: string): Promise<CreditNote> => {
  const note = await creditNotes.find(id);
  if (!note || (!isOfPlatform(actor) && note.organization !== actor.organization)) throw new ResourceNotFound('credit note', id);
  return note;
};

const listed = async (deps: CreditNoteReads, actor: Actor, { organization, invoice }: CreditNotesQuery): Promise<string> => {
  const own = organizationFor(actor, organization);
  if (invoice === undefined) return own;
  const visible = await visibleInvoice(deps, actor, invoice);
  if (visible.organization !== own) throw new ResourceNotFound('invoice', invoice, 'invoice');
  return visible.id;
};

/** Lists credit notes, newest first: an invoice's, or an organization's. @throws 400, 404 */
export const listCreditNotes = async (deps: CreditNoteReads, actor: Actor, query: CreditNotesQuery): Promise<Page<CreditNoteResource>> => {
  const { notes, hasMore, next } = await deps.creditNotes.list(await listed(deps, actor, query), query);
  return { object: 'list', data: notes.map(toCreditNoteResource), has_more: hasMore, next };
};

/** Returns a file of a credit note. @throws 404; 409 until the file is rendered, which it also starts */
export const downloadCreditNote = async (
  deps: CreditNoteReads & DownloadDependencies,
  actor: Actor,
  id: string,
  format: string,
): Promise<Download> => downloadDocument(deps, await visibleCreditNote(deps, actor, id), fileFormatOf(format), actor.origin.nowMs);
