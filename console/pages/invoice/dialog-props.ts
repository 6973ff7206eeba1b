import { readAgain } from '../../client/queries.ts';
import type { Invoice } from './invoice.ts';

/** What a dialog about an invoice gets. */
export interface InvoiceDialogProps {
  /** As it was when the dialog was opened. */
  invoice: Invoice;
  onClose: () => void;
}

/** Reads again what a change of an invoice can change, also after one that failed because of another. */
export const afterChange = async <Reply>(changing: Promise<Reply>): Promise<Reply> => {
  try {
    return await changing;
  } finally {
    await readAgain('/v1/billing', '/v1/summary');
  }
};
