import { MAX_CHARACTERS, spendOnSearch, spendOnText } from './budget.ts';
import { isTrue, iterate, lengthOf, Tuple, toInteger, typeOf, type Value } from './values.ts';

// Python's `str.isspace`; JavaScript's white space includes U+FEFF, but not U+001C to U+001F and U+0085.
const WHITE_SPACE = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);
// Python's `splitlines` splits at these.
const LINE_BREAKS = '\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029';
const LINE_BREAK = new RegExp(`\r\n|[${LINE_BREAKS}]`);

export const isWhiteSpace = (character: string): boolean => WHITE_SPACE.has(character);

// Python's `strip`, `lstrip` and `rstrip`: removes any of the characters, or white space, from the ends.
const createStrip =
  (atStart: boolean, atEnd: boolean) =>
  (text: string, characters?: string): string => {
    const set = characters === undefined ? WHITE_SPACE : new Set(characters);
    let start = 0;
    let end = text.length;
    while (atStart && start < end) {
      const character = String.fromCodePoint(text.codePointAt(start) as number);
      if (!set.has(character)) break;
      start += character.length;
    }
    while (atEnd && start < end) {
      const length = end - 2 >= start && (text.codePointAt(end - 2) as number) > 0xffff ? 2 : 1;
      if (!set.has(text.slice(end - length, end))) break;
      end -= length;
    }
    return text.slice(start, end);
  };
export const strip = createStrip(true, true);
export const stripStart = createStrip(true, false);
export const stripEnd = createStrip(false, true);

/** Python's `capitalize`: the rest becomes lower case. */
export const capitalize = (text: string): string => {
  if (text === '') return text;
  const first = String.fromCodePoint(text.codePointAt(0) as number);
  const [head = '', ...tail] = first.toUpperCase();
  return head + tail.join('').toLowerCase() + text.toLowerCase().slice(first.toLowerCase().length);
};

// Python's `title`: a letter begins a word if the character before it has no case.
const titleCase = (text: string): string => text.replace(/\p{Cased}+/gu, capitalize);

/** A text argument. @throws Error for other values */
export const textOf = (value: Value, what = 'An argument'): string => {
  if (typeof value === 'string') return value;
  throw new Error(`${what} must be str, not ${typeOf(value)}.`);
};

/** Joins texts, whose length is counted before. @throws TooManySteps, or Error if the text is too long */
export const joinTexts = (texts: readonly string[], separator: string): string => {
  spendOnText(texts.reduce((sum, text) => sum + text.length, separator.length * texts.length));
  return texts.join(separator);
};
const optionalText = (value: Value): string | undefined => (value === undefined || value === null ? undefined : textOf(value));
const countOf = (value: Value): number => (value === undefined ? -1 : toInteger(value, 'count'));

// Counts the longest text that a replacement can make, before it is made.
const spendOnReplacement = (text: string, from: string, to: string): void => {
  const most = from === '' ? text.length + 1 : Math.floor(text.length / from.length);
  if (most * to.length > MAX_CHARACTERS) spendOnText(text.split(from).length * to.length);
};

/** Python's `replace`: at most `count` times, or always if it is negative. */
export const replace = (text: string, from: string, to: string, count = -1): string => {
  spendOnSearch(text, from);
  spendOnReplacement(text, from, to);
  if (count < 0) return from === '' && text !== '' ? to + Array.from(text).join(to) + to : text.replaceAll(from, () => to);
  if (from === '') throw new Error('replace() of an empty text with a count is not supported.');
  const parts = text.split(from);
  return [parts.slice(0, count + 1).join(to), ...parts.slice(count + 1)].join(from);
};

const splitAtSpace = (text: string, most: number): string[] => {
  const parts: string[] = [];
  let rest = stripStart(text);
  while (rest !== '') {
    if (parts.length === most) return [...parts, rest];
    let end = 0;
    while (end < rest.length && !WHITE_SPACE.has(rest[end] as string)) end++;
    parts.push(rest.slice(0, end));
    rest = stripStart(rest.slice(end));
  }
  return parts;
};

// Python's `split`.
const split = (text: string, separator: string | undefined, most: number): string[] => {
  if (separator === undefined) return splitAtSpace(text, most);
  if (separator === '') throw new Error('empty separator');
  spendOnSearch(text, separator);
  const parts = text.split(separator);
  return most < 0 || parts.length <= most + 1 ? parts : [...parts.slice(0, most), parts.slice(most).join(separator)];
};

// Python's `rsplit`.
const splitFromEnd = (text: string, separator: string | undefined, most: number): string[] => {
  if (most < 0) return split(text, separator, most);
  if (separator === undefined) throw new Error('rsplit() at white space with a maximum is not supported.');
  const parts = split(text, separator, -1);
  const first = Math.max(0, parts.length - most);
  return first <= 1 ? parts : [parts.slice(0, first).join(separator), ...parts.slice(first)];
};

/** Python's `splitlines`. */
export const splitLines = (text: string): string[] => {
  const lines = text.split(LINE_BREAK);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
};

