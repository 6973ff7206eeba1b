/** Sets of characters, as bits. Beyond ASCII, only letters and digits are told from the rest. */
export const DIGIT = 1;
/** An ASCII letter. */
export const LETTER = 2;
export const HEX = 4;
/** Word characters, `\w` in regular expressions. */
export const WORD = 8;
/** Characters of the part of an email address before the `@`. */
export const LOCAL = 16;
/** Characters of a label of a domain. */
export const LABEL = 32;
/** A letter of any script. */
export const ANY_LETTER = 64;
export const WHITESPACE = 128;
/** Characters of a bearer token. */
export const TOKEN = 256;
/** Characters of base64, in either alphabet, without its padding. */
export const BASE64 = 512;

export const ALPHANUMERIC = DIGIT | LETTER;

/** Codes of characters beyond ASCII. */
export const OTHER_LETTER = 128;
export const OTHER_DIGIT = 129;
export const OTHER = 130;

/** The ASCII code of a character. */
export const codeOf = (character: string): number => character.charCodeAt(0);

const MEMBERS: readonly (readonly [set: number, members: RegExp])[] = [
  [DIGIT, /\d/],
  [LETTER, /[A-Za-z]/],
  [HEX, /[\da-f]/i],
  [WORD, /\w/],
  [LOCAL, /[A-Za-z\d._%+'-]/],
  [LABEL, /[A-Za-z\d-]/],
  [ANY_LETTER, /[A-Za-z]/],
  [WHITESPACE, /\s/],
  [TOKEN, /[\w.~+/-]/],
  [BASE64, /[A-Za-z\d+/_-]/],
];

const setsOf = (code: number): number => {
  if (code === OTHER_LETTER) return LOCAL | LABEL | ANY_LETTER;
  if (code === OTHER_DIGIT) return LOCAL | LABEL;
  if (code >= OTHER_LETTER) return 0;
  const character = String.fromCharCode(code);
  return MEMBERS.reduce((sets, [set, members]) => (members.test(character) ? sets | set : sets), 0);
};

// The code 0, which is also before and after each text, is in no set.
const SETS = Uint16Array.from({ length: 256 }, (_, code) => setsOf(code));

/** A code is in one of these sets. */
export const isIn = (code: number | undefined, sets: number): boolean => ((SETS[code as number] as number) & sets) !== 0;
