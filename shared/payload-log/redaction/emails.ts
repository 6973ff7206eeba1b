import { ANY_LETTER, codeOf, isIn, LABEL, LOCAL } from './characters.ts';
import { afterRun, type Match, type Scan } from './scan.ts';

const MAX_LOCAL = 64;
const MAX_LABEL = 63;
// Before the last label.
const MAX_LABELS = 8;
const MIN_LAST_LABEL = 2;
const DOT = codeOf('.');

// Returns 0 if no domain begins here.
const endOfDomain = (scan: Scan, from: number): number => {
  const { codes } = scan;
  let end = 0;
  let at = from;
  for (let labels = 0; labels <= MAX_LABELS; labels++) {
    const afterLetters = afterRun(scan, at, ANY_LETTER, MAX_LABEL);
    if (labels > 0 && afterLetters - at >= MIN_LAST_LABEL) end = afterLetters;
    const afterLabel = afterRun(scan, afterLetters, LABEL, MAX_LABEL - (afterLetters - at));
    if (afterLabel === at || codes[afterLabel] !== DOT) break;
    at = afterLabel + 1;
  }
  return end;
};

/** The email address around the `@` that is here. @param after the address begins here or later */
export const emailAround = (scan: Scan, at: number, after: number): Match | undefined => {
  let from = at;
  while (at - from < MAX_LOCAL && from > after && isIn(scan.codes[from - 1], LOCAL)) from--;
  scan.steps += at - from;
  if (from === at) return undefined;
  const to = endOfDomain(scan, at + 1);
  return to > 0 ? { from, to } : undefined;
};
