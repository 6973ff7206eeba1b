import { compare, isEqual, isIn } from './compare.ts';
import { operators } from './operators.ts';
import { print } from './print.ts';
import { textMethods } from './text.ts';
import { isTrue, itemsOf, LazyItems, SafeText, type Value } from './values.ts';

/** Returns true if the value passes the test. */
export type Test = (value: Value, ...values: Value[]) => boolean;

const isText = (value: Value): boolean => typeof value === 'string' || value instanceof SafeText;
const isSequence = (value: Value): boolean => isText(value) || value === undefined || value instanceof Map || itemsOf(value) !== undefined;
const equals: Test = (value, other) => isEqual(value, other);
const isLess: Test = (value, other) => compare(value, other) < 0;
const isGreater: Test = (value, other) => compare(value, other) > 0;
const isAtLeast: Test = (value, other) => compare(value, other) >= 0;
const isAtMost: Test = (value, other) => compare(value, other) <= 0;
const differs: Test = (value, other) => !isEqual(value, other);
// Python's `value % by == rest`.
const leaves = (value: Value, by: Value, rest: bigint): boolean => isEqual(operators['%']?.(value, by), rest);

/**
 * Jinja's tests (https://jinja.palletsprojects.com/en/stable/templates/#builtin-tests), but for `filter`, `test` and
 * `escaped`.
 */
export const tests: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === 'boolean',
  // Undefined has a method for calls, which fails.
  callable: (value) => typeof value === 'function' || value === undefined,
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  divisibleby: (value, by) => leaves(value, by, 0n),
  even: (value) => leaves(value, 2n, 0n),
  odd: (value) => leaves(value, 2n, 1n),
  false: (value) => value === false,
  true: (value) => value === true,
  float: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'bigint',
  number: (value) => typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean',
  in: isIn,
  iterable: (value) => isSequence(value) || value instanceof LazyItems,
  sequence: isSequence,
  mapping: (value) => value instanceof Map,
  none: (value) => value === null,
  sameas: (value, other) => value === other,
  string: isText,
  lower: (value) => isTrue(textMethods.islower?.call(print(value)) ?? false),
  upper: (value) => isTrue(textMethods.isupper?.call(print(value)) ?? false),
  eq: equals,
  equalto: equals,
  '==': equals,
  ne: differs,
  '!=': differs,
  lt: isLess,
  lessthan: isLess,
  '<': isLess,
  gt: isGreater,
  greaterthan: isGreater,
  '>': isGreater,
  ge: isAtLeast,
  '>=': isAtLeast,
  le: isAtMost,
  '<=': isAtMost,
};
