/** The text in place of content that was too large. */
export const CUT = '[cut]';

const SPACE = /\s/;
const OF_NUMBER = /[\s\d().+-]/;

/**
 * The start of a text that is too long, with a mark at its end. It ends at a space and not within a number, because a
 * part of a card number or of a key isn't recognized as one.
 */
export const cutText = (text: string, maxCharacters: number): string => {
  if (text.length <= maxCharacters) return text;
  let end = Math.max(0, maxCharacters - CUT.length);
  while (end > 0 && !SPACE.test(text[end - 1] as string)) end--;
  while (end > 0 && OF_NUMBER.test(text[end - 1] as string)) end--;
  return text.slice(0, end) + CUT;
};
