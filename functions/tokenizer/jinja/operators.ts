import { spend, spendOnPower, spendOnText } from './budget.ts';
import { compare, isEqual, isIn } from './compare.ts';
import { formatPercent } from './format.ts';
import { print } from './print.ts';
import { textOf } from './text.ts';
import { isNumber, itemsOf, SafeText, Tuple, toInteger, toNumber, typeOf, type Value } from './values.ts';

// No prompt has a larger result: it is an attempt to use up memory.
const MAX_EXPONENT = 1_000;
const MAX_REPETITIONS = 100_000;

type Operator = (left: Value, right: Value) => Value;

const unsupported = (operator: string, left: Value, right: Value): Error =>
  new Error(`unsupported operand type(s) for ${operator}: '${typeOf(left)}' and '${typeOf(right)}'.`);

// Exact for two ints, else in floats.
const arithmetic =
  (name: string, onInts: (a: bigint, b: bigint) => Value, onFloats: (a: number, b: number) => Value): Operator =>
  (left, right) => {
    if (!isNumber(left) || !isNumber(right)) throw unsupported(name, left, right);
    const [a, b] = [toNumber(left), toNumber(right)];
    return typeof a === 'bigint' && typeof b === 'bigint' ? onInts(a, b) : onFloats(Number(a), Number(b));
  };

const nonZero = <N extends bigint | number>(divisor: N): N => {
  if (!divisor) throw new Error('division by zero');
  return divisor;
};

const addNumbers = arithmetic(
  '+',
  (a, b) => a + b,
  (a, b) => a + b,
);
const multiplyNumbers = arithmetic(
  '*',
  (a, b) => a * b,
  (a, b) => a * b,
);
// Python's remainder has the sign of the divisor.
const remainder = arithmetic(
  '%',
  (a, b) => ((a % nonZero(b)) + b) % b,
  (a, b) => a - Math.floor(a / nonZero(b)) * b,
);

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' };
const escapeHtml = (value: Value): string =>
  value instanceof SafeText ? value.text : textOf(value).replace(/[&<>'"]/g, (character) => ENTITIES[character] as string);

const add: Operator = (left, right) => {
  if (typeof left === 'string' && typeof right === 'string') return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (left instanceof Tuple && right instanceof Tuple) return new Tuple([...left.items, ...right.items]);
  if (left instanceof SafeText || right instanceof SafeText) return new SafeText(escapeHtml(left) + escapeHtml(right));
  return addNumbers(left, right);
};

const multiply: Operator = (left, right) => {
  const [items, times] = isNumber(left) ? [right, left] : [left, right];
  if (isNumber(items)) return multiplyNumbers(left, right);
  const count = Math.max(0, toInteger(times, 'The number of repetitions'));
  if (count > MAX_REPETITIONS) throw new Error(`At most ${MAX_REPETITIONS} repetitions are supported.`);
  if (typeof items === 'string') {
    spendOnText(items.length * count);
    return items.repeat(count);
  }
  if (!itemsOf(items)) throw unsupported('*', left, right);
  spend((itemsOf(items)?.length ?? 0) * count);
  const repeated = Array.from({ length: count }, () => itemsOf(items) as readonly Value[]).flat();
  return items instanceof Tuple ? new Tuple(repeated) : repeated;
};

const power = arithmetic(
  '**',
  (a, b) => {
    if (b > MAX_EXPONENT) throw new Error(`An exponent can be at most ${MAX_EXPONENT}.`);
    if (b < 0n) return Number(a) ** Number(b);
    spendOnPower(a, b);
    return a ** b;
  },
  (a, b) => a ** b,
);

/** The operators that evaluate both of their sides. */
export const operators: Readonly<Record<string, Operator>> = {
  '+': add,
  '-': arithmetic(
    '-',
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  '*': multiply,
  '/': arithmetic(
    '/',
    (a, b) => Number(a) / Number(nonZero(b)),
    (a, b) => a / nonZero(b),
  ),
  '//': arithmetic(
    '//',
    (a, b) => (a - (((a % nonZero(b)) + b) % b)) / b,
    (a, b) => Math.floor(a / nonZero(b)),
  ),
  '%': (left, right) => (typeof left === 'string' ? formatPercent(left, right) : remainder(left, right)),
  '**': power,
  '~': (left, right) => print(left) + print(right),
  '==': isEqual,
  '!=': (left, right) => !isEqual(left, right),
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
  in: isIn,
  'not in': (left, right) => !isIn(left, right),
};

/** Python's `-value` and `+value`. */
export const sign = (operator: string, value: Value): Value => {
  if (!isNumber(value)) throw new Error(`bad operand type for unary ${operator}: '${typeOf(value)}'.`);
  return operator === '-' ? -toNumber(value) : toNumber(value);
};
