import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { type IssuedInvoice, termsOf } from '../focus/invoice-detail.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import {
  amountText,
  type DocumentCurrency,
  dateText,
  decimalsOf,
  monthText,
  periodText,
  quantityText,
  unitPriceText,
} from './format-values.ts';
import { type Annex, annexOf } from './invoice-annex.ts';
import { sectionsOf } from './invoice-sections.ts';
import { type Total, totalsOf } from './invoice-totals.ts';
import { createPdfWriter, type PdfWriter } from './pdf-writer.ts';

const GAP = 10;
const NUMBER_WIDTH = 70;
const TOTAL_HEIGHT = 16;
const SMALL = { size: 8, isQuiet: true } as const;
const RIGHT = { align: 'right' } as const;

interface Columns {
  descriptionWidth: number;
  quantity: number;
  quantityWidth: number;
  price: number;
  priceWidth: number;
  amount: number;
  amountWidth: number;
  /** Prints an amount with its decimal point below those of the other amounts. */
  amountText: (nanos: bigint) => string;
}

// A text that fits exactly can be broken, so the column is a little wider.
const widthOf = (pdf: PdfWriter, texts: readonly string[]): number =>
  Math.max(NUMBER_WIDTH, ...texts.map((text) => Math.ceil(pdf.widthOf(text) + 1)));

const columnsOf = (pdf: PdfWriter, invoice: IssuedInvoice, totals: readonly Pick<Total, 'nanos'>[]): Columns => {
  const { lines } = invoice;
  const amounts = [...lines.map(({ amount_nanos }) => amount_nanos), ...totals.map(({ nanos }) => nanos)];
  const decimals = decimalsOf(amounts, invoice);
  const printed = (nanos: bigint): string => amountText(nanos, invoice, decimals);
  const amountWidth = widthOf(pdf, amounts.map(printed));
  const amount = pdf.width() - amountWidth;
  const priceWidth = widthOf(
    pdf,
    lines.map((line) => unitPriceText(line, invoice)),
  );
  const price = amount - GAP - priceWidth;
  const quantityWidth = widthOf(pdf, lines.map(quantityText));
  const quantity = price - GAP - quantityWidth;
  return { descriptionWidth: quantity - GAP, quantity, quantityWidth, price, priceWidth, amount, amountWidth, amountText: printed };
};

const putColumnHeads = (pdf: PdfWriter, columns: Columns): void => {
  pdf.put('Description', 0, pdf.y(), columns.descriptionWidth, SMALL);
  pdf.put('Quantity', columns.quantity, pdf.y(), columns.quantityWidth, { ...SMALL, ...RIGHT });
  pdf.put('Unit price', columns.price, pdf.y(), columns.priceWidth, { ...SMALL, ...RIGHT });
  pdf.put('Amount', columns.amount, pdf.y(), columns.amountWidth, { ...SMALL, ...RIGHT });
  pdf.skip(14);
  pdf.rule();
  pdf.skip(7);
};

interface Placed {
  text: string;
  x: number;
  width: number;
  align?: 'right';
}

const cellsOf = (columns: Columns, line: InvoiceLine, currency: DocumentCurrency): Placed[] => [
  { text: line.description, x: 0, width: columns.descriptionWidth },
  { text: quantityText(line), x: columns.quantity, width: columns.quantityWidth, ...RIGHT },
  { text: unitPriceText(line, currency), x: columns.price, width: columns.priceWidth, ...RIGHT },
  { text: columns.amountText(line.amount_nanos), x: columns.amount, width: columns.amountWidth, ...RIGHT },
];

const putLine = (pdf: PdfWriter, columns: Columns, line: InvoiceLine, currency: DocumentCurrency): void => {
  const cells = cellsOf(columns, line, currency);
  const height = Math.max(...cells.map(({ text, width }) => pdf.heightOf(text, width)));
  pdf.need(height);
  for (const { text, x, width, ...style } of cells) pdf.put(text, x, pdf.y(), width, style);
  pdf.skip(height + 4);
};

const putLines = (pdf: PdfWriter, columns: Columns, invoice: IssuedInvoice): void => {
  pdf.repeat(() => putColumnHeads(pdf, columns));
  for (const { heading, lines: found } of sectionsOf(invoice.lines)) {
    // A heading stays with its first line.
    pdf.need(46);
    pdf.skip(3);
    pdf.put(heading, 0, pdf.y(), pdf.width(), { weight: 'bold' });
    pdf.skip(16);
    for (const line of found) putLine(pdf, columns, line, invoice);
    pdf.skip(5);
  }
  pdf.repeat(undefined);
};

