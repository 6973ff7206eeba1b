import { codeOf, DIGIT, isIn, WORD } from './characters.ts';
import { afterRun, type Scan } from './scan.ts';

const ZERO = codeOf('0');
const PLUS = codeOf('+');
const OPEN = codeOf('(');
const CLOSE = codeOf(')');
const SPACE = codeOf(' ');
const HYPHEN = codeOf('-');
// After the first one.
const MIN_DIGITS = 6;
const MAX_DIGITS = 14;
const MAX_SEPARATORS = 2;

const setOf = (characters: string): ReadonlySet<number> => new Set([...characters].map(codeOf));
const SEPARATORS = setOf(' ().-/');
const AMERICAN_SEPARATORS = setOf(' .-');

/** The index after the international number that begins with this `+`; 0: there is none. */
export const endOfInternationalPhone = (scan: Scan, plus: number): number => {
  const { codes } = scan;
  if (isIn(codes[plus - 1], WORD) || codes[plus - 1] === PLUS) return 0;
  let at = plus + 1;
  if (!isIn(codes[at], DIGIT) || codes[at] === ZERO) return 0;
  let end = 0;
  for (let digits = 0; digits < MAX_DIGITS; ) {
    let next = at + 1;
    while (next - at <= MAX_SEPARATORS && SEPARATORS.has(codes[next] as number)) next++;
    if (!isIn(codes[next], DIGIT)) break;
    at = next;
    digits++;
    if (digits >= MIN_DIGITS && !isIn(codes[at + 1], DIGIT)) end = at + 1;
  }
  scan.steps += at - plus;
  return end;
};

const AREA = 3;
const OFFICE = 3;
const LINE = 4;

// Returns 0 if there are fewer digits, or more.
const afterDigits = (scan: Scan, from: number, count: number): number => {
  const to = afterRun(scan, from, DIGIT, count + 1);
  return to - from === count ? to : 0;
};

// Returns 0 if no separator is here.
const afterSeparator = ({ codes }: Scan, at: number): number => (at > 0 && AMERICAN_SEPARATORS.has(codes[at] as number) ? at + 1 : 0);

// With its separators: `(555) ` or `555-`. Returns 0 if none is here.
const afterArea = (scan: Scan, at: number): number => {
  const { codes } = scan;
  if (codes[at] !== OPEN) return afterSeparator(scan, afterDigits(scan, at, AREA));
  const close = afterDigits(scan, at + 1, AREA);
  if (close === 0 || codes[close] !== CLOSE) return 0;
  return codes[close + 1] === SPACE ? close + 2 : close + 1;
};

/** The index after the North American number that begins here, with a digit or a parenthesis; 0: there is none. */
export const endOfAmericanPhone = (scan: Scan, at: number): number => {
  const { codes } = scan;
  const before = codes[at - 1];
  if (isIn(before, WORD) || before === OPEN || before === HYPHEN) return 0;
  const area = afterArea(scan, at);
  const office = area > 0 ? afterSeparator(scan, afterDigits(scan, area, OFFICE)) : 0;
  const end = office > 0 ? afterDigits(scan, office, LINE) : 0;
  return end > 0 && !isIn(codes[end], WORD) && codes[end] !== HYPHEN ? end : 0;
};
