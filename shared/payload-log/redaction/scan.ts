import { isIn } from './characters.ts';

/** The search of one text. */
export interface Scan {
  /**
   * As `NormalText` has them: patterns can look one character behind the first one, and stop at the zero after the
   * last one.
   */
  codes: Uint8Array;
  end: number;
  /** The steps that the search has taken. */
  steps: number;
}

/** The start of a match, and the index after it. */
export interface Match {
  from: number;
  to: number;
}

/** A text, in lower case if `isAnyCase`, is at this place. */
export const isAt = ({ codes }: Scan, at: number, text: string, isAnyCase = false): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = codes[at + i] as number;
    const isLetter = code >= 0x41 && code <= 0x5a;
    if ((isAnyCase && isLetter ? code | 0x20 : code) !== text.charCodeAt(i)) return false;
  }
  return true;
};

/** The index after the characters of these sets that begin here, at most so many. */
export const afterRun = (scan: Scan, from: number, sets: number, most = Number.MAX_SAFE_INTEGER): number => {
  const { codes } = scan;
  let at = from;
  while (at - from < most && isIn(codes[at], sets)) at++;
  scan.steps += at - from;
  return at;
};
