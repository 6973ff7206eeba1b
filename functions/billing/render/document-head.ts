import type { Invoice } from '../../../shared/billing/invoice.ts';
import { demandsTaxId } from './buyer-tax-id.ts';
import type { Sheet } from './sheet.ts';

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

const putParty = (sheet: Sheet, party: Party, top: number, isTaxIdDemanded = false): number => {
  const width = sheet.width() / 2 - 12;
  let y = top;
  y += sheet.put(party.legal_name, 0, y, width, { size: 10, weight: 'bold' }) + 2;
  for (const line of detailsOf(party, isTaxIdDemanded)) y += sheet.put(line, 0, y, width, { isQuiet: true });
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
export const putHead = (sheet: Sheet, { kind, period, seller, buyer, facts }: Head): void => {
  const half = sheet.width() / 2 - 12;
  const right = sheet.width() / 2 + 12;
  const top = sheet.y();
  const kindHeight = sheet.put(kind, right, top - 6, half, { size: 22, weight: 'bold', align: 'right' });
  const periodHeight = sheet.put(period, right, top - 6 + kindHeight, half, { size: 12, isQuiet: true, align: 'right' });
  const sellerHeight = putParty(sheet, seller, top);
  sheet.moveTo(top + Math.max(sellerHeight, kindHeight + periodHeight) + 26);

  const blocks = sheet.y();
  sheet.put('Bill to', 0, blocks, half, { size: 8, isQuiet: true });
  const buyerHeight = LINE_HEIGHT + putParty(sheet, buyer, blocks + LINE_HEIGHT, demandsTaxId(seller, buyer));
  let y = blocks;
  for (const [label, value] of facts) {
    sheet.put(label, right, y, LABEL_WIDTH, { isQuiet: true });
    y += Math.max(LINE_HEIGHT, sheet.put(value, right + LABEL_WIDTH, y, half - LABEL_WIDTH, { align: 'right' }));
  }
  sheet.moveTo(Math.max(blocks + buyerHeight, y) + 22);
};

/** Prints a label and an amount in the right half, as a total. */
export const putTotal = (sheet: Sheet, label: string, amount: string, isFinal = false): void => {
  const style = isFinal ? ({ size: 11, weight: 'bold' } as const) : {};
  const right = sheet.width() / 2 + 12;
  const half = sheet.width() / 2 - 12;
  const labelWidth = half - sheet.widthOf(amount, style) - GAP;
  const height = sheet.heightOf(label, labelWidth, style);
  sheet.need(height);
  sheet.put(label, right, sheet.y(), labelWidth, { ...style, isQuiet: !isFinal });
  sheet.put(amount, right, sheet.y(), half, { ...style, align: 'right' });
  sheet.skip(height + 2);
};

/** Prints a paragraph with a small heading. */
export const putNote = (sheet: Sheet, heading: string, text: string): void => {
  sheet.need(LINE_HEIGHT + sheet.heightOf(text, sheet.width()));
  sheet.put(heading, 0, sheet.y(), sheet.width(), { size: 8, isQuiet: true });
  sheet.skip(LINE_HEIGHT);
  sheet.skip(sheet.put(text, 0, sheet.y(), sheet.width()) + 10);
};
