import type { Actor } from '../../access/actor.ts';
import type { Download } from '../downloads/download.ts';
import { type DownloadDependencies, downloadDocument, fileFormatOf } from '../downloads/download-document.ts';
import { type InvoiceDependencies, NotIssued } from './change-invoice.ts';
import { visibleInvoice } from './find-invoice.ts';

/**
 * Returns a file of an issued invoice.
 * @throws 404; 409 for a draft, and until the file is rendered, which it also starts
 */
export const downloadInvoice = async (
  deps: InvoiceDependencies & DownloadDependencies,
  actor: Actor,
  id: string,
  format: string,
): Promise<Download> => {
  const invoice = await visibleInvoice(deps, actor, id);
  const { number } = invoice;
  const wanted = fileFormatOf(format);
  if (number === null) throw new NotIssued(invoice, 'Only issued invoices can be downloaded.');
  return downloadDocument(deps, { ...invoice, number }, wanted, actor.origin.nowMs);
};
