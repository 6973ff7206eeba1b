import { TextRefused } from '../../../shared/tokens/errors.ts';

/** Normalization takes time that grows with the square of a run of marks. No language has more than a few in a row. */
const MAX_MARKS = 1_024;

/** Begins nowhere but at the first mark of a run, so that each character is looked at once. */
const TOO_MANY = new RegExp(`(?<!\\p{M})\\p{M}{${MAX_MARKS + 1}}`, 'u');

/** Throws TextRefused for a text that could not be normalized in time. */
export const refuseManyMarks = (text: string): void => {
  if (TOO_MANY.test(text)) throw new TextRefused(`more than ${MAX_MARKS} combining marks in a row`);
};
