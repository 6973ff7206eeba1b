import { withParameters } from './arguments.ts';
import { spendOnText } from './budget.ts';
import { compare } from './compare.ts';
import { formatPercent } from './format.ts';
import { toJson } from './json.ts';
import { print } from './print.ts';
import { type Filter, foldCase, generate, sequenceFilters } from './sequence-filters.ts';
import { capitalize, replace, splitLines, strip, textOf } from './text.ts';
import { isNumber, isTrue, iterate, lengthOf, SafeText, Tuple, toInteger, toNumber, type Value } from './values.ts';

const filter = (parameters: readonly string[], call: (value: Value, ...values: Value[]) => Value, required = 0): Filter => {
  return (value, args) => withParameters(parameters, (...values) => call(value, ...values), required)(args);
};
const plain = (call: (value: Value) => Value): Filter => filter([], call);
// Filters of texts accept every value, and print it first.
const onText = (call: (text: string) => Value): Filter => plain((value) => call(print(value)));

// The characters after which Jinja's `title` begins a new word.
const WORD = /([^-\s({[<])([^-\s({[<]*)/gu;

const spaces = (count: number): string => {
  const characters = Math.max(0, count);
  spendOnText(characters);
  return ' '.repeat(characters);
};

const indentOf = (indent: Value): string | undefined => {
  if (indent === undefined || indent === null) return undefined;
  return typeof indent === 'string' ? indent : spaces(toInteger(indent, 'indent'));
};

const separatorsOf = (value: Value, hasIndent: boolean): readonly [string, string] => {
  if (value === undefined || value === null) return [hasIndent ? ',' : ', ', ': '];
  const [item, key] = iterate(value);
  return [textOf(item), textOf(key)];
};

// The filter `tojson` as Hugging Face's transformers defines it: `json.dumps` without escaped characters.
const writeJson = filter(['ensure_ascii', 'indent', 'separators', 'sort_keys'], (value, ensureAscii, indent, separators, sortKeys) => {
  const indentation = indentOf(indent);
  const style = { indent: indentation, separators: separatorsOf(separators, indentation !== undefined) };
  return toJson(value, { ...style, ensureAscii: isTrue(ensureAscii), sortKeys: isTrue(sortKeys) });
});

// Not the first line and blank ones, unless the arguments say so.
const indentLines = (text: string, width: Value, first: Value, blank: Value): string => {
  const margin = typeof width === 'string' ? width : spaces(width === undefined ? 4 : toInteger(width, 'width'));
  const lines = splitLines(`${text}\n`);
  spendOnText(margin.length * lines.length);
  const indented = lines.map((line, index) => (index > 0 && (line !== '' || isTrue(blank)) ? margin + line : line)).join('\n');
  return isTrue(first) ? margin + indented : indented;
};

// Less than a number can have bits.
const MAX_DIGITS = 1_000;

const toInt = (value: Value, fallback: Value): Value => {
  if (isNumber(value)) return typeof value === 'number' ? (Number.isFinite(value) ? BigInt(Math.trunc(value)) : fallback) : toNumber(value);
  const text = typeof value === 'string' ? strip(value) : '';
  if (text.length > MAX_DIGITS) throw new Error(`An int can have at most ${MAX_DIGITS} digits.`);
  if (/^[+-]?\d+$/.test(text)) return BigInt(text.replace('+', ''));
  return text !== '' && Number.isFinite(Number(text)) ? BigInt(Math.trunc(Number(text))) : fallback;
};

const toFloat = (value: Value, fallback: Value): Value => {
  if (isNumber(value)) return Number(value);
  const text = typeof value === 'string' ? strip(value) : '';
  return text !== '' && !Number.isNaN(Number(text)) ? Number(text) : fallback;
};

const absolute = (value: bigint | number): Value => (value < 0 ? -value : value);

// Python's `round`: a half goes to the even digit.
const round = (value: Value, digits: Value): Value => {
  if (!isNumber(value)) throw new Error('Only numbers can be rounded.');
  if (typeof value !== 'number') return toNumber(value);
  const scale = 10 ** toInteger(digits ?? 0n, 'precision');
  const scaled = value * scale;
  const rounded = Math.abs(scaled % 1) === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return rounded / scale;
};

const sortedEntries = (value: Value, isCaseSensitive: boolean, by: Value, isReversed: boolean): Value => {
  if (!(value instanceof Map)) throw new Error('dictsort needs a dictionary.');
  const at = by === 'value' ? 1 : 0;
  const sorted = [...value].sort((left, right) => compare(...foldCase(left[at], right[at], isCaseSensitive)));
  return (isReversed ? sorted.reverse() : sorted).map((entry) => new Tuple(entry));
};

const fallBack: Filter = filter(['default_value', 'boolean'], (value, fallback = '', forFalse) =>
  value === undefined || (isTrue(forFalse) && !isTrue(value)) ? fallback : value,
);

const length = plain((value) => BigInt(lengthOf(value)));

/** Jinja's filters (https://jinja.palletsprojects.com/en/stable/templates/#builtin-filters) that chat templates use. */
export const filters: Readonly<Record<string, Filter>> = {
  ...sequenceFilters,
  abs: plain((value) => (isNumber(value) ? absolute(toNumber(value)) : value)),
  capitalize: onText(capitalize),
  count: length,
  d: fallBack,
  default: fallBack,
  dictsort: filter(['case_sensitive', 'by', 'reverse'], (value, isCaseSensitive, by, isReversed) =>
    sortedEntries(value, isTrue(isCaseSensitive), by, isTrue(isReversed)),
  ),
  float: filter(['default'], (value, fallback = 0) => toFloat(value, fallback)),
  format: (value, { positional, named }) => {
    if (named.size > 0) throw new Error("The filter 'format' with named arguments is not supported.");
    return formatPercent(print(value), new Tuple(positional));
  },
  indent: filter(['width', 'first', 'blank'], (value, width, first, blank) => indentLines(textOf(value), width, first, blank)),
  int: filter(['default'], (value, fallback = 0n) => toInt(value, fallback)),
  items: plain((value) => {
    if (value !== undefined && !(value instanceof Map)) throw new Error('Can only get item pairs from a mapping.');
    return generate([...(value ?? [])].map((entry) => new Tuple(entry)));
  }),
  length,
  lower: onText((text) => text.toLowerCase()),
  replace: filter(
    ['old', 'new', 'count'],
    (value, from, to, count) =>
      replace(print(value), print(from), print(to), count === undefined || count === null ? -1 : toInteger(count, 'count')),
    2,
  ),
  round: filter(['precision'], round),
  safe: plain((value) => new SafeText(print(value))),
  string: plain((value) => (value instanceof SafeText ? value : print(value))),
  title: onText((text) => text.replace(WORD, (_, first: string, rest: string) => first.toUpperCase() + rest.toLowerCase())),
  tojson: writeJson,
  trim: filter(['chars'], (value, characters) =>
    strip(print(value), characters === undefined || characters === null ? undefined : textOf(characters)),
  ),
  upper: onText((text) => text.toUpperCase()),
};

/** Filters of Jinja that templates can't use here. A template with one is rejected when it is published. */
export const UNSUPPORTED_FILTERS: ReadonlySet<string> = new Set([
  ...['attr', 'batch', 'center', 'e', 'escape', 'filesizeformat', 'forceescape', 'groupby', 'pprint', 'random', 'slice', 'striptags'],
  ...['truncate', 'urlencode', 'urlize', 'wordcount', 'wordwrap', 'xmlattr'],
]);
