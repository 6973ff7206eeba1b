import { print } from './print.ts';
import { type Arguments, isNumber, Tuple, toNumber, typeOf, type Value } from './values.ts';

/**
 * Python's `text.format(…)` with fields like `{}`, `{0}` and `{name}`.
 * @throws Error for a field that is missing or has a format of its own
 */
export const formatText = (text: string, { positional, named }: Arguments): string => {
  let next = 0;
  return text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, name?: string) => {
    if (whole === '{{' || whole === '}}') return whole[0] as string;
    if (name === undefined || !/^\w*$/.test(name)) throw new Error('Only the format fields {}, {0} and {name} are supported.');
    const index = name === '' ? next++ : Number(name);
    if (Number.isInteger(index) ? index >= positional.length : !named.has(name)) throw new Error('A format field has no value.');
    return print(Number.isInteger(index) ? positional[index] : named.get(name));
  });
};

const formatOne = (kind: string, value: Value): string => {
  if (kind === 's') return print(value);
  if (!isNumber(value)) throw new Error(`%d format: a real number is required, not ${typeOf(value)}.`);
  const number = toNumber(value);
  return typeof number === 'bigint' ? number.toString() : BigInt(Math.trunc(number)).toString();
};

/**
 * Python's `text % values` with `%s`, `%d` and `%%`.
 * @throws Error for other formats, and for too few or too many values
 */
export const formatPercent = (text: string, value: Value): string => {
  const values = value instanceof Tuple ? value.items : [value];
  let next = 0;
  const formatted = text.replace(/%(.?)/gs, (_, kind: string) => {
    if (kind === '%') return '%';
    if (kind !== 's' && kind !== 'd') throw new Error('Only the formats %s and %d are supported.');
    if (next >= values.length) throw new Error('not enough arguments for format string');
    return formatOne(kind, values[next++]);
  });
  if (next < values.length) throw new Error('not all arguments converted during string formatting');
  return formatted;
};
