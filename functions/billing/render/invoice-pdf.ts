import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { endOfMonth } from '../../../shared/billing/month.ts';
import { type IssuedInvoice, termsOf } from '../focus/invoice-detail.ts';
import { putHead, putNote, putTotal } from './document-head.ts';
import type { Fonts } from './fonts.ts';
import { sectionsOf } from './invoice-sections.ts';
import { amountParts, amountText, dateText, quantityText, unitPriceText } from './printed.ts';
import { createSheet, type Sheet } from './sheet.ts';

const DAY_MS = 24 * 60 * 60_000;
const GAP = 10;
const QUANTITY_WIDTH = 82;
const PRICE_WIDTH = 82;
const WHOLE_WIDTH = 68;
/** Nine decimals. */
const FRACTION_WIDTH = 50;
const SMALL = { size: 8, isQuiet: true } as const;
const RIGHT = { align: 'right' } as const;

/** Where the columns of the lines begin, and how wide they are. */
const columnsOf = (sheet: Sheet) => {
  const fraction = sheet.width() - FRACTION_WIDTH;
  const whole = fraction - WHOLE_WIDTH;
  const price = whole - GAP - PRICE_WIDTH;
  const quantity = price - GAP - QUANTITY_WIDTH;
  return { fraction, whole, price, quantity, description: quantity - GAP };
};

const putColumnHeads = (sheet: Sheet): void => {
  const { whole, price, quantity, description } = columnsOf(sheet);
  sheet.put('Description', 0, sheet.y(), description, SMALL);
  sheet.put('Quantity', quantity, sheet.y(), QUANTITY_WIDTH, { ...SMALL, ...RIGHT });
  sheet.put('Unit price', price, sheet.y(), PRICE_WIDTH, { ...SMALL, ...RIGHT });
  sheet.put('Amount', whole, sheet.y(), WHOLE_WIDTH + FRACTION_WIDTH, { ...SMALL, ...RIGHT });
  sheet.skip(14);
  sheet.rule();
  sheet.skip(7);
};

/** A cell of a line: its text, where it begins, and how wide it is. */
interface Placed {
  text: string;
  x: number;
  width: number;
  align?: 'right';
}

const cellsOf = (sheet: Sheet, line: InvoiceLine, symbol: string): Placed[] => {
  const { fraction, whole, price, quantity, description } = columnsOf(sheet);
  const amount = amountParts(line.amount_nanos, symbol);
  return [
    { text: line.description, x: 0, width: description },
    { text: quantityText(line), x: quantity, width: QUANTITY_WIDTH, ...RIGHT },
    { text: unitPriceText(line, symbol), x: price, width: PRICE_WIDTH, ...RIGHT },
    { text: amount.whole, x: whole, width: WHOLE_WIDTH, ...RIGHT },
    { text: amount.fraction, x: fraction, width: FRACTION_WIDTH },
  ];
};

const putLine = (sheet: Sheet, line: InvoiceLine, symbol: string): void => {
  const cells = cellsOf(sheet, line, symbol);
  const height = Math.max(...cells.map(({ text, width }) => sheet.heightOf(text, width)));
  sheet.need(height);
  for (const { text, x, width, ...style } of cells) sheet.put(text, x, sheet.y(), width, style);
  sheet.skip(height + 4);
};

const putLines = (sheet: Sheet, { lines, currency_symbol }: IssuedInvoice): void => {
  sheet.repeat(() => putColumnHeads(sheet));
  // The totals show the rounding.
  for (const { heading, lines: found } of sectionsOf(lines.filter(({ kind }) => kind !== 'rounding'))) {
    // A heading stays with its first line.
    sheet.need(46);
    sheet.skip(3);
    sheet.put(heading, 0, sheet.y(), sheet.width(), { weight: 'bold' });
    sheet.skip(16);
    for (const line of found) putLine(sheet, line, currency_symbol);
    sheet.skip(5);
  }
  sheet.repeat(undefined);
};

const putTotals = (sheet: Sheet, invoice: IssuedInvoice): void => {
  const { currency, currency_symbol: symbol, subtotal_nanos, tax_nanos, total_nanos, carried_forward_nanos } = invoice;
  const rounding = invoice.lines.filter(({ kind }) => kind === 'rounding').reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n);
  sheet.need(90);
  sheet.rule();
  sheet.skip(10);
  putTotal(sheet, 'Subtotal', amountText(subtotal_nanos, symbol));
  if (tax_nanos !== 0n) putTotal(sheet, 'Tax', amountText(tax_nanos, symbol));
  if (carried_forward_nanos !== 0n) putTotal(sheet, 'Carried forward', amountText(-carried_forward_nanos, symbol));
  if (rounding !== 0n) putTotal(sheet, 'Rounding', amountText(rounding, symbol));
  sheet.skip(3);
  putTotal(sheet, `Total ${currency}`, amountText(total_nanos, symbol), true);
  sheet.skip(14);
};

/** An issued invoice as a PDF. Equal invoices give equal bytes. */
export const invoicePdf = async (fonts: Fonts, invoice: IssuedInvoice): Promise<Buffer> => {
  const { number, seller, buyer, month, currency, currency_symbol: symbol, issued_at, due_at, purchase_order } = invoice;
  const sheet = createSheet(fonts, {
    title: `Invoice ${number}`,
    author: seller.legal_name,
    country: seller.address?.country,
    running: `Invoice ${number}  ·  ${seller.legal_name}`,
    atMs: issued_at,
  });
  sheet.addPage();
  putHead(sheet, {
    kind: 'Invoice',
    seller,
    buyer,
    facts: [
      ['Number', number],
      ['Issue date', dateText(issued_at)],
      ...(due_at === null ? [] : [['Due date', dateText(due_at)] as const]),
      ['Terms', termsOf(invoice.payment_terms_days)],
      ['Period (UTC)', `1–${dateText(endOfMonth(month) - DAY_MS)}`],
      ...(purchase_order === null ? [] : [['Purchase order', purchase_order] as const]),
    ],
  });
  const due = due_at === null ? '' : ` due on ${dateText(due_at)}`;
  sheet.skip(
    sheet.put(`${amountText(invoice.total_nanos, symbol)} ${currency}${due}`, 0, sheet.y(), sheet.width(), { size: 14, weight: 'bold' }),
  );
  sheet.skip(16);
  putLines(sheet, invoice);
  putTotals(sheet, invoice);
  if (invoice.payment_instructions !== null) putNote(sheet, 'Payment', invoice.payment_instructions);
  if (invoice.carried_forward_nanos !== 0n)
    putNote(sheet, 'Carried forward', `${amountText(-invoice.carried_forward_nanos, symbol)} is deducted from the next invoice.`);
  putNote(sheet, 'SHA-256 of the inputs of this invoice', invoice.inputs_sha256);
  return sheet.end();
};
