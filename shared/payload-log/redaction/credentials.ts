import { ALPHANUMERIC, BASE64, codeOf, isIn, TOKEN, WHITESPACE, WORD } from './characters.ts';
import { afterRun, isAt, type Match, type Scan } from './scan.ts';

const HYPHEN = codeOf('-');
const DOT = codeOf('.');
const EQUALS = codeOf('=');
const COLON = codeOf(':');
const SLASH = codeOf('/');
const UNDERSCORE = codeOf('_');
const MAX_PADDING = 2;
const MAX_SPACES = 4;
const MIN_BEARER = 20;

const isWordOrHyphen = (code: number | undefined): boolean => isIn(code, WORD) || code === HYPHEN;

const afterPadding = ({ codes }: Scan, at: number): number => {
  let to = at;
  while (to - at < MAX_PADDING && codes[to] === EQUALS) to++;
  return to;
};

// Letters, digits, `_` and `-`.
const afterWord = (scan: Scan, from: number): number => {
  let at = from;
  while (isWordOrHyphen(scan.codes[at])) at++;
  scan.steps += at - from;
  return at;
};

// Returns the index after the scheme's name and spaces; 0: it isn't here.
const afterScheme = (scan: Scan, at: number, scheme: string): number => {
  if (isWordOrHyphen(scan.codes[at - 1]) || !isAt(scan, at, scheme, true)) return 0;
  const from = at + scheme.length;
  const to = afterRun(scan, from, WHITESPACE, MAX_SPACES);
  return to > from ? to : 0;
};

// Returns the index after `Bearer` and a token; 0: they don't begin here.
const endOfBearer = (scan: Scan, at: number): number => {
  const from = afterScheme(scan, at, 'bearer');
  const to = from > 0 ? afterRun(scan, from, TOKEN) : 0;
  return from > 0 && to - from >= MIN_BEARER ? afterPadding(scan, to) : 0;
};

const MIN_BASIC = 8;
// Characters of a name and a password in base64. Longer texts are decoded no further.
const MAX_DECODED = 400;
const FIRST_PRINTABLE = 0x20;
const LAST_PRINTABLE = 0x7e;

