import type { CreditNote } from '../../../shared/billing/invoice.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import { amountText, dateText } from './printed.ts';
import { createSheet } from './sheet.ts';

/** A credit note as a PDF. Equal credit notes give equal bytes. */
export const creditNotePdf = async (fonts: Fonts, note: CreditNote): Promise<Buffer> => {
  const { number, seller, buyer, invoice_number, issued_at, amount_nanos, currency, currency_symbol } = note;
  const sheet = createSheet(fonts, {
    title: `Credit note ${number}`,
    author: seller.legal_name,
    country: seller.address?.country,
    running: `Credit note ${number}  ·  ${seller.legal_name}`,
    atMs: issued_at,
  });
  sheet.addPage();
  putHead(sheet, {
    kind: 'Credit note',
    seller,
    buyer,
    facts: [
      ['Number', number],
      ['Issue date', dateText(issued_at)],
      ['Corrects invoice', invoice_number],
    ],
  });
  putNote(sheet, 'Reason', note.reason);
  sheet.rule();
  sheet.skip(12);
  putTotal(sheet, `Credit ${currency}`, amountText(amount_nanos, currency_symbol), true);
  return sheet.end();
};