const partition = (text: string, separator: string, at: number): Tuple =>
  new Tuple(at < 0 ? [text, '', ''] : [text.slice(0, at), separator, text.slice(at + separator.length)]);

const matchesAny = (affixes: Value, matches: (affix: string) => boolean): boolean =>
  affixes instanceof Tuple ? affixes.items.some((affix) => matches(textOf(affix))) : matches(textOf(affixes));

const search = (text: string, wanted: string): number => {
  spendOnSearch(text, wanted);
  return text.indexOf(wanted);
};
const searchFromEnd = (text: string, wanted: string): number => {
  spendOnSearch(text, wanted);
  return text.lastIndexOf(wanted);
};
const occurrencesIn = (text: string, wanted: string): number => {
  spendOnSearch(text, wanted);
  return text.split(wanted).length - 1;
};
const positionIn = (text: string, at: number): bigint => BigInt(at < 0 ? at : lengthOf(text.slice(0, at)));

const pad = (text: string, width: Value, fill: Value, atStart: boolean): string => {
  const missing = Math.max(0, toInteger(width, 'width') - lengthOf(text));
  spendOnText(missing);
  const padding = (optionalText(fill) ?? ' ').repeat(missing);
  return atStart ? padding + text : text + padding;
};

// The parameters, the number of them that a call must have, and the method.
interface TextMethod {
  parameters: readonly string[];
  required?: number;
  call: (text: string, ...values: Value[]) => Value;
}

const plain = (call: (text: string) => Value): TextMethod => ({ parameters: [], call });
const stripping = (remove: typeof strip): TextMethod => ({
  parameters: ['chars'],
  call: (text, characters) => remove(text, optionalText(characters)),
});
const testing = (pattern: RegExp): TextMethod => plain((text) => pattern.test(text));

/** The methods of Python's `str` that templates can call. */
export const textMethods: Readonly<Record<string, TextMethod>> = {
  upper: plain((text) => text.toUpperCase()),
  lower: plain((text) => text.toLowerCase()),
  capitalize: plain(capitalize),
  title: plain(titleCase),
  strip: stripping(strip),
  lstrip: stripping(stripStart),
  rstrip: stripping(stripEnd),
  startswith: { parameters: ['prefix'], required: 1, call: (text, prefix) => matchesAny(prefix, (affix) => text.startsWith(affix)) },
  endswith: { parameters: ['suffix'], required: 1, call: (text, suffix) => matchesAny(suffix, (affix) => text.endsWith(affix)) },
  removeprefix: {
    parameters: ['prefix'],
    required: 1,
    call: (text, prefix) => (text.startsWith(textOf(prefix)) ? text.slice(textOf(prefix).length) : text),
  },
  removesuffix: {
    parameters: ['suffix'],
    required: 1,
    call: (text, suffix) => (text.endsWith(textOf(suffix)) ? text.slice(0, text.length - textOf(suffix).length) : text),
  },
  split: { parameters: ['sep', 'maxsplit'], call: (text, separator, most) => split(text, optionalText(separator), countOf(most)) },
  rsplit: { parameters: ['sep', 'maxsplit'], call: (text, separator, most) => splitFromEnd(text, optionalText(separator), countOf(most)) },
  splitlines: plain(splitLines),
  partition: { parameters: ['sep'], required: 1, call: (text, at) => partition(text, textOf(at), search(text, textOf(at))) },
  rpartition: {
    parameters: ['sep'],
    required: 1,
    call: (text, at) => {
      const last = searchFromEnd(text, textOf(at));
      return last < 0 ? new Tuple(['', '', text]) : partition(text, textOf(at), last);
    },
  },
  replace: {
    parameters: ['old', 'new', 'count'],
    required: 2,
    call: (text, from, to, count) => replace(text, textOf(from), textOf(to), countOf(count)),
  },
  join: {
    parameters: ['iterable'],
    required: 1,
    call: (text, parts) =>
      joinTexts(
        iterate(parts).map((part) => textOf(part, 'An item')),
        text,
      ),
  },
  find: { parameters: ['sub'], required: 1, call: (text, part) => positionIn(text, search(text, textOf(part))) },
  rfind: { parameters: ['sub'], required: 1, call: (text, part) => positionIn(text, searchFromEnd(text, textOf(part))) },
  count: { parameters: ['sub'], required: 1, call: (text, part) => BigInt(occurrencesIn(text, textOf(part))) },
  ljust: { parameters: ['width', 'fillchar'], required: 1, call: (text, width, fill) => pad(text, width, fill, false) },
  rjust: { parameters: ['width', 'fillchar'], required: 1, call: (text, width, fill) => pad(text, width, fill, true) },
  isspace: plain((text) => isTrue(text) && strip(text) === ''),
  isdigit: testing(/^\p{Nd}+$/u),
  isalpha: testing(/^\p{L}+$/u),
  isalnum: testing(/^[\p{L}\p{N}]+$/u),
  isupper: testing(/^(?=.*\p{Upper})[^\p{Lower}\p{Lt}]*$/su),
  islower: testing(/^(?=.*\p{Lower})[^\p{Upper}\p{Lt}]*$/su),
};
