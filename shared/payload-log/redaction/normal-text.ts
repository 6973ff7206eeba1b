import { codeOf, DIGIT, HEX, isIn, OTHER, OTHER_DIGIT, OTHER_LETTER } from './characters.ts';

/**
 * A text as patterns read it: spaces, dashes, digits and letters of other widths are those of ASCII, characters
 * without a width are left out, and the escapes of JSON are what they stand for, however often the text was made
 * JSON. It is valid until the next text is normalized.
 */
export interface NormalText {
  /** A code of `characters.ts` for each character, from the index 1 on, between two zeros. */
  codes: Uint8Array;
  /** The index after the last character. */
  end: number;
  /** The start of the character at an index in the text itself, which is also the end of the one before it. */
  originOf: (index: number) => number;
}

const LAST_ASCII = 127;
const BACKSLASH = codeOf('\\');
const NEWLINE = codeOf('\n');
const UNICODE = codeOf('u');
// The number in an escape such as `\\u00a0` has so many digits.
const HEX_DIGITS = 4;
const HEX_BASE = 16;

const UNKNOWN = 0;
// A character without a width.
const WIDTHLESS = 255;

const known = new Uint8Array(0x1_0000);

// The dashes of Unicode, and its minus.
const DASH = /[\p{Pd}\u2212]/u;
// Half of a character. Nothing beyond the basic plane is searched.
const HALF = /[\ud800-\udfff]/;

const normalCodeOf = (code: number): number => {
  const character = String.fromCharCode(code);
  if (HALF.test(character)) return OTHER;
  if (/\p{Default_Ignorable_Code_Point}/u.test(character)) return WIDTHLESS;
  if (/\p{Zs}/u.test(character)) return codeOf(' ');
  if (/[\p{Zl}\p{Zp}\x85]/u.test(character)) return NEWLINE;
  if (DASH.test(character)) return codeOf('-');
  const compatible = character.normalize('NFKC');
  if (compatible.length === 1 && codeOf(compatible) <= LAST_ASCII) return codeOf(compatible);
  if (/[\p{L}\p{M}]/u.test(character)) return OTHER_LETTER;
  return /\p{N}/u.test(character) ? OTHER_DIGIT : OTHER;
};

const codeOfAny = (code: number): number => {
  if (code <= LAST_ASCII) return code;
  const before = known[code] as number;
  if (before !== UNKNOWN) return before;
  const normal = normalCodeOf(code);
  known[code] = normal;
  return normal;
};

// By the code of the letter in the escape.
const ESCAPES: Readonly<Record<number, number>> = Object.fromEntries([
  ...[...'nrtbf'].map((letter) => [codeOf(letter), NEWLINE]),
  ...[...'"\'/'].map((character) => [codeOf(character), codeOf(character)]),
]);

// Reused, because allocating memory for each of many short texts takes longer than reading them.
let codes = new Uint8Array(4_096);
let origins = new Uint32Array(0);

const roomFor = (characters: number): number => 2 ** Math.ceil(Math.log2(characters + 2));

const ZERO = codeOf('0');
const SMALL_A = codeOf('a');
const SMALL = 0x20;

// Returns -1 if there are not enough digits.
const numberAt = (text: string, from: number): number => {
  let number = 0;
  for (let at = from; at < from + HEX_DIGITS; at++) {
    const code = text.charCodeAt(at);
    if (code <= LAST_ASCII && isIn(code, DIGIT)) number = number * HEX_BASE + code - ZERO;
    else if (code <= LAST_ASCII && isIn(code, HEX)) number = number * HEX_BASE + (code | SMALL) - SMALL_A + 10;
    else return -1;
  }
  return number;
};

// One backslash, or more if the text was made JSON more than once.
const afterBackslashes = (text: string, at: number): number => {
  let next = at + 1;
  while (text.charCodeAt(next) === BACKSLASH) next++;
  return next;
};

// From the first character that is not ASCII's, or is an escape.
const normalizeFrom = (text: string, from: number): NormalText => {
  if (origins.length < codes.length) origins = new Uint32Array(codes.length);
  let end = 1;
  for (; end <= from; end++) origins[end] = end - 1;
  let next = from;
  while (next < text.length) {
    const at = next;
    let code = text.charCodeAt(at);
    next++;
    if (code === BACKSLASH) {
      next = afterBackslashes(text, at);
      const letter = text.charCodeAt(next);
      const number = letter === UNICODE ? numberAt(text, next + 1) : -1;
      code = number < 0 ? (ESCAPES[letter] ?? BACKSLASH) : number;
      if (number >= 0) next += 1 + HEX_DIGITS;
      else if (code !== BACKSLASH) next++;
    }
    const normal = codeOfAny(code);
    if (normal === WIDTHLESS) continue;
    origins[end] = at;
    codes[end++] = normal;
  }
  codes[end] = 0;
  origins[end] = text.length;
  return { codes, end, originOf: (index) => origins[index] as number };
};

const samePlace = (index: number): number => index - 1;

export const normalize = (text: string): NormalText => {
  const { length } = text;
  if (codes.length < length + 2) codes = new Uint8Array(roomFor(length));
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code > LAST_ASCII || code === BACKSLASH) return normalizeFrom(text, at);
    codes[at + 1] = code;
  }
  codes[length + 1] = 0;
  return { codes, end: length + 1, originOf: samePlace };
};
