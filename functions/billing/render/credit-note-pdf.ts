import type { CreditNote } from '../../../shared/billing/invoice.ts';
import type { CreditLine } from '../../../shared/service-levels/service-level.ts';
import type { IssuedInvoice } from '../focus/invoice-detail.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import { amountText, type DocumentCurrency, dateText, decimalsOf, monthText, periodText } from './format-values.ts';
import { createPdfWriter, type PdfWriter } from './pdf-writer.ts';

interface Printed {
  /** The corrected invoice. */
  invoice: Pick<IssuedInvoice, 'month' | 'issued_at' | 'purchase_order'>;
  /** The hash of the credit note's JSON file. */
  sha256: string;
}

const GAP = 10;
const ROW_HEIGHT = 16;
const HEAD_HEIGHT = 14;
const SUM_HEIGHT = 30;
const SMALL = { size: 8, isQuiet: true } as const;
const RIGHT = { align: 'right' } as const;

// A text that fits exactly can be broken, so a column is a little wider.
const widthOf = (pdf: PdfWriter, head: string, texts: readonly string[]): number =>
  Math.max(pdf.widthOf(head, SMALL), ...texts.map((text) => pdf.widthOf(text))) + 1;

const putLines = (pdf: PdfWriter, lines: readonly CreditLine[], currency: DocumentCurrency): void => {
  const nanos = lines.flatMap(({ base_nanos, amount_nanos }) => [base_nanos ?? 0n, amount_nanos]);
  const printed = (amount: bigint): string => amountText(amount, currency, decimalsOf(nanos, currency));
  const rows = lines.map(({ description, base_nanos, percent, amount_nanos }) => ({
    description,
    base: base_nanos === null ? '' : printed(base_nanos),
    percent: percent === null ? '' : `${percent} %`,
    amount: printed(amount_nanos),
  }));
  const widths = {
    amount: widthOf(
      pdf,
      'Credit',
      rows.map(({ amount }) => amount),
    ),
    percent: widthOf(
      pdf,
      'Share',
      rows.map(({ percent }) => percent),
    ),
    base: widthOf(
      pdf,
      'Charges',
      rows.map(({ base }) => base),
    ),
  };
  const amountAt = pdf.width() - widths.amount;
  const percentAt = amountAt - GAP - widths.percent;
  const baseAt = percentAt - GAP - widths.base;
  const descriptionWidth = baseAt - GAP;
  const put = (row: Record<'base' | 'percent' | 'amount', string>, style: typeof SMALL | object = {}): void => {
    pdf.put(row.base, baseAt, pdf.y(), widths.base, { ...style, ...RIGHT });
    pdf.put(row.percent, percentAt, pdf.y(), widths.percent, { ...style, ...RIGHT });
    pdf.put(row.amount, amountAt, pdf.y(), widths.amount, { ...style, ...RIGHT });
  };
  pdf.skip(6);
  pdf.repeat(() => {
    pdf.put('Missed promise', 0, pdf.y(), descriptionWidth, SMALL);
    put({ base: 'Charges', percent: 'Share', amount: 'Credit' }, SMALL);
    pdf.skip(HEAD_HEIGHT);
    pdf.rule();
    pdf.skip(7);
  });
  for (const [i, row] of rows.entries()) {
    const height = Math.max(ROW_HEIGHT, pdf.heightOf(row.description, descriptionWidth) + 4);
    // The sum is never alone on a page.
    pdf.need(i === rows.length - 1 ? height + SUM_HEIGHT : height);
    pdf.put(row.description, 0, pdf.y(), descriptionWidth);
    put(row);
    pdf.skip(height);
  }
  pdf.repeat(undefined);
};

/** A credit note as a PDF. Equal credit notes give equal bytes. */
export const creditNotePdf = async (fonts: Fonts, note: CreditNote, { invoice, sha256 }: Printed): Promise<Buffer> => {
  const { number, organization, seller, buyer, invoice_number, issued_at, amount_nanos, currency } = note;
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
  if (note.lines) putLines(pdf, note.lines, note);
  pdf.rule();
  pdf.skip(12);
  putTotal(pdf, `Credit (${currency})`, amountText(amount_nanos, note), true);
  pdf.skip(14);
  if (note.note) putNote(pdf, 'Note', note.note);
  putNote(pdf, 'SHA-256 of the JSON file of this credit note', sha256);
  return pdf.end();
};
