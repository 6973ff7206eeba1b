import { withParameters } from './arguments.ts';
import { isEqual } from './compare.ts';
import { formatText } from './format.ts';
import { textMethods } from './text.ts';
import { type Callable, charactersOf, type Dict, itemsOf, LazyItems, Namespace, Tuple, toInteger, type Value } from './values.ts';

// Jinja's sandbox makes attributes Undefined that change values.
const MUTATING = new Set([
  ...['clear', 'pop', 'popitem', 'setdefault', 'update'],
  ...['append', 'extend', 'insert', 'remove', 'reverse', 'sort'],
]);

const viewOf = (items: readonly Value[]): LazyItems => new LazyItems(items, false);

const dictMethods: Record<string, (dict: Dict) => Callable> = {
  get:
    (dict) =>
    ({ positional: [key, fallback = null], named }) => {
      if (named.size > 0) throw new Error('dict.get() takes no keyword arguments.');
      return dict.has(key) ? dict.get(key) : fallback;
    },
  items: (dict) => withParameters([], () => viewOf([...dict].map((entry) => new Tuple(entry)))),
  keys: (dict) => withParameters([], () => viewOf([...dict.keys()])),
  values: (dict) => withParameters([], () => viewOf([...dict.values()])),
  copy: (dict) => withParameters([], () => new Map(dict)),
};

const sequenceMethods: Record<string, (items: readonly Value[]) => Callable> = {
  count: (items) => withParameters(['value'], (value) => BigInt(items.filter((item) => isEqual(item, value)).length), 1),
  index: (items) =>
    withParameters(
      ['value'],
      (value) => {
        const at = items.findIndex((item) => isEqual(item, value));
        if (at < 0) throw new Error('The value is not in the list.');
        return BigInt(at);
      },
      1,
    ),
  copy: (items) => withParameters([], () => [...items]),
};

/**
 * Methods of Python's types that templates can't call here. A template that calls one is rejected when it is
 * published.
 */
export const UNSUPPORTED_METHODS: ReadonlySet<string> = new Set([
  ...['casefold', 'center', 'encode', 'expandtabs', 'format_map', 'fromkeys', 'isascii', 'isdecimal', 'isidentifier', 'isnumeric'],
  ...['isprintable', 'istitle', 'maketrans', 'rindex', 'swapcase', 'translate', 'zfill', 'cycle', 'changed'],
]);

const methodOfText = (text: string, name: string): Callable | undefined => {
  if (name === 'format') return (args) => formatText(text, args);
  if (!Object.hasOwn(textMethods, name)) return undefined;
  const { parameters, required, call } = textMethods[name] as (typeof textMethods)[string];
  return withParameters(parameters, (...values) => call(text, ...values), required);
};

const methodOf = (value: Value, name: string): Value => {
  if (typeof value === 'string') return methodOfText(value, name);
  if (value instanceof Map) return Object.hasOwn(dictMethods, name) ? dictMethods[name]?.(value) : undefined;
  if (value instanceof Namespace) return value.attributes.get(name);
  const items = itemsOf(value);
  return items && Object.hasOwn(sequenceMethods, name) ? sequenceMethods[name]?.(items) : undefined;
};

const failIfUndefined = (value: Value, name: string): void => {
  if (value === undefined) throw new Error(`The value whose '${name}' is read is undefined.`);
};

/**
 * Jinja's `value.name`: a method if the type has one, else the key of a dictionary; Undefined if there is neither.
 * @throws Error for Undefined
 */
export const getAttribute = (value: Value, name: string): Value => {
  failIfUndefined(value, name);
  const method = methodOf(value, name);
  if (method !== undefined || !(value instanceof Map)) return method;
  return MUTATING.has(name) ? undefined : value.get(name);
};

/** Jinja's `value[key]`: an item, else a method; Undefined if there is neither. @throws Error for Undefined */
export const getItem = (value: Value, key: Value): Value => {
  failIfUndefined(value, typeof key === 'string' ? key : 'item');
  if (value instanceof Map && value.has(key)) return value.get(key);
  if (typeof key === 'string') return methodOf(value, key);
  if (typeof key !== 'bigint' && typeof key !== 'boolean') return undefined;
  if (typeof value === 'string') return [...charactersOf(value)].at(Number(key));
  return itemsOf(value)?.at(Number(key));
};

const bound = (value: Value, length: number, fallback: number, isBackward: boolean): number => {
  if (value === undefined || value === null) return fallback;
  const index = toInteger(value, 'A slice index');
  const least = isBackward ? -1 : 0;
  return index < 0 ? Math.max(least, index + length) : Math.min(index, isBackward ? length - 1 : length);
};

const sliceOf = <Item>(items: { length: number; [index: number]: Item }, [from, to, by]: readonly Value[]): Item[] => {
  const step = by === undefined || by === null ? 1 : toInteger(by, 'A slice step');
  if (step === 0) throw new Error('slice step cannot be zero');
  const isBackward = step < 0;
  const { length } = items;
  const start = bound(from, length, isBackward ? length - 1 : 0, isBackward);
  const stop = bound(to, length, isBackward ? -1 : length, isBackward);
  const result: Item[] = [];
  for (let at = start; isBackward ? at > stop : at < stop; at += step) result.push(items[at] as Item);
  return result;
};

/** Python's `value[start:stop:step]`. @throws Error for values that can't be sliced */
export const getSlice = (value: Value, bounds: readonly Value[]): Value => {
  if (typeof value === 'string') return sliceOf(charactersOf(value), bounds).join('');
  if (Array.isArray(value)) return sliceOf(value, bounds);
  if (value instanceof Tuple) return new Tuple(sliceOf(value.items, bounds));
  throw new Error('The value that is sliced is not a string or list.');
};
