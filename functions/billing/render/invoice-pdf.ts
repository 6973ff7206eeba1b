import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { type IssuedInvoice, termsOf } from '../focus/invoice-detail.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import { sectionsOf } from './invoice-sections.ts';
import { type Total, totalsOf } from './invoice-totals.ts';
import { amountText, dateText, decimalsOf, monthText, periodText, quantityText, unitPriceText } from './printed.ts';
import { createSheet, type Sheet } from './sheet.ts';

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
const widthOf = (sheet: Sheet, texts: readonly string[]): number =>
  Math.max(NUMBER_WIDTH, ...texts.map((text) => Math.ceil(sheet.widthOf(text) + 1)));

const columnsOf = (sheet: Sheet, { lines, currency_symbol }: IssuedInvoice, totals: readonly Total[]): Columns => {
  const amounts = [...lines.map(({ amount_nanos }) => amount_nanos), ...totals.map(({ nanos }) => nanos)];
  const decimals = decimalsOf(amounts);
  const printed = (nanos: bigint): string => amountText(nanos, currency_symbol, decimals);
  const amountWidth = widthOf(sheet, amounts.map(printed));
  const amount = sheet.width() - amountWidth;
  const priceWidth = widthOf(
    sheet,
    lines.map((line) => unitPriceText(line, currency_symbol)),
  );
  const price = amount - GAP - priceWidth;
  const quantityWidth = widthOf(sheet, lines.map(quantityText));
  const quantity = price - GAP - quantityWidth;
  return { descriptionWidth: quantity - GAP, quantity, quantityWidth, price, priceWidth, amount, amountWidth, amountText: printed };
};

const putColumnHeads = (sheet: Sheet, columns: Columns): void => {
  sheet.put('Description', 0, sheet.y(), columns.descriptionWidth, SMALL);
  sheet.put('Quantity', columns.quantity, sheet.y(), columns.quantityWidth, { ...SMALL, ...RIGHT });
  sheet.put('Unit price', columns.price, sheet.y(), columns.priceWidth, { ...SMALL, ...RIGHT });
  sheet.put('Amount', columns.amount, sheet.y(), columns.amountWidth, { ...SMALL, ...RIGHT });
  sheet.skip(14);
  sheet.rule();
  sheet.skip(7);
};

interface Placed {
  text: string;
  x: number;
  width: number;
  align?: 'right';
}

const cellsOf = (columns: Columns, line: InvoiceLine, symbol: string): Placed[] => [
  { text: line.description, x: 0, width: columns.descriptionWidth },
  { text: quantityText(line), x: columns.quantity, width: columns.quantityWidth, ...RIGHT },
  { text: unitPriceText(line, symbol), x: columns.price, width: columns.priceWidth, ...RIGHT },
  { text: columns.amountText(line.amount_nanos), x: columns.amount, width: columns.amountWidth, ...RIGHT },
];

const putLine = (sheet: Sheet, columns: Columns, line: InvoiceLine, symbol: string): void => {
  const cells = cellsOf(columns, line, symbol);
  const height = Math.max(...cells.map(({ text, width }) => sheet.heightOf(text, width)));
  sheet.need(height);
  for (const { text, x, width, ...style } of cells) sheet.put(text, x, sheet.y(), width, style);
  sheet.skip(height + 4);
};

const putLines = (sheet: Sheet, columns: Columns, { lines, currency_symbol }: IssuedInvoice): void => {
  sheet.repeat(() => putColumnHeads(sheet, columns));
  for (const { heading, lines: found } of sectionsOf(lines)) {
    // A heading stays with its first line.
    sheet.need(46);
    sheet.skip(3);
    sheet.put(heading, 0, sheet.y(), sheet.width(), { weight: 'bold' });
    sheet.skip(16);
    for (const line of found) putLine(sheet, columns, line, currency_symbol);
    sheet.skip(5);
  }
  sheet.repeat(undefined);
};

const putTotals = (sheet: Sheet, columns: Columns, invoice: IssuedInvoice, totals: readonly Total[]): void => {
  // The totals stay on one page.
  sheet.need((totals.length + 2) * TOTAL_HEIGHT);
  sheet.rule();
  sheet.skip(10);
  for (const { label, nanos } of totals) putTotal(sheet, label, columns.amountText(nanos));
  sheet.skip(3);
  putTotal(sheet, `Total due (${invoice.currency})`, amountText(invoice.total_nanos, invoice.currency_symbol), true);
  sheet.skip(14);
};

const paymentText = ({ total_nanos, currency, currency_symbol, due_at }: IssuedInvoice): string => {
  const amount = `${amountText(total_nanos, currency_symbol)} ${currency}`;
  if (total_nanos === 0n) return `${amount}, nothing to pay`;
  return due_at === null ? amount : `${amount} due on ${dateText(due_at)}`;
};

/** An issued invoice as a PDF. Equal invoices give equal bytes. */
export const invoicePdf = async (fonts: Fonts, invoice: IssuedInvoice): Promise<Buffer> => {
  const { number, seller, buyer, month, currency_symbol: symbol, issued_at, due_at, purchase_order } = invoice;
  const period = monthText(month);
  const sheet = createSheet(fonts, {
    title: `Invoice ${number} · ${period}`,
    author: seller.legal_name,
    country: seller.address?.country,
    running: `Invoice ${number}  ·  ${period}  ·  ${seller.legal_name}`,
    atMs: issued_at,
  });
  sheet.addPage();
  putHead(sheet, {
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
  sheet.skip(sheet.put(paymentText(invoice), 0, sheet.y(), sheet.width(), { size: 14, weight: 'bold' }));
  sheet.skip(16);
  const totals = totalsOf(invoice);
  const columns = columnsOf(sheet, invoice, totals);
  putLines(sheet, columns, invoice);
  putTotals(sheet, columns, invoice, totals);
  if (invoice.note) putNote(sheet, 'Note', invoice.note);
  if (invoice.payment_instructions !== null) putNote(sheet, 'Payment', invoice.payment_instructions);
  if (invoice.carried_forward_nanos !== 0n)
    putNote(sheet, 'Carried forward', `${amountText(-invoice.carried_forward_nanos, symbol)} is deducted from the next invoice.`);
  putNote(sheet, 'SHA-256 of the inputs of this invoice', invoice.inputs_sha256);
  return sheet.end();
};
