import { withParameters } from './arguments.ts';
import { getItem } from './attributes.ts';
import { spend } from './budget.ts';
import { compare, isEqual } from './compare.ts';
import { operators } from './operators.ts';
import { print } from './print.ts';
import { tests } from './tests.ts';
import { joinTexts } from './text.ts';
import { type Arguments, charactersOf, isTrue, iterate, LazyItems, type Value } from './values.ts';

/** A filter: applied to a value, with arguments. `call` applies another filter by its name. */
export type Filter = (value: Value, args: Arguments, call: (name: string, value: Value, args: Arguments) => Value) => Value;

/** The result of a filter that Jinja computes while it is read. */
export const generate = (items: readonly Value[]): LazyItems => new LazyItems(items, true);

/** Two values to compare: in lower case, unless the comparison is case-sensitive. */
export const foldCase = (left: Value, right: Value, isCaseSensitive: boolean): [Value, Value] => {
  const fold = (value: Value): Value => (typeof value === 'string' && !isCaseSensitive ? value.toLowerCase() : value);
  return [fold(left), fold(right)];
};

// An attribute is like `function.name` or `0`.
const readerOf = (attribute: Value, fallback?: Value): ((item: Value) => Value) => {
  if (attribute === undefined || attribute === null) return (item) => item;
  const keys = print(attribute)
    .split('.')
    .map((key) => (/^\d+$/.test(key) ? BigInt(key) : key));
  return (item) => keys.reduce((value: Value, key) => getItem(value, key), item) ?? fallback;
};

const filter =
  (parameters: readonly string[], call: (items: readonly Value[], ...values: Value[]) => Value): Filter =>
  (value, args) =>
    withParameters(parameters, (...values) => call(iterate(value), ...values))(args);

// The arguments of `select` and its like: a test's name and its own arguments; without a name, truth.
const testOf = ([name, ...values]: readonly Value[]): ((item: Value) => boolean) => {
  if (name === undefined) return isTrue;
  const test = Object.hasOwn(tests, print(name)) ? tests[print(name)] : undefined;
  if (!test) throw new Error(`No test named '${print(name)}'.`);
  return (item) => test(item, ...values);
};

// A false value of any type has no items, as in `select` and `map`.
const itemsIfAny = (value: Value): readonly Value[] => (isTrue(value) ? iterate(value) : []);

const select =
  (isWanted: boolean): Filter =>
  (value, { positional }) => {
    const test = testOf(positional);
    return generate(itemsIfAny(value).filter((item) => test(item) === isWanted));
  };

const selectByAttribute =
  (isWanted: boolean): Filter =>
  (value, { positional: [attribute, ...rest] }) => {
    const read = readerOf(attribute);
    const test = testOf(rest);
    return generate(itemsIfAny(value).filter((item) => test(read(item)) === isWanted));
  };

// `map('lower')` applies a filter to each item, `map(attribute='name')` reads an attribute of each.
const map: Filter = (value, { positional: [name, ...positional], named }, call) => {
  const items = itemsIfAny(value);
  if (name !== undefined) return generate(items.map((item) => call(print(name), item, { positional, named })));
  return generate(items.map(readerOf(named.get('attribute'), named.get('default'))));
};

const extreme = (direction: number): Filter =>
  filter(['case_sensitive', 'attribute'], (items, isCaseSensitive, attribute) => {
    const read = readerOf(attribute);
    return items.reduce((best: Value, item, index) => {
      const isBetter = index === 0 || direction * compare(...foldCase(read(item), read(best), isTrue(isCaseSensitive))) > 0;
      return isBetter ? item : best;
    }, undefined);
  });

const sort = filter(['reverse', 'case_sensitive', 'attribute'], (items, isReversed, isCaseSensitive, attribute) => {
  const readers =
    attribute === undefined
      ? [readerOf(undefined)]
      : print(attribute)
          .split(',')
          .map((name) => readerOf(name));
  const direction = isTrue(isReversed) ? -1 : 1;
  return [...items].sort((left, right) => {
    for (const read of readers) {
      const order = compare(...foldCase(read(left), read(right), isTrue(isCaseSensitive)));
      if (order !== 0) return direction * order;
    }
    return 0;
  });
});

const unique = filter(['case_sensitive', 'attribute'], (items, isCaseSensitive, attribute) => {
  const read = readerOf(attribute);
  const seen: Value[] = [];
  const isNew = (item: Value): boolean => {
    const [key] = foldCase(read(item), undefined, isTrue(isCaseSensitive));
    spend(seen.length);
    if (seen.some((other) => isEqual(other, key))) return false;
    seen.push(key);
    return true;
  };
  return generate(items.filter(isNew));
});

const reverse: Filter = (value) =>
  typeof value === 'string' ? [...charactersOf(value)].reverse().join('') : generate([...iterate(value)].reverse());

/** Jinja's filters of lists and other values with items. */
export const sequenceFilters: Readonly<Record<string, Filter>> = {
  first: filter([], (items) => items[0]),
  join: filter(['d', 'attribute'], (items, separator = '', attribute) =>
    joinTexts(items.map(readerOf(attribute)).map(print), print(separator)),
  ),
  last: filter([], (items) => items.at(-1)),
  list: filter([], (items) => [...items]),
  map,
  max: extreme(1),
  min: extreme(-1),
  reject: select(false),
  rejectattr: selectByAttribute(false),
  reverse,
  select: select(true),
  selectattr: selectByAttribute(true),
  sort,
  sum: filter(['attribute', 'start'], (items, attribute, start = 0n) =>
    items.map(readerOf(attribute)).reduce((sum: Value, item) => operators['+']?.(sum, item), start),
  ),
  unique,
};
