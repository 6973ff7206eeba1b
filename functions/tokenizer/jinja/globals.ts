import { withParameters } from './arguments.ts';
import { spend } from './budget.ts';
import { print } from './print.ts';
import { strftime } from './strftime.ts';
import { textOf } from './text.ts';
import { type Callable, Namespace, toInteger, type Value } from './values.ts';

// The sandbox of Jinja allows no longer ranges.
const MAX_RANGE = 100_000;

const range = withParameters(
  ['start', 'stop', 'step'],
  (first, last, by) => {
    const [start, stop] = last === undefined ? [0, toInteger(first, 'range()')] : [toInteger(first, 'range()'), toInteger(last, 'range()')];
    const step = by === undefined ? 1 : toInteger(by, 'range()');
    if (step === 0) throw new Error('range() arg 3 must not be zero');
    const length = Math.max(0, Math.ceil((stop - start) / step));
    if (length > MAX_RANGE) throw new Error(`Range too big. The sandbox blocks ranges larger than ${MAX_RANGE}.`);
    spend(length);
    return Array.from({ length }, (_, index) => BigInt(start + index * step));
  },
  1,
);

const entriesOf = (value: Value): [string, Value][] => {
  if (value === undefined) return [];
  if (!(value instanceof Map)) throw new Error('Only a dictionary can be converted.');
  return [...value].map(([key, item]) => [print(key), item]);
};

const createDict: Callable = (args) => new Map([...entriesOf(args.positional[0]), ...args.named]);
const createNamespace: Callable = (args) => new Namespace([...entriesOf(args.positional[0]), ...args.named]);

/** The functions that every chat template can call, except `raise_exception`. */
export const globals: ReadonlyMap<string, Callable> = new Map([
  ['range', range],
  ['dict', createDict],
  ['namespace', createNamespace],
  ['strftime_now', withParameters(['format'], (format) => strftime(new Date(), textOf(format)), 1)],
]);
/** Functions of Jinja that templates can't call here. */
export const UNSUPPORTED_FUNCTIONS: ReadonlySet<string> = new Set(['lipsum', 'cycler', 'joiner']);
