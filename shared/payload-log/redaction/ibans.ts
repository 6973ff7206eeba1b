import { ALPHANUMERIC, codeOf, DIGIT, isIn, LETTER } from './characters.ts';
import type { Scan } from './scan.ts';

// Characters of an IBAN by country: the registry of ISO 13616, and countries that use the format without being
// registered.
const LENGTHS = `
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22
GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31
MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24
XK20 YE30 AO25 BF28 BJ28 CF27 CG27 CI28 CM27 CV25 DZ26 GA27 GQ27 GW25 IR26 KM27 MA28 MG27 ML28 MZ25 NE28 SN28 TD27 TG28
`;
const LETTERS = 32;

// Letters of any case.
const countryOf = (first: number, second: number): number => (first % LETTERS) * LETTERS + (second % LETTERS);

const lengths = new Uint8Array(LETTERS * LETTERS);
for (const [, country = '', length] of LENGTHS.matchAll(/([A-Z]{2})(\d\d)/g))
  lengths[countryOf(country.charCodeAt(0), country.charCodeAt(1))] = Number(length);

const ZERO = codeOf('0');
const SPACE = codeOf(' ');
const HYPHEN = codeOf('-');
// The country and the check digits.
const HEAD = 4;
const MODULUS = 97;

// A letter counts as two digits: A is 10, Z is 35.
const remainderWith = (rest: number, code: number): number =>
  isIn(code, DIGIT) ? (rest * 10 + code - ZERO) % MODULUS : (rest * 100 + (code % LETTERS) + 9) % MODULUS;

/**
 * The index after the bank account number whose first check digit is here, in groups or not; 0: there is none. Its
 * length follows from its country, so its checksum (its rearranged digits are 1 modulo 97) is computed once.
 */
export const endOfIban = (scan: Scan, at: number): number => {
  const { codes } = scan;
  const from = at - 2;
  if (!isIn(codes[at - 1], LETTER) || from < 1 || !isIn(codes[from], LETTER) || isIn(codes[from - 1], ALPHANUMERIC)) return 0;
  const length = lengths[countryOf(codes[from] as number, codes[at - 1] as number)] as number;
  if (length === 0 || !isIn(codes[at + 1], DIGIT)) return 0;
  let rest = 0;
  let next = at + 2;
  for (let characters = HEAD; characters < length; next++) {
    const code = codes[next] as number;
    if ((code === SPACE || code === HYPHEN) && isIn(codes[next + 1], ALPHANUMERIC)) continue;
    if (!isIn(code, ALPHANUMERIC)) return missed(scan, next - at);
    rest = remainderWith(rest, code);
    characters++;
  }
  scan.steps += next - at;
  if (isIn(codes[next], ALPHANUMERIC)) return 0;
  for (let head = from; head < from + HEAD; head++) rest = remainderWith(rest, codes[head] as number);
  return rest === 1 ? next : 0;
};

const missed = (scan: Scan, steps: number): 0 => {
  scan.steps += steps;
  return 0;
};
