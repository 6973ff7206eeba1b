import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { Sheet } from './sheet.ts';

type Party = Invoice['buyer'];

const LINE_HEIGHT = 13;
const LABEL_WIDTH = 92;
/** Between a label and its amount. */
const GAP = 10;

/** The name of a country in English, such as `Germany`. */
const countryName = (code: string): string => new Intl.DisplayNames(['en'], { type: 'region' }).of(code) ?? code;

/** The lines of a party below its name. */
const detailsOf = ({ address, tax_id, email }: Party): string[] => [
  ...(address ? [...address.lines, countryName(address.country)] : []),
  ...(tax_id === null ? [] : [`Tax ID ${tax_id}`]),
  ...(email === null ? [] : [email]),
];

/** Prints a party's name and address; @returns their height */
const putParty = (sheet: Sheet, party: Party, x: number, top: number, width: number): number => {
  let y = top;
  y += sheet.put(party.legal_name, x, y, width, { size: 10, weight: 'bold' }) + 2;
  for (const line of detailsOf(party)) y += sheet.put(line, x, y, width, { isQuiet: true });
  return y - top;
};

interface Head {
  kind: string;
  seller: Party;
  buyer: Party;
  /** Such as the number and the due date. */
  facts: readonly (readonly [label: string, value: string])[];
}

/** Prints the top of the first page: what it is, who sells, who buys, and its facts. */
export const putHead = (sheet: Sheet, { kind, seller, buyer, facts }: Head): void => {
  const half = sheet.width() / 2 - 12;
  const right = sheet.width() / 2 + 12;
  const top = sheet.y();
  const titleHeight = sheet.put(kind, right, top - 6, half, { size: 22, weight: 'bold', align: 'right' });
  const sellerHeight = putParty(sheet, seller, 0, top, half);
  sheet.moveTo(top + Math.max(sellerHeight, titleHeight) + 26);

  const blocks = sheet.y();
  sheet.put('Bill to', 0, blocks, half, { size: 8, isQuiet: true });
  const buyerHeight = LINE_HEIGHT + putParty(sheet, buyer, 0, blocks + LINE_HEIGHT, half);
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
