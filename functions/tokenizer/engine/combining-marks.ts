import { TextRefused } from '../../../shared/tokens/errors.ts';

/** The time to normalize a run of marks grows with the square of its length. No language has more than a few in a row. */
const MAX_MARKS = 1_024;

/** Matches only from the first mark of a run, so that each character is scanned once. */
const TOO_MANY = new RegExp(`(?<!\\p{M})\\p{M}{${MAX_MARKS + 1}}`, 'u');

/** Throws TextRefused for a text that would take too long to normalize. */
export const refuseManyMarks = (text: string): void => {
  if (TOO_MANY.test(text)) throw new TextRefused(`more than ${MAX_MARKS} combining marks in a row`);
};
