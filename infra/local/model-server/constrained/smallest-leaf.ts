import { fitsNumber, fitsText } from './fits-schema.ts';
import { type Json, numberOf, type SchemaObject, SchemaRefused } from './json-schema.ts';

const MOST_LENGTH = 4_096;

// Clients may validate JSON Schema's formats.
const FORMATS: ReadonlyMap<Json | undefined, string> = new Map([
  ['date-time', '2000-01-01T00:00:00Z'],
  ['date', '2000-01-01'],
  ['time', '00:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'a@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
]);

/** Returns the shortest string that fits, or the example of the schema's format. */
export const smallestText = (schema: SchemaObject): string => {
  const least = boundedLength(schema, 'minLength');
  const formatted = FORMATS.get(schema.format) ?? '';
  const text = formatted.length >= least ? formatted : 'a'.repeat(least);
  if (schema.pattern !== undefined && !fitsText(text, schema)) {
    throw new SchemaRefused("the keyword 'pattern' is not supported without a default or an example.");
  }
  return text;
};

/** Returns the minimum length that a keyword sets; 0 if absent. */
export const boundedLength = (schema: SchemaObject, keyword: 'minLength' | 'minItems'): number => {
  const length = numberOf(schema, keyword) ?? 0;
  if (length > MOST_LENGTH) throw new SchemaRefused(`the keyword '${keyword}' must be at most ${MOST_LENGTH}.`);
  return Math.max(0, Math.ceil(length));
};

/** Returns the fitting number closest to 0, among 0 and numbers near the bounds. */
export const smallestNumber = (schema: SchemaObject, isInteger: boolean): number => {
  const step = numberOf(schema, 'multipleOf') ?? (isInteger ? 1 : undefined);
  const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
    .map((keyword) => numberOf(schema, keyword))
    .filter((bound) => bound !== undefined);
  const between = (Math.max(...bounds) + Math.min(...bounds)) / 2;
  const near = (bound: number): number[] => {
    if (step === undefined) return [bound, Math.trunc(bound) + 1, Math.trunc(bound) - 1, between];
    const steps = Math.trunc(bound / step);
    return [-1, 0, 1].map((more) => (steps + more) * step);
  };
  const candidates = [0, ...bounds.flatMap(near)].filter((number) => fitsNumber(number, schema));
  const [nearest] = candidates.sort((a, b) => Math.abs(a) - Math.abs(b));
  if (nearest === undefined) throw new SchemaRefused('no number fits its bounds.');
  return Object.is(nearest, -0) ? 0 : nearest;
};
