import { spend } from './budget.ts';

// Items that a filter visits: an iteration of a loop is a step of its own.
const ITEMS_A_STEP = 16;

/** A dictionary. Its keys are strings, numbers, booleans or null. */
export type Dict = Map<Value, Value>;

/** Arguments of a call: by position, then by name. */
export interface Arguments {
  positional: readonly Value[];
  named: ReadonlyMap<string, Value>;
}

/** A function, method or macro. */
export type Callable = (args: Arguments) => Value;

/** Python's tuple. */
export class Tuple {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** An object whose attributes a template reads: `loop`, or a `namespace(…)`, whose attributes it also sets. */
export class Namespace {
  readonly attributes: Map<string, Value>;

  constructor(attributes: Iterable<readonly [string, Value]>) {
    this.attributes = new Map(attributes);
  }
}

/**
 * A generator, which has no length and can be read only once, or a view of a dictionary: Python iterates over these,
 * but neither indexes them nor prints them as JSON.
 */
export class LazyItems {
  readonly isOnce: boolean;
  #items: readonly Value[];

  constructor(items: readonly Value[], isOnce: boolean) {
    this.#items = items;
    this.isOnce = isOnce;
  }

  get length(): number {
    return this.#items.length;
  }

  /** The items; those of a generator are gone after the first call. */
  take(): readonly Value[] {
    const items = this.#items;
    if (this.isOnce) this.#items = [];
    return items;
  }
}

/**
 * A text that the filter `safe` has marked: text that is added to it is escaped for HTML
 * (https://markupsafe.palletsprojects.com).
 */
export class SafeText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A value of a template, as Python's types: int is bigint, float is number, list is an array, None is null; undefined
 * is Jinja's Undefined.
 */
export type Value =
  | (undefined | null | boolean | bigint | number | string)
  | (Value[] | Tuple | Dict | LazyItems)
  | (Namespace | SafeText | Callable);

/** The name of a value's type in Python, for error messages. */
export const typeOf = (value: Value): string => {
  if (value === undefined) return 'undefined';
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'dict';
  if (typeof value === 'object') return value.constructor.name;
  return { boolean: 'bool', bigint: 'int', number: 'float', string: 'str', function: 'function' }[typeof value as 'string'];
};

/** Python's `bool(value)`. */
export const isTrue = (value: Value): boolean => {
  if (value instanceof Map) return value.size > 0;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Tuple) return value.items.length > 0;
  if (value instanceof LazyItems) return value.isOnce || value.length > 0;
  if (value instanceof SafeText) return value.text !== '';
  return Boolean(value) || Number.isNaN(value);
};

/** The value is an int, a float or a bool, which Python counts as an int. */
export const isNumber = (value: Value): value is boolean | bigint | number =>
  typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean';

/** A number to compute with: bool as int. */
export const toNumber = (value: boolean | bigint | number): bigint | number => (typeof value === 'boolean' ? BigInt(value) : value);

/** An integer argument, such as an index. @throws Error for other values */
export const toInteger = (value: Value, what: string): number => {
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  throw new Error(`${what} must be an integer, not ${typeOf(value)}.`);
};

/** The items of a list or tuple; undefined for other values. */
export const itemsOf = (value: Value): readonly Value[] | undefined =>
  Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;

/**
 * The items of what a loop or filter iterates over: characters of a string, keys of a dictionary, nothing for
 * Undefined. @throws Error for other values
 */
export const iterate = (value: Value): readonly Value[] => {
  const items = itemsToVisit(value);
  spend(items.length / ITEMS_A_STEP);
  return items;
};

const itemsToVisit = (value: Value): readonly Value[] => {
  if (value === undefined) return [];
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Map) return [...value.keys()];
  if (value instanceof LazyItems) return value.take();
  const items = itemsOf(value);
  if (!items) throw new Error(`'${typeOf(value)}' object is not iterable.`);
  return items;
};

const SURROGATE = /[\ud800-\udfff]/;

// In code points; JavaScript counts those beyond U+FFFF twice.
const lengthOfText = (text: string): number =>
  SURROGATE.test(text) ? text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0) : text.length;

/** Python's `len(value)`; 0 for Undefined. @throws Error for values without a length */
export const lengthOf = (value: Value): number => {
  if (value === undefined) return 0;
  if (typeof value === 'string') return lengthOfText(value);
  if (value instanceof Map) return value.size;
  if (value instanceof LazyItems && !value.isOnce) return value.length;
  const items = itemsOf(value);
  if (!items) throw new Error(`object of type '${typeOf(value)}' has no len().`);
  return items.length;
};

/** The characters of a text by their indexes. */
export const charactersOf = (text: string): string | string[] => (SURROGATE.test(text) ? Array.from(text) : text);