const putTotals = (pdf: PdfWriter, columns: Columns, invoice: IssuedInvoice, totals: readonly Total[]): void => {
  // The totals stay on one page.
  pdf.need((totals.length + 2) * TOTAL_HEIGHT);
  pdf.rule();
  pdf.skip(10);
  for (const { label, nanos } of totals) putTotal(pdf, label, columns.amountText(nanos));
  pdf.skip(3);
  putTotal(pdf, `Total due (${invoice.currency})`, amountText(invoice.total_nanos, invoice), true);
  pdf.skip(14);
};

const putAnnexHeads = (pdf: PdfWriter, columns: Columns): void => {
  pdf.put('Project', 0, pdf.y(), columns.descriptionWidth, SMALL);
  pdf.put('Requests', columns.quantity, pdf.y(), columns.quantityWidth, { ...SMALL, ...RIGHT });
  pdf.put('Amount', columns.amount, pdf.y(), columns.amountWidth, { ...SMALL, ...RIGHT });
  pdf.skip(14);
  pdf.rule();
  pdf.skip(7);
};

const putAnnex = (pdf: PdfWriter, columns: Columns, { rows, totals }: Annex, invoice: IssuedInvoice): void => {
  pdf.need(80);
  pdf.skip(10);
  pdf.put('Annex: models by project', 0, pdf.y(), pdf.width(), { weight: 'bold' });
  pdf.skip(18);
  pdf.repeat(() => putAnnexHeads(pdf, columns));
  for (const { label, requests, nanos } of rows) {
    pdf.need(TOTAL_HEIGHT);
    pdf.put(label, 0, pdf.y(), columns.descriptionWidth);
    pdf.put(requests, columns.quantity, pdf.y(), columns.quantityWidth, RIGHT);
    pdf.put(columns.amountText(nanos), columns.amount, pdf.y(), columns.amountWidth, RIGHT);
    pdf.skip(TOTAL_HEIGHT);
  }
  pdf.repeat(undefined);
  putTotals(pdf, columns, invoice, totals);
};

const paymentText = (invoice: IssuedInvoice): string => {
  const { total_nanos, currency, due_at } = invoice;
  const amount = `${amountText(total_nanos, invoice)} ${currency}`;
  if (total_nanos === 0n) return `${amount}, nothing to pay`;
  return due_at === null ? amount : `${amount} due on ${dateText(due_at)}`;
};

/** An issued invoice as a PDF. Equal invoices give equal bytes. */
export const invoicePdf = async (fonts: Fonts, invoice: IssuedInvoice): Promise<Buffer> => {
  const { number, seller, buyer, month, issued_at, due_at, purchase_order } = invoice;
  const period = monthText(month);
  const pdf = createPdfWriter(fonts, {
    title: `Invoice ${number} · ${period}`,
    author: seller.legal_name,
    country: seller.address?.country,
    running: `Invoice ${number}  ·  ${period}  ·  ${seller.legal_name}`,
    atMs: issued_at,
  });
  pdf.addPage();
  putHead(pdf, {
    kind: 'Invoice',
    period,
    seller,
    buyer,
    facts: [
      ['Number', number],
      ['Customer number', invoice.organization],
      ['Issue date', dateText(issued_at)],
      ...(due_at === null ? [] : [['Due date', dateText(due_at)] as const]),
      ['Terms', termsOf(invoice.payment_terms_days)],
      ['Period (UTC)', periodText(month)],
      ...(purchase_order === null ? [] : [['Purchase order', purchase_order] as const]),
    ],
  });
  pdf.skip(pdf.put(paymentText(invoice), 0, pdf.y(), pdf.width(), { size: 14, weight: 'bold' }));
  pdf.skip(16);
  const totals = totalsOf(invoice);
  const annex = annexOf(invoice);
  const columns = columnsOf(pdf, invoice, [...totals, ...(annex?.rows ?? []), ...(annex?.totals ?? [])]);
  putLines(pdf, columns, invoice);
  putTotals(pdf, columns, invoice, totals);
  if (invoice.note) putNote(pdf, 'Note', invoice.note);
  if (invoice.payment_instructions !== null) putNote(pdf, 'Payment', invoice.payment_instructions);
  if (invoice.carried_forward_nanos !== 0n)
    putNote(pdf, 'Carried forward', `${amountText(-invoice.carried_forward_nanos, invoice)} is deducted from the next invoice.`);
  putNote(pdf, 'SHA-256 of the inputs of this invoice', invoice.inputs_sha256);
  if (annex) putAnnex(pdf, columns, annex, invoice);
  return pdf.end();
};
