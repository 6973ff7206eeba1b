/** The deepest JSON that we accept: no request needs more, and recursive readers downstream have small stacks. */
export const MAX_DEPTH = 64;

/** The most values in a body: small values need far more memory than text, and more than these would not fit. */
export const MAX_VALUES = 250_000;

/**
 * The most keys of one object: reading and copying a wider object takes several times as long as narrow ones of the
 * same total size.
 */
export const MAX_WIDTH = 4_096;

// Measured without parsing the text.
interface JsonSize {
  depth: number;
  /** An upper bound on values plus keys: a unique key costs as much memory as a value. */
  values: number;
  /** The keys of its widest object. */
  width: number;
  /** It has a number that JavaScript would print differently, such as 1.0, 1e3 or 9007199254740993. */
  hasOtherNumbers: boolean;
  /** It has a number that no double can hold, such as 1e400: some runtimes reject it, others read infinity. */
  hasInfinity: boolean;
}

// Longer numbers can lose digits.
const MAX_EXACT_DIGITS = 15;

const isDigit = (character: number): boolean => character >= 0x30 && character <= 0x39;
const isOfNumber = (character: number): boolean =>
  isDigit(character) || character === 0x2e || (character | 0x20) === 0x65 || character === 0x2b || character === 0x2d;

/** JavaScript would print this number differently. */
export const isOtherNumber = (source: string): boolean => String(Number(source)) !== source;

// The index after the closing quote.
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
};

const endOfNumber = (text: string, start: number): number => {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end++;
  return end;
};

const isWhole = (text: string, start: number, end: number): boolean => {
  for (let at = start; at < end; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return end - start <= MAX_EXACT_DIGITS;
};

export const measureJson = (text: string): JsonSize => {
  const widths = new Uint32Array(MAX_DEPTH + 1);
  let width = 0;
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let hasOtherNumbers = false;
  let hasInfinity = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x22) i = endOfString(text, i) - 1;
    else if (character === 0x2c) values++;
    else if (character === 0x3a) {
      values++;
      const keys = (widths[depth] ?? 0) + 1;
      widths[depth] = keys;
      if (keys > width) width = keys;
    } else if (character === 0x7b || character === 0x5b) {
      values++;
      deepest = Math.max(deepest, ++depth);
      widths[depth] = 0;
    } else if (character === 0x7d || character === 0x5d) depth--;
    else if (isDigit(character) || character === 0x2d) {
      const end = endOfNumber(text, i);
      if (!isWhole(text, i, end)) {
        const source = text.slice(i, end);
        hasOtherNumbers ||= isOtherNumber(source);
        hasInfinity ||= Math.abs(Number(source)) === Number.POSITIVE_INFINITY;
      }
      i = end - 1;
    }
  }
  return { depth: deepest, values, width, hasOtherNumbers, hasInfinity };
};
