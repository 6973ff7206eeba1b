/** The work that the redaction of one direction may take. A step is about what it takes to read a character. */
export interface RedactionBudget {
  left: number;
}

/** Steps for one direction: three for each byte that is kept. Reading ordinary text takes one to two. */
export const MAX_STEPS = 3_000_000;
/** Steps for the search of a text, in addition to its characters. */
export const TEXT_STEPS = 30;
/** Steps for a value with its name, in addition to their texts. */
export const VALUE_STEPS = 50;
/** Steps for a replacement. */
export const REPLACEMENT_STEPS = 20;
