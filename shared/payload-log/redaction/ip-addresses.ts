import { codeOf, DIGIT, HEX, isIn, WORD } from './characters.ts';
import { afterRun, type Match, type Scan } from './scan.ts';

const DOT = codeOf('.');
const COLON = codeOf(':');
const ZERO = codeOf('0');
const OCTETS = 4;
const MAX_OCTET = 255;
const MAX_GROUPS = 8;
const MAX_GROUP_DIGITS = 4;

// Returns the index after a number from 0 to 255; 0: there is none here.
const endOfOctet = (scan: Scan, from: number): number => {
  const { codes } = scan;
  const to = afterRun(scan, from, DIGIT, OCTETS);
  const digits = to - from;
  if (digits < 3) return digits === 0 ? 0 : to;
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + (codes[at] as number) - ZERO;
  return digits === 3 && codes[from] !== ZERO && number <= MAX_OCTET ? to : 0;
};

// Returns the index after four numbers with dots; 0: they don't begin here.
const endOfOctets = (scan: Scan, from: number): number => {
  const { codes } = scan;
  let to = endOfOctet(scan, from);
  for (let octets = 1; octets < OCTETS && to > 0; octets++) to = codes[to] === DOT ? endOfOctet(scan, to + 1) : 0;
  return to > 0 && !isIn(codes[to], WORD) && !(codes[to] === DOT && isIn(codes[to + 1], DIGIT)) ? to : 0;
};

/** The index after the IPv4 address that begins with this digit; 0: there is none. */
export const endOfIpv4 = (scan: Scan, at: number): number => {
  const before = scan.codes[at - 1];
  return isIn(before, WORD) || before === DOT ? 0 : endOfOctets(scan, at);
};

// The groups of an IPv6 address.
interface Groups {
  at: number;
  count: number;
  /** Two colons stand for groups of zeros. */
  isShort: boolean;
}

const readGroups = (scan: Scan, from: number): Groups | undefined => {
  const { codes } = scan;
  const groups: Groups = { at: from, count: 0, isShort: false };
  while (groups.count <= MAX_GROUPS) {
    const to = afterRun(scan, groups.at, HEX, MAX_GROUP_DIGITS);
    if (to > groups.at && codes[to] === DOT && isIn(codes[to + 1], DIGIT)) {
      groups.at = endOfOctets(scan, groups.at);
      groups.count += 2;
      return groups.at > 0 ? groups : undefined;
    }
    if (to > groups.at) groups.count++;
    groups.at = to;
    if (codes[to] !== COLON) return groups;
    if (codes[to + 1] === COLON) {
      if (groups.isShort) return undefined;
      groups.isShort = true;
      groups.at += 2;
      if (!isIn(codes[groups.at], HEX)) return groups;
    } else if (isIn(codes[to + 1], HEX)) groups.at++;
    // The colon of a sentence.
    else return isIn(codes[to + 1], WORD) ? undefined : groups;
    scan.steps++;
  }
  return undefined;
};

// Without a digit, `a::b` is a name in some languages.
const hasDigit = ({ codes }: Scan, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (isIn(codes[at], DIGIT)) return true;
  return false;
};

/** The IPv6 address whose first colon is here. */
export const ipv6Around = (scan: Scan, at: number): Match | undefined => {
  const { codes } = scan;
  let from = at;
  while (at - from < MAX_GROUP_DIGITS && isIn(codes[from - 1], HEX)) from--;
  scan.steps += at - from;
  if (isIn(codes[from - 1], WORD) || codes[from - 1] === COLON) return undefined;
  if (from === at && codes[at + 1] !== COLON) return undefined;
  const groups = readGroups(scan, from);
  if (!groups) return undefined;
  const { at: to, count, isShort } = groups;
  if (isIn(codes[to], WORD) || (isShort ? count >= MAX_GROUPS : count !== MAX_GROUPS)) return undefined;
  return hasDigit(scan, from, to) ? { from, to } : undefined;
};
