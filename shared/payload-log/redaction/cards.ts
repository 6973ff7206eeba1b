import { codeOf, DIGIT, isIn, LETTER } from './characters.ts';
import type { Match, Scan } from './scan.ts';

const MIN_DIGITS = 13;
const MAX_DIGITS = 19;
// More than the groups of a card number. A power of two.
const GROUPS = 32;
const ZERO = codeOf('0');
const SPACE = codeOf(' ');
const HYPHEN = codeOf('-');
const MAX_DIGIT = 9;

const isSeparator = (code: number | undefined): boolean => code === SPACE || code === HYPHEN;

// The large card networks: 2[2-7], 3, 4, 5 or 6.
const isOfNetwork = ({ codes }: Scan, from: number): boolean => {
  const first = (codes[from] as number) - ZERO;
  if (first !== 2) return first >= 3 && first <= 6;
  const second = (codes[isIn(codes[from + 1], DIGIT) ? from + 1 : from + 2] as number) - ZERO;
  return second >= 2 && second <= 7;
};

// Digits in groups.
interface Run {
  from: number;
  to: number;
  digits: number;
}

// Single spaces or hyphens can be between some of the digits.
const runAt = (scan: Scan, from: number): Run => {
  const { codes } = scan;
  let at = from;
  let digits = 0;
  for (;;) {
    if (isIn(codes[at], DIGIT)) digits++;
    else if (!(isSeparator(codes[at]) && isIn(codes[at + 1], DIGIT))) break;
    at++;
  }
  scan.steps += at - from;
  return { from, to: at, digits };
};

// For each group: its start, the digits before it, and their sums with every other digit doubled (the Luhn algorithm).
const starts = new Int32Array(GROUPS);
const before = new Int32Array(GROUPS);
const evenSums = new Int32Array(GROUPS);
const oddSums = new Int32Array(GROUPS);

// A card's number begins and ends with a group, and its last digit is right (ISO/IEC 7812-1). Each group is compared
// with at most seven earlier ones.
const cardsIn = (scan: Scan, { from, to }: Run, found: (match: Match) => void): void => {
  const { codes } = scan;
  let digits = 0;
  let evenSum = 0;
  let oddSum = 0;
  let group = 0;
  let oldest = 0;
  for (let at = from; at < to; ) {
    const slot = group % GROUPS;
    starts[slot] = at;
    before[slot] = digits;
    evenSums[slot] = evenSum;
    oddSums[slot] = oddSum;
    for (; isIn(codes[at], DIGIT); at++) {
      const digit = (codes[at] as number) - ZERO;
      const doubled = digit * 2 > MAX_DIGIT ? digit * 2 - MAX_DIGIT : digit * 2;
      evenSum += digits % 2 === 0 ? doubled : digit;
      oddSum += digits % 2 === 0 ? digit : doubled;
      digits++;
    }
    group++;
    while (oldest < group && digits - (before[oldest % GROUPS] as number) > MAX_DIGITS) oldest++;
    const isOdd = digits % 2 === 1;
    for (let first = oldest; first < group; first++) {
      const start = first % GROUPS;
      if (digits - (before[start] as number) < MIN_DIGITS) break;
      scan.steps++;
      const sum = isOdd ? oddSum - (oddSums[start] as number) : evenSum - (evenSums[start] as number);
      if (sum % 10 !== 0 || !isOfNetwork(scan, starts[start] as number)) continue;
      found({ from: starts[start] as number, to: at });
      oldest = group;
      break;
    }
    // The separator.
    at++;
  }
};

// Groups next to a letter are no part of a card's number.
const withoutWords = ({ codes }: Scan, run: Run): Run => {
  let { from, to } = run;
  if (isIn(codes[from - 1], LETTER)) {
    while (isIn(codes[from], DIGIT)) from++;
    from++;
  }
  if (isIn(codes[to], LETTER)) {
    while (to > from && isIn(codes[to - 1], DIGIT)) to--;
    to--;
  }
  return { ...run, from, to };
};

/** Finds the numbers of payment cards in the digits from here on. @returns the index after these digits */
export const findCards = (scan: Scan, at: number, found: (match: Match) => void): number => {
  const { codes } = scan;
  if (!isIn(codes[at + 1], DIGIT) && !isSeparator(codes[at + 1])) return at + 1;
  const run = runAt(scan, at);
  if (run.digits >= MIN_DIGITS) cardsIn(scan, withoutWords(scan, run), found);
  return run.to;
};
