import { spend, spendOnSearch, spendOnText } from './budget.ts';
import { isNumber, itemsOf, LazyItems, SafeText, toNumber, typeOf, type Value } from './values.ts';

const areItemsEqual = (left: readonly Value[], right: readonly Value[]): boolean => {
  if (left.length !== right.length) return false;
  spend(left.length);
  return left.every((item, index) => isEqual(item, right[index]));
};

const plainOf = (value: Value): Value => (value instanceof SafeText ? value.text : value);

// Python compares numbers of different types by their values.
const areEqualNumbers = (a: bigint | number, b: bigint | number): boolean => (typeof a === typeof b ? a === b : a <= b && a >= b);

/** Python's `left == right`. */
export const isEqual = (left: Value, right: Value): boolean => {
  if (left === right) return true;
  if (left instanceof SafeText || right instanceof SafeText) return plainOf(left) === plainOf(right);
  if (isNumber(left) && isNumber(right)) return areEqualNumbers(toNumber(left), toNumber(right));
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const items = itemsOf(left);
  const others = itemsOf(right);
  if (items && others) return areItemsEqual(items, others);
  if (!(left instanceof Map && right instanceof Map) || left.size !== right.size) return false;
  spend(left.size);
  return [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key)));
};

// By code points; JavaScript compares by UTF-16 units.
const compareTexts = (left: string, right: string): number => {
  spendOnText(left.length + right.length);
  const a = left.isWellFormed() ? Buffer.from(left) : left;
  const b = right.isWellFormed() ? Buffer.from(right) : right;
  if (typeof a === 'object' && typeof b === 'object') return a.compare(b);
  return left < right ? -1 : Number(left > right);
};

/**
 * The order of two values as Python's `<` and `>` define it: negative, 0 or positive. @throws Error for types that
 * have no order
 */
export const compare = (left: Value, right: Value): number => {
  if (isNumber(left) && isNumber(right)) {
    const [a, b] = [toNumber(left), toNumber(right)];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
    return a < b ? -1 : Number(a > b);
  }
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  const items = itemsOf(left);
  const others = itemsOf(right);
  if (!items || !others || Array.isArray(left) !== Array.isArray(right))
    throw new Error(`'<' not supported between instances of '${typeOf(left)}' and '${typeOf(right)}'.`);
  const at = items.findIndex((item, index) => index >= others.length || !isEqual(item, others[index]));
  if (at < 0) return items.length - others.length;
  return at >= others.length ? 1 : compare(items[at], others[at]);
};

/** Python's `item in container`. @throws Error for a value that can't contain others */
export const isIn = (item: Value, container: Value): boolean => {
  if (container === undefined) return false;
  if (container instanceof Map) return container.has(item);
  if (typeof container === 'string') {
    if (typeof item === 'string') {
      spendOnSearch(container, item);
      return container.includes(item);
    }
    throw new Error(`'in <string>' requires string as left operand, not ${typeOf(item)}.`);
  }
  const items = container instanceof LazyItems ? container.take() : itemsOf(container);
  if (!items) throw new Error(`argument of type '${typeOf(container)}' is not iterable.`);
  spend(items.length);
  return items.some((other) => isEqual(item, other));
};
