import { spendOnText } from './budget.ts';
import { spendOnItems } from './value-budget.ts';
import { isTrue, LazyItems, Namespace, SafeText, Tuple, typeOf, type Value } from './values.ts';

// Python prints a float with an exponent from here on, and below 0.0001.
const LARGEST_PLAIN = 1e16;
const SMALLEST_PLAIN = 1e-4;

/**
 * Python's `repr` of a float: the shortest digits that identify it, as in JavaScript, but with other rules for the
 * exponent.
 */
export const printFloat = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size === 0 || (size >= SMALLEST_PLAIN && size < LARGEST_PLAIN)) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
};

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
// Characters that Python escapes when it prints a text.
const UNPRINTABLE = /[\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

const hexadecimal = (character: string): string => {
  const code = character.codePointAt(0) as number;
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`;
  return code > 0xff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${code.toString(16).padStart(2, '0')}`;
};

const quote = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(UNPRINTABLE, (character) => ESCAPES[character] ?? hexadecimal(character));
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
};

// Python's `repr(value)`. It throws for functions, namespaces and generators: Python prints their addresses.
const represent = (value: Value): string => {
  if (value === undefined) return 'Undefined';
  if (typeof value === 'string') {
    spendOnText(value.length);
    return quote(value);
  }
  if (value instanceof SafeText) return `Markup(${represent(value.text)})`;
  spendOnItems(value);
  if (Array.isArray(value)) return `[${value.map(represent).join(', ')}]`;
  if (value instanceof Tuple) return `(${value.items.map(represent).join(', ')}${value.items.length === 1 ? ',' : ''})`;
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${represent(key)}: ${represent(item)}`).join(', ')}}`;
  return print(value);
};

/**
 * Python's `str(value)`, as output prints it. @throws Error for functions, namespaces and generators: Python prints
 * their addresses
 */
export const print = (value: Value): string => {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return isTrue(value) ? 'True' : 'False';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return printFloat(value);
  if (value instanceof SafeText) return value.text;
  if (typeof value === 'function' || value instanceof Namespace || value instanceof LazyItems)
    throw new Error(`A ${typeOf(value)} can't be printed.`);
  return represent(value);
};
