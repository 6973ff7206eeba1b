/** The work that the redaction of one direction may take. A step is about what it takes to read a character. */
export interface Budget {
  left: number;
}

/** Of one direction: three for each byte that is kept. Reading ordinary text takes one to two. */
export const MAX_STEPS = 3_000_000;
/** What the search of a text takes besides its characters. */
export const TEXT_STEPS = 30;
/** What a value takes, with its name, besides their texts. */
export const VALUE_STEPS = 50;
/** What a replacement takes. */
export const REPLACEMENT_STEPS = 20;