const BITS_OF_BASE64 = new Uint8Array(128);
for (const [six, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  BITS_OF_BASE64[codeOf(character)] = six;
BITS_OF_BASE64[HYPHEN] = BITS_OF_BASE64[codeOf('+')] as number;
BITS_OF_BASE64[UNDERSCORE] = BITS_OF_BASE64[SLASH] as number;

// The name and the password are printable. Most words of base64 stand for other bytes.
const isNameAndPassword = (scan: Scan, from: number, to: number): boolean => {
  const { codes } = scan;
  let hasColon = false;
  let bits = 0;
  for (let at = from; at < Math.min(to, from + MAX_DECODED); at++) {
    scan.steps++;
    bits = ((bits << 6) | (BITS_OF_BASE64[codes[at] as number] as number)) & 0xffff;
    const pending = (at - from) % 4;
    if (pending === 0) continue;
    const byte = (bits >> (6 - pending * 2)) & 0xff;
    if (byte < FIRST_PRINTABLE || byte > LAST_PRINTABLE) return false;
    hasColon ||= byte === COLON;
  }
  return hasColon;
};

// Returns the index after `Basic` and credentials; 0: they don't begin here.
const endOfBasic = (scan: Scan, at: number): number => {
  const from = afterScheme(scan, at, 'basic');
  const to = from > 0 ? afterRun(scan, from, BASE64) : 0;
  return from > 0 && to - from >= MIN_BASIC && isNameAndPassword(scan, from, to) ? afterPadding(scan, to) : 0;
};

/** The index after the value of an `Authorization` header that begins with this `b`; 0: there is none. */
export const endOfAuthorization = (scan: Scan, at: number): number => endOfBearer(scan, at) || endOfBasic(scan, at);

const JSON_START = 'eyJ';
const MIN_JWT_PART = 8;

// Returns the index after the base64 of a JSON object; 0: it doesn't begin here.
const afterJson = (scan: Scan, at: number): number => {
  if (!isAt(scan, at, JSON_START)) return 0;
  const to = afterWord(scan, at + JSON_START.length);
  return to - at - JSON_START.length >= MIN_JWT_PART ? to : 0;
};

/** The JSON Web Token that begins with `ey` before this `J`. */
export const jwtAround = (scan: Scan, at: number): Match | undefined => {
  const { codes } = scan;
  const from = at - 2;
  if (from < 1 || !isAt(scan, from, JSON_START) || isWordOrHyphen(codes[from - 1])) return undefined;
  const header = afterJson(scan, from);
  const payload = header > 0 && codes[header] === DOT ? afterJson(scan, header + 1) : 0;
  return payload > 0 && codes[payload] === DOT ? { from, to: afterWord(scan, payload + 1) } : undefined;
};

const MIN_API_KEY = 20;

/** The API key that begins with `sk` before this hyphen: of this service, or of another one with the same prefix. */
export const apiKeyAround = (scan: Scan, at: number): Match | undefined => {
  const from = at - 2;
  if (from < 1 || !isAt(scan, from, 'sk-') || isIn(scan.codes[from - 1], ALPHANUMERIC)) return undefined;
  const to = afterWord(scan, at + 1);
  return to - at - 1 >= MIN_API_KEY ? { from, to } : undefined;
};

const WEBHOOK_SECRET = 'whsec_';
const MIN_WEBHOOK_SECRET = 16;

/**
 * The secret of a webhook that begins with `whsec` before this underscore: of this service, or of another one with
 * the same prefix.
 */
export const webhookSecretAround = (scan: Scan, at: number): Match | undefined => {
  const from = at - WEBHOOK_SECRET.length + 1;
  if (from < 1 || !isAt(scan, from, WEBHOOK_SECRET) || isIn(scan.codes[from - 1], ALPHANUMERIC)) return undefined;
  const to = afterRun(scan, at + 1, BASE64);
  return to - at - 1 >= MIN_WEBHOOK_SECRET ? { from, to: afterPadding(scan, to) } : undefined;
};

const AWS_KEY_ID = 16;
const AWS_SECRET = 40;
// Spaces, quotation marks and backslashes between a name and its value, on each side of the colon.
const MAX_PUNCTUATION = 16;
const PUNCTUATION: ReadonlySet<number> = new Set([...' \t\n\r"\'\\`'].map(codeOf));
const ASSIGNMENTS: ReadonlySet<number> = new Set([...':='].map(codeOf));

const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The index after the id of an access key of AWS that begins here; 0: there is none. */
export const endOfAwsKeyId = (scan: Scan, at: number): number => {
  const { codes } = scan;
  if (isIn(codes[at - 1], ALPHANUMERIC) || !(isAt(scan, at, 'AKIA') || isAt(scan, at, 'ASIA'))) return 0;
  const from = at + 4;
  let to = from;
  while (to - from < AWS_KEY_ID && (isUpper(codes[to] as number) || isDigit(codes[to] as number))) to++;
  scan.steps += to - from;
  return to - from === AWS_KEY_ID && !isIn(codes[to], ALPHANUMERIC) ? to : 0;
};

// `secret`, `access` and `key`, which end with this `y`, with or without underscores.
const isSecretName = (scan: Scan, y: number): boolean => {
  const { codes } = scan;
  const before = (end: number, word: string): number => {
    const from = end - word.length;
    return from >= 1 && isAt(scan, from, word, true) ? (codes[from - 1] === UNDERSCORE ? from - 1 : from) : 0;
  };
  const key = before(y + 1, 'key');
  const access = key > 0 ? before(key, 'access') : 0;
  return access > 0 && before(access, 'secret') > 0;
};

const afterPunctuation = ({ codes }: Scan, from: number): number => {
  let at = from;
  while (at - from < MAX_PUNCTUATION && PUNCTUATION.has(codes[at] as number)) at++;
  return at;
};

/** The secret of AWS whose name ends with this `y`. */
export const awsSecretAfter = (scan: Scan, y: number): Match | undefined => {
  const { codes } = scan;
  if (!isSecretName(scan, y)) return undefined;
  const assignment = afterPunctuation(scan, y + 1);
  if (!ASSIGNMENTS.has(codes[assignment] as number)) return undefined;
  const from = afterPunctuation(scan, assignment + 1);
  let to = from;
  while (to - from <= AWS_SECRET && isIn(codes[to], BASE64) && codes[to] !== HYPHEN && codes[to] !== UNDERSCORE) to++;
  scan.steps += to - y;
  return to - from === AWS_SECRET ? { from, to } : undefined;
};
