import type { CreditNote } from '../../../shared/billing/invoice.ts';
import type { IssuedInvoice } from '../focus/invoice-detail.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import { amountText, dateText, monthText, periodText } from './format-values.ts';
import { createPdfWriter } from './pdf-writer.ts';

interface Printed {
  /** The corrected invoice. */
  invoice: Pick<IssuedInvoice, 'month' | 'issued_at' | 'purchase_order'>;
  /** The hash of the credit note's JSON file. */
  sha256: string;
}

/** A credit note as a PDF. Equal credit notes give equal bytes. */
export const creditNotePdf = async (fonts: Fonts, note: CreditNote, { invoice, sha256 }: Printed): Promise<Buffer> => {
  const { number, organization, seller, buyer, invoice_number, issued_at, amount_nanos, currency, currency_symbol } = note;
  const { month, purchase_order } = invoice;
  const period = monthText(month);
  const pdf = createPdfWriter(fonts, {
    title: `Credit note ${number} · ${period}`,
    author: seller.legal_name,
    country: seller.address?.country,
    running: `Credit note ${number}  ·  ${period}  ·  ${seller.legal_name}`,
    atMs: issued_at,
  });
  pdf.addPage();
  putHead(pdf, {
    kind: 'Credit note',
    period,
    seller,
    buyer,
    facts: [
      ['Number', number],
      ['Customer number', organization],
      ['Issue date', dateText(issued_at)],
      ['Corrects invoice', invoice_number],
      ['Invoice date', dateText(invoice.issued_at)],
      ['Period (UTC)', periodText(month)],
      ...(purchase_order === null ? [] : [['Purchase order', purchase_order] as const]),
    ],
  });
  putNote(pdf, 'Reason', note.reason);
  pdf.rule();
  pdf.skip(12);
  putTotal(pdf, `Credit (${currency})`, amountText(amount_nanos, currency_symbol), true);
  pdf.skip(14);
  if (note.note) putNote(pdf, 'Note', note.note);
  putNote(pdf, 'SHA-256 of the JSON file of this credit note', sha256);
  return pdf.end();
};
