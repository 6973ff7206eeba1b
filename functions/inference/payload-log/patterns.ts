import { isIPv6 } from 'node:net';
import type { PatternName } from '../../../shared/payload-log/settings.ts';
import { cardSpans, ibanSpans } from './numbers.ts';
import type { Span } from './span.ts';

/**
 * Finds what to replace, in order and without overlaps. Takes time in proportion to the text's length, whatever it contains: every repetition is
 * bounded, or can't be entered again within its own match.
 */
type Find = (text: string) => Span[];

const matches =
  (pattern: RegExp, isMeant: (match: string) => boolean = () => true): Find =>
  (text) => {
    const spans: Span[] = [];
    for (const { 0: match, index } of text.matchAll(pattern)) if (isMeant(match)) spans.push([index, index + match.length]);
    return spans;
  };

const both =
  (one: Find, other: Find): Find =>
  (text) => {
    const spans: Span[] = [];
    for (const span of [...one(text), ...other(text)].toSorted(([a], [b]) => a - b))
      if (span[0] >= (spans.at(-1)?.[1] ?? 0)) spans.push(span);
    return spans;
  };

const LOCAL_CHARACTER = /[\p{L}\p{N}._%+'-]/u;
const MAX_LOCAL = 64;
const DOMAIN = /(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}/uy;

/** Looks for each `@`, because most texts have none. */
const emails: Find = (text) => {
  const spans: Span[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let from = at;
    while (at - from < MAX_LOCAL && from > (spans.at(-1)?.[1] ?? 0) && LOCAL_CHARACTER.test(text[from - 1] as string)) from--;
    DOMAIN.lastIndex = at + 1;
    if (from < at && DOMAIN.test(text)) spans.push([from, DOMAIN.lastIndex]);
  }
  return spans;
};

const KEY_START = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;

/** A block that doesn't end is taken to the end of the text. */
const privateKeys: Find = (text) => {
  const spans: Span[] = [];
  for (const { index } of text.matchAll(KEY_START)) {
    if (index < (spans.at(-1)?.[1] ?? 0)) continue;
    KEY_END.lastIndex = index;
    spans.push([index, KEY_END.test(text) ? KEY_END.lastIndex : text.length]);
  }
  return spans;
};

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = new RegExp(`(?<![\\w.])(?:${OCTET}\\.){3}${OCTET}(?!\\w|\\.\\d)`, 'g');
const IPV6 = /(?<![\w:])[\da-f]{0,4}(?::[\da-f]{0,4}){2,8}(?:\.\d{1,3}){0,3}(?![\w:])/gi;
/** `a::b` is a name in some languages. */
const HAS_DIGIT = /\d/;

const INTERNATIONAL_PHONE = /(?<![\w+])\+[1-9](?:[ ().\-/]{0,2}\d){6,14}(?!\d)/g;
const AMERICAN_PHONE = /(?<![\w(-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])/g;

const AWS_KEY_ID = /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g;
const AWS_SECRET = /(?<=secret_?access_?key["' ]{0,3}[=:]["' ]{0,3})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi;

/** A key of this service, or of another one with the same prefix. */
const API_KEY = /(?<![A-Za-z0-9])sk-[\w-]{20,}/g;
const BEARER = /(?<![\w-])bearer\s{1,4}[\w.~+/-]{20,}={0,2}/gi;
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g;

/** The built-in patterns, in the order in which they are applied. */
export const FINDERS: Readonly<Record<PatternName, Find>> = {
  private_key: privateKeys,
  bearer_token: both(matches(BEARER), matches(JWT)),
  api_key: matches(API_KEY),
  aws_key: both(matches(AWS_KEY_ID), matches(AWS_SECRET)),
  email: emails,
  iban: ibanSpans,
  credit_card: cardSpans,
  ip_address: both(
    matches(IPV4),
    matches(IPV6, (match) => HAS_DIGIT.test(match) && isIPv6(match)),
  ),
  phone: both(matches(INTERNATIONAL_PHONE), matches(AMERICAN_PHONE)),
};
