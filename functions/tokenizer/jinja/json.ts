import { spendOnText } from './budget.ts';
import { isEqual } from './compare.ts';
import { print, printFloat } from './print.ts';
import { spendOnItems } from './value-budget.ts';
import { type Dict, itemsOf, typeOf, type Value } from './values.ts';

const TOKEN = /[[\]{}]|-?\d[\d.eE+-]*|true|false|null/y;
const BETWEEN = /[\s,:]*/y;
const CONSTANTS = new Map<string, Value>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; ; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"' || character === undefined) return at + 1;
  }
};

// A token is a string, a number, a word or a bracket.
const endOfToken = (text: string, start: number): number => {
  if (text[start] === '"') return endOfString(text, start);
  TOKEN.lastIndex = start;
  TOKEN.test(text);
  return TOKEN.lastIndex;
};

// A list or dictionary that is being read.
interface Open {
  value: Value[] | Dict;
  /** The key of the next value. */
  key: string | undefined;
}

const toScalar = (token: string): Value => {
  if (token.startsWith('"')) return JSON.parse(token) as string;
  if (CONSTANTS.has(token)) return CONSTANTS.get(token);
  return /[.eE]/.test(token) ? Number(token) : BigInt(token);
};

/**
 * Parses JSON as Python's `json.loads`: 1 is an int of any size and 1.0 a float, and keys keep their order, which
 * JavaScript changes for keys like "1".
 * @throws SyntaxError for text that is not JSON
 */
export const parseJson = (text: string): Value => {
  JSON.parse(text);
  const stack: Open[] = [];
  let result: Value;
  const put = (value: Value): void => {
    const open = stack.at(-1);
    if (!open) result = value;
    else if (Array.isArray(open.value)) open.value.push(value);
    else {
      open.value.set(open.key as string, value);
      open.key = undefined;
    }
  };
  for (let at = 0; at < text.length; ) {
    BETWEEN.lastIndex = at;
    BETWEEN.test(text);
    const start = BETWEEN.lastIndex;
    at = endOfToken(text, start);
    if (at === 0) break;
    const token = text.slice(start, at);
    const open = stack.at(-1);
    if (token === '[' || token === '{') {
      const value = token === '[' ? [] : new Map();
      put(value);
      stack.push({ value, key: undefined });
    } else if (token === ']' || token === '}') stack.pop();
    else if (open?.value instanceof Map && open.key === undefined) open.key = JSON.parse(token) as string;
    else put(toScalar(token));
  }
  return result;
};

/** The options of Python's `json.dumps`. */
export interface JsonStyle {
  ensureAscii: boolean;
  /** The indentation of one level; undefined: everything in one line. */
  indent: string | undefined;
  separators: readonly [item: string, key: string];
  sortKeys: boolean;
}

const printText = (text: string, { ensureAscii }: JsonStyle): string => {
  const json = JSON.stringify(text);
  return ensureAscii ? json.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : json;
};

const printNumber = (value: number): string => {
  if (Number.isFinite(value)) return printFloat(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
};

const printKey = (key: Value, style: JsonStyle): string =>
  typeof key === 'string' ? printText(key, style) : `"${toJson(key, style).replaceAll('"', '')}"`;

const byKey = ([left]: readonly [Value, Value], [right]: readonly [Value, Value]): number =>
  isEqual(left, right) ? 0 : print(left) < print(right) ? -1 : 1;

/** Writes a value as Python's `json.dumps`. @throws Error for a value that JSON can't express, such as Undefined */
export const toJson = (value: Value, style: JsonStyle, margin = '\n'): string => {
  if (typeof value === 'string') {
    spendOnText(value.length);
    return printText(value, style);
  }
  spendOnItems(value);
  if (typeof value === 'number') return printNumber(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  const { indent, separators, sortKeys } = style;
  const inner = indent === undefined ? '' : margin + indent;
  const wrap = (start: string, parts: readonly string[], end: string): string =>
    parts.length === 0 ? start + end : start + inner + parts.join(separators[0] + inner) + (indent === undefined ? '' : margin) + end;
  const next = indent === undefined ? margin : inner;
  if (value instanceof Map) {
    const entries = sortKeys ? [...value].sort(byKey) : [...value];
    return wrap(
      '{',
      entries.map(([key, item]) => printKey(key, style) + separators[1] + toJson(item, style, next)),
      '}',
    );
  }
  const items = itemsOf(value);
  if (!items) throw new Error(`Object of type ${typeOf(value)} is not JSON serializable.`);
  return wrap(
    '[',
    items.map((item) => toJson(item, style, next)),
    ']',
  );
};
