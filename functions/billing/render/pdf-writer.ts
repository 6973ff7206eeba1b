import { create as parseFont } from 'fontkit';
import PDFDocument from 'pdfkit';
import type { Fonts } from './fonts.ts';

// All other countries use A4.
const LETTER_COUNTRIES = new Set(['US', 'CA', 'MX', 'PH', 'CL', 'CO', 'VE', 'GT', 'CR', 'PA', 'DO', 'SV', 'NI', 'PR']);

const MARGIN = 54;
const FOOTER_HEIGHT = 40;
const INK = '#1a1a1a';
const QUIET = '#6b6b6b';
const RULE = '#d0d0d0';

type Weight = keyof Fonts;

// Lengths are points.
interface Style {
  size?: number;
  weight?: Weight;
  isQuiet?: boolean;
  align?: 'left' | 'right';
}

interface PdfFacts {
  title: string;
  author: string;
  /** The seller's country, which determines the paper size. */
  country: string | undefined;
  /** Text at the bottom of each page, and at the top of all pages but the first. */
  running: string;
  /** The only time in the file, in ms since the epoch. */
  atMs: number;
}

// By file: to parse both fonts takes ten times as long as to print a page with them.
const parsed = new WeakMap<Buffer, object>();

// A glyph keeps the letter for which it was first drawn, so each document has glyphs of its own: its bytes must not
// depend on the documents before.
const openFont = (file: Buffer): object => {
  const font = parsed.get(file) ?? parseFont(file);
  parsed.set(file, font);
  return Object.create(font, { _glyphs: { value: {} } });
};

/**
 * A document of pages, written from top to bottom. Equal calls give equal bytes: all times and the file's id are
 * derived from the facts.
 * @param fonts are embedded, so that the document looks the same everywhere
 */
export const createPdfWriter = (fonts: Fonts, { title, author, country, running, atMs }: PdfFacts) => {
  const at = new Date(atMs);
  const doc = new PDFDocument({
    size: country !== undefined && LETTER_COUNTRIES.has(country) ? 'LETTER' : 'A4',
    // Without a bottom margin, only `need` begins a new page.
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: 0 },
    autoFirstPage: false,
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    // Otherwise a font of the PDF standard is loaded, which lacks most letters.
    font: '',
    info: { Title: title, Author: author, Creator: 'Sluice', Producer: 'Sluice', CreationDate: at, ModDate: at },
  });
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  doc.registerFont('regular', openFont(fonts.regular) as never);
  doc.registerFont('bold', openFont(fonts.bold) as never);

  let y = 0;
  // Printed at the top of each page while it is set, such as the head of a table.
  let head: (() => void) | undefined;

  const use = ({ size = 9, weight = 'regular', isQuiet = false }: Style): void => {
    doc
      .font(weight)
      .fontSize(size)
      .fillColor(isQuiet ? QUIET : INK);
  };
  const width = (): number => doc.page.width - 2 * MARGIN;
  const put = (text: string, x: number, top: number, boxWidth: number, style: Style = {}): number => {
    if (text === '') return 0;
    use(style);
    const options = { width: boxWidth, align: style.align ?? 'left', lineGap: 1.5 } as const;
    doc.text(text, MARGIN + x, top, options);
    return doc.heightOfString(text, options);
  };
  const heightOf = (text: string, boxWidth: number, style: Style = {}): number => {
    use(style);
    return doc.heightOfString(text, { width: boxWidth, lineGap: 1.5 });
  };
  const addPage = (): void => {
    doc.addPage();
    y = MARGIN;
    if (doc.bufferedPageRange().count === 1) return;
    put(running, 0, y, width(), { size: 8, isQuiet: true });
    y += 24;
    head?.();
  };

  return {
    width,
    /** The width of a text on one line. */
    widthOf: (text: string, style: Style = {}): number => {
      use(style);
      return doc.widthOfString(text);
    },
    heightOf,
    addPage,
    /** The distance of the next line from the top of the page. */
    y: (): number => y,
    moveTo: (top: number): void => {
      y = top;
    },
    skip: (height: number): void => {
      y += height;
    },
    /** Begins a new page unless this one has room for the height. */
    need: (height: number): void => {
      if (y + height > doc.page.height - MARGIN - FOOTER_HEIGHT) addPage();
    },
    /** Prints a text in a box. @returns its height */
    put,
    /** Draws a line over the whole width. */
    rule: (weight = 0.5): void => {
      doc
        .moveTo(MARGIN, y)
        .lineTo(MARGIN + width(), y)
        .lineWidth(weight)
        .strokeColor(RULE)
        .stroke();
    },
    /** Prints a head now, and on each new page until it is replaced. */
    repeat: (print: (() => void) | undefined): void => {
      head = print;
      print?.();
    },
    /** Numbers the pages. @returns the file */
    end: async (): Promise<Buffer> => {
      const { count } = doc.bufferedPageRange();
      for (let page = 0; page < count; page++) {
        doc.switchToPage(page);
        const bottom = doc.page.height - MARGIN;
        put(running, 0, bottom, width() - 90, { size: 8, isQuiet: true });
        put(`Page ${page + 1} of ${count}`, width() - 90, bottom, 90, { size: 8, isQuiet: true, align: 'right' });
      }
      const ended = new Promise<void>((resolve) => doc.once('end', resolve));
      doc.end();
      await ended;
      return Buffer.concat(chunks);
    },
  };
};

export type PdfWriter = ReturnType<typeof createPdfWriter>;
