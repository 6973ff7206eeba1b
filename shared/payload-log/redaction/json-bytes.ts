const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
// Backspace, tab, line feed, form feed and carriage return have an escape of one letter.
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
// Such as `\u0000`.
const LONG_ESCAPE_BYTES = 6;
// The first characters with two and with three bytes in UTF-8.
const TWO_BYTES = 0x80;
const THREE_BYTES = 0x800;
const PAIR_BYTES = 4;

const isHighHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The bytes of a text as JSON in UTF-8, with its quotation marks. */
export const jsonBytesOf = (text: string): number => {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PRINTABLE) bytes += SHORT_ESCAPES.has(code) ? 2 : LONG_ESCAPE_BYTES;
    else if (code === QUOTE || code === BACKSLASH) bytes += 2;
    else if (code < TWO_BYTES) bytes++;
    else if (code < THREE_BYTES) bytes += 2;
    else if (isHighHalf(code) && isLowHalf(text.charCodeAt(at + 1))) {
      bytes += PAIR_BYTES;
      at++;
    } else bytes += isHighHalf(code) || isLowHalf(code) ? LONG_ESCAPE_BYTES : 3;
  }
  return bytes;
};
