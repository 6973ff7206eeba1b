import type { Invoice } from '../../../shared/billing/invoice.ts';
import { demandsTaxId } from './buyer-tax-id.ts';
import type { PdfWriter } from './pdf-writer.ts';

type Party = Invoice['buyer'];

const LINE_HEIGHT = 13;
const LABEL_WIDTH = 92;
const GAP = 10;

const countryName = (code: string): string => new Intl.DisplayNames(['en'], { type: 'region' }).of(code) ?? code;

const taxIdOf = ({ tax_id }: Party, isDemanded: boolean): string[] => {
  if (tax_id !== null) return [`Tax ID ${tax_id}`];
  return isDemanded ? ['Tax ID: none given'] : [];
};

const detailsOf = (party: Party, isTaxIdDemanded: boolean): string[] => [
  ...(party.address ? [...party.address.lines, countryName(party.address.country)] : []),
  ...taxIdOf(party, isTaxIdDemanded),
  ...(party.email === null ? [] : [party.email]),
];

const putParty = (pdf: PdfWriter, party: Party, top: number, isTaxIdDemanded = false): number => {
  const width = pdf.width() / 2 - 12;
  let y = top;
  y += pdf.put(party.legal_name, 0, y, width, { size: 10, weight: 'bold' }) + 2;
  for (const line of detailsOf(party, isTaxIdDemanded)) y += pdf.put(line, 0, y, width, { isQuiet: true });
  return y - top;
};

interface Head {
  kind: string;
  /** The month of the document, such as `October 2026`. */
  period: string;
  seller: Party;
  buyer: Party;
  /** Such as the number and the due date. */
  facts: readonly (readonly [label: string, value: string])[];
}

/** Prints the top of the first page: the kind of document, seller, buyer and facts. */
export const putHead = (pdf: PdfWriter, { kind, period, seller, buyer, facts }: Head): void => {
  const half = pdf.width() / 2 - 12;
  const right = pdf.width() / 2 + 12;
  const top = pdf.y();
  const kindHeight = pdf.put(kind, right, top - 6, half, { size: 22, weight: 'bold', align: 'right' });
  const periodHeight = pdf.put(period, right, top - 6 + kindHeight, half, { size: 12, isQuiet: true, align: 'right' });
  const sellerHeight = putParty(pdf, seller, top);
  pdf.moveTo(top + Math.max(sellerHeight, kindHeight + periodHeight) + 26);

  const blocks = pdf.y();
  pdf.put('Bill to', 0, blocks, half, { size: 8, isQuiet: true });
  const buyerHeight = LINE_HEIGHT + putParty(pdf, buyer, blocks + LINE_HEIGHT, demandsTaxId(seller, buyer));
  let y = blocks;
  for (const [label, value] of facts) {
    pdf.put(label, right, y, LABEL_WIDTH, { isQuiet: true });
    y += Math.max(LINE_HEIGHT, pdf.put(value, right + LABEL_WIDTH, y, half - LABEL_WIDTH, { align: 'right' }));
  }
  pdf.moveTo(Math.max(blocks + buyerHeight, y) + 22);
};

/** Prints a label and an amount in the right half, as a total. */
export const putTotal = (pdf: PdfWriter, label: string, amount: string, isFinal = false): void => {
  const style = isFinal ? ({ size: 11, weight: 'bold' } as const) : {};
  const right = pdf.width() / 2 + 12;
  const half = pdf.width() / 2 - 12;
  const labelWidth = half - pdf.widthOf(amount, style) - GAP;
  const height = pdf.heightOf(label, labelWidth, style);
  pdf.need(height);
  pdf.put(label, right, pdf.y(), labelWidth, { ...style, isQuiet: !isFinal });
  pdf.put(amount, right, pdf.y(), half, { ...style, align: 'right' });
  pdf.skip(height + 2);
};

/** Prints a paragraph with a small heading. */
export const putNote = (pdf: PdfWriter, heading: string, text: string): void => {
  pdf.need(LINE_HEIGHT + pdf.heightOf(text, pdf.width()));
  pdf.put(heading, 0, pdf.y(), pdf.width(), { size: 8, isQuiet: true });
  pdf.skip(LINE_HEIGHT);
  pdf.skip(pdf.put(text, 0, pdf.y(), pdf.width()) + 10);
};
