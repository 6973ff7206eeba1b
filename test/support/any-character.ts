import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

const indexOf = (character: unknown): number => {
  const code = typeof character === 'string' && character.isWellFormed() ? character.codePointAt(0) : undefined;
  if (code === undefined || character !== String.fromCodePoint(code)) throw new Error('This is not one character.');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
};

/**
 * Any character of Unicode, as a unit of `fc.string`. fast-check's own unit `binary` has the same characters, but makes
 * a map of them all, which takes a second and stays in its process with 86 MB.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: LAST - SURROGATES })
  .map((index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES), indexOf);
