import { inflateSync } from 'node:zlib';

/** A text of a page as it is printed. Lengths are points, from the left and from the bottom of the page. */
export interface PrintedText {
  page: number;
  text: string;
  x: number;
  y: number;
  /** Where it ends. */
  end: number;
}

interface Font {
  letters: string[];
  /** In thousandths of the font's size. */
  widths: number[];
}

const objectsOf = (pdf: Buffer): Map<string, string> => {
  const text = pdf.toString('latin1');
  return new Map([...text.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, id = '', body = '']) => [id, body]));
};

const contentOf = (object = ''): string => {
  const [, packed = ''] = /stream\n([\s\S]*)\nendstream/.exec(object) ?? [];
  return inflateSync(Buffer.from(packed, 'latin1')).toString('latin1');
};

const referenceIn = (object: string, name: string): string => new RegExp(`/${name} (?:\\[\\s*)?(\\d+) 0 R`).exec(object)?.[1] ?? '';
const letterOf = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le');

const fontOf = (objects: ReadonlyMap<string, string>, id: string): Font => {
  const font = objects.get(id) ?? '';
  const map = contentOf(objects.get(referenceIn(font, 'ToUnicode')));
  const letters = [...map.matchAll(/<[0-9a-f]+> <[0-9a-f]+> \[(.*)\]/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/<([0-9a-f ]+)>/g)].map(([, hex = '']) => letterOf(hex.replaceAll(' ', ''))),
  );
  const [, widths = ''] = /\/W \[0 \[([\d. ]*)\]\]/.exec(objects.get(referenceIn(font, 'DescendantFonts')) ?? '') ?? [];
  return { letters, widths: widths.split(' ').map(Number) };
};

const SHOWN = /1 0 0 1 ([\d.]+) ([\d.]+) Tm\n\/(F\d+) ([\d.]+) Tf\n\[(.*)\] TJ/g;

/**
 * All texts of a PDF of ours, page by page, in the order in which they are drawn. It reads what pdfkit writes, and
 * nothing else.
 */
export const textsOf = (pdf: Buffer): PrintedText[] => {
  const objects = objectsOf(pdf);
  const fonts = new Map<string, Font>();
  const fontAt = (id: string): Font => {
    const font = fonts.get(id) ?? fontOf(objects, id);
    fonts.set(id, font);
    return font;
  };
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\n/.test(body));
  return pages.flatMap((body, page) => {
    const resources = objects.get(referenceIn(body, 'Resources')) ?? '';
    return [...contentOf(objects.get(referenceIn(body, 'Contents'))).matchAll(SHOWN)].map(([, x, y, name = '', size, shown = '']) => {
      const { letters, widths } = fontAt(referenceIn(resources, name));
      let text = '';
      let width = 0;
      for (const [, glyphs = '', adjustment = '0'] of shown.matchAll(/<([0-9a-f]+)>|(-?[\d.]+)/g)) {
        width -= Number(adjustment);
        for (const [glyph] of glyphs.matchAll(/.{4}/g)) {
          text += letters[Number.parseInt(glyph, 16)] ?? '';
          width += widths[Number.parseInt(glyph, 16)] ?? 0;
        }
      }
      return { page: page + 1, text, x: Number(x), y: Number(y), end: Number(x) + (width * Number(size)) / 1_000 };
    });
  });
};
