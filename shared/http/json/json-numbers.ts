import { isOtherNumber } from './json-size.ts';

// TypeScript does not declare these yet (https://tc39.es/proposal-json-parse-with-source/).
const { rawJSON, isRawJSON, parse } = JSON as unknown as {
  rawJSON: (text: string) => object;
  isRawJSON: (value: unknown) => boolean;
  parse: (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown;
};

/** The parts of a body that only a runtime reads: the values of these keys, anywhere in these fields of the body. */
export interface OpaqueParts {
  fields: ReadonlySet<string>;
  keys: ReadonlySet<string>;
  /** Fields of the body whose integers keep all their digits: those beyond 2^53 become bigints. */
  integers?: ReadonlySet<string>;
}

/** An integer that `JSON.stringify` prints with all its digits. */
export const exactInteger = (value: bigint): object => rawJSON(value.toString());

/** A number that keeps its form: an object that `JSON.stringify` prints as the number was written. */
export const isRawNumber = (value: unknown): boolean => isRawJSON(value);

const isOpaque = (value: unknown): boolean => typeof value === 'object' && !isRawJSON(value);

// Converts numbers that keep their form, but for those in objects and arrays under opaque keys. Changes objects in
// place.
const toNumbers = (value: unknown, keys: ReadonlySet<string> | undefined): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (isRawJSON(value)) return Number((value as { rawJSON: string }).rawJSON);
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) if (!keys?.has(key) || !isOpaque(object[key])) object[key] = toNumbers(object[key], keys);
  return value;
};

const integerOf = (value: unknown): bigint | undefined => {
  const source = isRawJSON(value) ? (value as { rawJSON: string }).rawJSON : '';
  return /^-?\d+$/.test(source) ? BigInt(source) : undefined;
};

/**
 * Parses JSON so that `JSON.stringify` prints the numbers of opaque parts as they were written: 1.0, 1e3 and
 * 9007199254740993 keep their form, because a chat template prints them as Python does, which tells 1 from 1.0.
 * @throws SyntaxError for text that is not JSON
 */
export const parseKeepingNumbers = (text: string, { fields, keys, integers }: OpaqueParts): unknown => {
  const body = parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && isOtherNumber(source) ? rawJSON(source) : value,
  );
  if (typeof body !== 'object' || body === null || isRawJSON(body)) return toNumbers(body, undefined);
  const object = body as Record<string, unknown>;
  for (const field of Object.keys(object)) {
    const integer = integers?.has(field) ? integerOf(object[field]) : undefined;
    object[field] = integer ?? toNumbers(object[field], fields.has(field) ? keys : undefined);
  }
  return body;
};
