import { isChangedMeanwhile } from '../../client/api-failure.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { Invoice } from './invoice.ts';

/** The properties of a dialog about an invoice. */
export interface InvoiceDialogProps {
  /** As it was when the dialog was opened. */
  invoice: Invoice;
  onClose: () => void;
}

const withoutFiles = (invoice: Invoice): string => JSON.stringify({ ...invoice, files: [], version: 0 });

/**
 * Changes an invoice as its dialog showed it. Its files are made soon after the issue, which gives it a new version:
 * if nothing else has changed, the change is sent again with that one.
 */
export const changeInvoice = async <Reply>(invoice: Invoice, send: (version: number) => Promise<Reply>): Promise<Reply> => {
  try {
    return await send(invoice.version);
  } catch (error) {
    if (!isChangedMeanwhile(error)) throw error;
    const now = await request('GET /v1/billing/invoices/{id}', { parameters: { id: invoice.id } });
    if (withoutFiles(now) !== withoutFiles(invoice)) throw error;
    return await send(now.version);
  }
};

/** Reads again what a change of an invoice can change, also after one that failed because of another. */
export const afterChange = async <Reply>(changing: Promise<Reply>): Promise<Reply> => {
  try {
    return await changing;
  } finally {
    await readAgain('/v1/billing', '/v1/summary');
  }
};
