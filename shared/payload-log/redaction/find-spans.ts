import type { PatternName } from '../settings.ts';
import { REPLACEMENT_STEPS, TEXT_STEPS } from './budget.ts';
import { findCards } from './cards.ts';
import { codeOf, DIGIT, isIn, LETTER } from './characters.ts';
import { apiKeyAround, awsSecretAfter, endOfAuthorization, endOfAwsKeyId, jwtAround, webhookSecretAround } from './credentials.ts';
import { emailAround } from './emails.ts';
import { endOfIban } from './ibans.ts';
import { endOfIpv4, ipv6Around } from './ip-addresses.ts';
import type { NormalText } from './normal-text.ts';
import { endOfAmericanPhone, endOfInternationalPhone } from './phones.ts';
import { endOfPrivateKey, startOfPrivateKey } from './private-keys.ts';
import type { Match, Scan } from './scan.ts';

/** Something that a pattern found. */
export interface TextSpan extends Match {
  pattern: PatternName;
}

// If two spans overlap, the one whose pattern is first here is kept.
const PRIORITY: readonly PatternName[] = [
  'private_key',
  'bearer_token',
  'api_key',
  'aws_key',
  'email',
  'iban',
  'credit_card',
  'ip_address',
  'phone',
];
const rankOf = ({ pattern }: TextSpan): number => PRIORITY.indexOf(pattern);

const E = codeOf('E');
const HYPHEN = codeOf('-');
// The bit by which small letters differ from large ones.
const SMALL = 0x20;
const NO_ENDS = Object.fromEntries(PRIORITY.map((pattern) => [pattern, 0])) as Record<PatternName, number>;

// Searches at one place of a text, and in a bounded part of what is around it.
type Matcher = (search: Search, at: number) => void;

interface Search extends Scan {
  patterns: ReadonlySet<PatternName>;
  spans: TextSpan[];
  /** The end of the last match of each pattern, so that nothing is found twice. */
  ends: Record<PatternName, number>;
  addCard: (match: Match) => void;
  /** The index after the digits in which cards were looked for. */
  afterCards: number;
  /** The start of a private key's block that has not ended yet; 0: none. */
  openKey: number;
}

// Within its last match, a pattern needn't be searched for again.
const isWithinLastMatch = (search: Search, pattern: PatternName, at: number): boolean => at < search.ends[pattern];

// `to` is 0 if nothing was found.
const addFrom = (search: Search, pattern: PatternName, from: number, to: number): void => {
  if (to === 0 || isWithinLastMatch(search, pattern, from)) return;
  search.ends[pattern] = to;
  if (!search.patterns.has(pattern)) return;
  search.steps += REPLACEMENT_STEPS;
  search.spans.push({ pattern, from, to });
};

const add = (search: Search, pattern: PatternName, match: Match | undefined): void => {
  if (match) addFrom(search, pattern, match.from, match.to);
};

const atDigit: Matcher = (search, at) => {
  const before = search.codes[at - 1];
  if (isIn(before, DIGIT)) return;
  if (isIn(before, LETTER)) addFrom(search, 'iban', at - 2, endOfIban(search, at));
  if (at >= search.afterCards) search.afterCards = findCards(search, at, search.addCard);
  addFrom(search, 'ip_address', at, endOfIpv4(search, at));
  addFrom(search, 'phone', at, endOfAmericanPhone(search, at));
};

const atB: Matcher = (search, at) => {
  if (!isWithinLastMatch(search, 'bearer_token', at)) addFrom(search, 'bearer_token', at, endOfAuthorization(search, at));
  if (search.codes[at - 1] === HYPHEN && search.patterns.has('private_key')) search.openKey = startOfPrivateKey(search, at);
};

const matcherOf =
  (pattern: PatternName, around: (search: Search, at: number) => Match | undefined): Matcher =>
  (search, at) => {
    if (!isWithinLastMatch(search, pattern, at)) add(search, pattern, around(search, at));
  };

// `endOf` returns the index after a match that begins here, or 0.
const matcherFrom =
  (pattern: PatternName, endOf: (search: Search, at: number) => number): Matcher =>
  (search, at) => {
    if (!isWithinLastMatch(search, pattern, at)) addFrom(search, pattern, at, endOf(search, at));
  };

// Calls take the most time, so a pattern is searched for only where another character is just before.
const after =
  (character: string, look: Matcher): Matcher =>
  (search, at) => {
    if (((search.codes[at - 1] as number) | SMALL) === codeOf(character)) look(search, at);
  };

const atY = after('e', matcherOf('aws_key', awsSecretAfter));

// The patterns by a character with which they all begin, or which is rarer than their beginning.
const MATCHERS: Readonly<Record<string, Matcher>> = {
  ...Object.fromEntries([...'0123456789'].map((digit) => [digit, atDigit])),
  '@': matcherOf('email', (search, at) => emailAround(search, at, search.ends.email)),
  '+': matcherFrom('phone', endOfInternationalPhone),
  '(': matcherFrom('phone', endOfAmericanPhone),
  ':': matcherOf('ip_address', ipv6Around),
  '-': after('k', matcherOf('api_key', apiKeyAround)),
  _: after('c', matcherOf('api_key', webhookSecretAround)),
  A: matcherFrom('aws_key', endOfAwsKeyId),
  J: after('y', matcherOf('bearer_token', jwtAround)),
  B: atB,
  b: atB,
  Y: atY,
  y: atY,
};

const looks: readonly (Matcher | undefined)[] = Array.from({ length: 256 }, (_, code) => MATCHERS[String.fromCharCode(code)]);

// Returns the end of the text if the private key doesn't end.
const closeKey = (search: Search, from: number): number => {
  const { codes, end, openKey } = search;
  let at = from;
  let to = 0;
  for (; at < end && to === 0; at++) if (codes[at] === E) to = endOfPrivateKey(search, at);
  search.openKey = 0;
  addFrom(search, 'private_key', openKey, to || end);
  return to || end;
};

const withoutOverlaps = (spans: TextSpan[]): TextSpan[] => {
  const kept: TextSpan[] = [];
  for (const span of spans.sort((one, other) => one.from - other.from)) {
    const last = kept.at(-1);
    if (!last || span.from >= last.to) kept.push(span);
    else if (rankOf(span) < rankOf(last)) kept[kept.length - 1] = span;
  }
  return kept;
};

/**
 * Finds in one pass what to replace, in order and without overlaps. The work grows with the length of the text,
 * whatever it contains: each look reads a bounded part of the text, or a part that no other look of its kind reads
 * again.
 * @param most steps
 * @returns the spans, as indexes of the normal text, and the steps; undefined: it would take more than `most`
 */
export const findSpans = (
  { codes, end }: NormalText,
  patterns: ReadonlySet<PatternName>,
  most: number,
): { spans: TextSpan[]; steps: number } | undefined => {
  const search: Search = {
    codes,
    end,
    steps: end + TEXT_STEPS,
    patterns,
    spans: [],
    ends: { ...NO_ENDS },
    addCard: (match) => add(search, 'credit_card', match),
    afterCards: 0,
    openKey: 0,
  };
  for (let at = 1; at < end; at++) {
    const look = looks[codes[at] as number];
    if (!look) continue;
    search.steps++;
    look(search, at);
    if (search.openKey > 0) at = closeKey(search, at) - 1;
    if (search.steps > most) return undefined;
  }
  return { spans: withoutOverlaps(search.spans), steps: search.steps };
};
