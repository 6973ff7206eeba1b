import { codeOf, DIGIT, isIn } from './characters.ts';
import { isAt, type Scan } from './scan.ts';

const DASHES = '-----';
const NAME = 'PRIVATE KEY';
const BLOCK = ' BLOCK';
const MAX_WORDS = 4;
const MAX_WORD = 20;
const SPACE = codeOf(' ');

const isOfWord = (code: number): boolean => isIn(code, DIGIT) || (code >= 0x41 && code <= 0x5a);

// The rest of a line such as `RSA PRIVATE KEY-----`. Returns 0 if it is another one.
const endOfName = (scan: Scan, from: number): number => {
  const { codes } = scan;
  let at = from;
  for (let words = 0; words <= MAX_WORDS; words++) {
    if (isAt(scan, at, NAME)) {
      const named = at + NAME.length;
      const to = isAt(scan, named, BLOCK) ? named + BLOCK.length : named;
      if (isAt(scan, to, DASHES)) return to + DASHES.length;
    }
    let end = at;
    while (end - at <= MAX_WORD && isOfWord(codes[end] as number)) end++;
    scan.steps += end - at;
    if (end === at || end - at > MAX_WORD || codes[end] !== SPACE) return 0;
    at = end + 1;
  }
  return 0;
};

const lineAround = (scan: Scan, at: number, word: string): { from: number; to: number } | undefined => {
  const from = at - DASHES.length;
  if (from < 1 || !isAt(scan, at, word) || !isAt(scan, from, DASHES)) return undefined;
  const to = endOfName(scan, at + word.length);
  return to > 0 ? { from, to } : undefined;
};

/** The start of a private key's block whose `BEGIN` is here; 0: there is none. */
export const startOfPrivateKey = (scan: Scan, at: number): number => lineAround(scan, at, 'BEGIN ')?.from ?? 0;

/** The index after the block of a private key whose `END` is here; 0: it isn't. */
export const endOfPrivateKey = (scan: Scan, at: number): number => lineAround(scan, at, 'END ')?.to ?? 0;
