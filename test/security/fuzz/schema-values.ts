import * as fc from 'fast-check';
import { HOSTILE_STRINGS, hostileValue, intBelow, isLikely, oneOf, type Random } from './hostile-values.ts';

/** A schema of an OpenAPI 3.1 document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  pattern?: string;
}

const MAX_DEPTH = 8;
const MOST_ITEMS = 3;
const MOST_REPEATED_CHARACTERS = 1_000_000;
const WORDS = ['Hello', 'a', 'Say one word.', 'résumé', '你好', 'user@example.com', '2026-11', '1.5'];
// The span of numbers without a bound in their schema.
const USUAL_SPAN = 100;

const matching = (pattern: string, random: Random): string =>
  fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: intBelow(random, 2 ** 31), numRuns: 1 })[0] as string;

const stringOf = ({ pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema, random: Random): string => {
  // fast-check has no assertions that look ahead.
  const text = pattern !== undefined && !pattern.includes('(?') ? matching(pattern, random) : oneOf(random, WORDS);
  return text.padEnd(minLength, 'x').slice(0, maxLength);
};

const numberOf = ({ type, minimum, exclusiveMinimum, maximum }: Schema, random: Random): number => {
  const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 0.5);
  const most = Math.min(maximum ?? least + USUAL_SPAN, least + 1e9);
  const value = oneOf(random, [least, most, least + random() * (most - least)]);
  return type === 'integer' ? Math.round(value) : value;
};

/**
 * A value that is likely to be valid by a schema.
 * @param resolve finds the schema of a `$ref`
 */
export const validValue = (schema: Schema, resolve: (ref: string) => Schema, random: Random, depth = 0): unknown => {
  const inner = (part: Schema): unknown => validValue(part, resolve, random, depth + 1);
  if (schema.$ref !== undefined) return inner(resolve(schema.$ref));
  if ('const' in schema) return schema.const;
  if (schema.enum) return oneOf(random, schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return inner(oneOf(random, choices));
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(inner)) as unknown;
  const type = Array.isArray(schema.type) ? oneOf(random, schema.type) : schema.type;
  if (type === 'object') return objectOf(schema, inner, random, depth);
  if (type === 'array') {
    const length = Math.max(schema.minItems ?? 0, intBelow(random, Math.min(schema.maxItems ?? MOST_ITEMS, MOST_ITEMS) + 1));
    return depth > MAX_DEPTH ? [] : Array.from({ length }, (_, index) => inner(schema.prefixItems?.[index] ?? schema.items ?? {}));
  }
  if (type === 'string') return stringOf(schema, random);
  if (type === 'integer' || type === 'number') return numberOf({ ...schema, type }, random);
  if (type === 'boolean') return isLikely(random, 0.5);
  return type === 'null' ? null : oneOf(random, WORDS);
};

const objectOf = (schema: Schema, inner: (part: Schema) => unknown, random: Random, depth: number): Record<string, unknown> => {
  const { properties = {}, required = [], additionalProperties } = schema;
  const optional = depth > MAX_DEPTH ? 0 : oneOf(random, [0, 0.2, 0.8]);
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || isLikely(random, optional))
    .map(([name, part]) => [name, inner(part)]);
  const more =
    typeof additionalProperties === 'object' && isLikely(random, optional) ? [[oneOf(random, WORDS), inner(additionalProperties)]] : [];
  return Object.fromEntries([...entries, ...more]) as Record<string, unknown>;
};

/** Copies a value with one part of it replaced by a hostile value, removed, repeated or renamed. */
export const mutated = (value: unknown, random: Random): unknown => {
  const isContainer = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isContainer || isLikely(random, 0.15)) return hostileValue(random);
  if (Array.isArray(value)) return mutatedArray(value, random);
  const entries = Object.entries(value);
  const index = intBelow(random, entries.length);
  const [name, part] = entries[index] as [string, unknown];
  const change = random();
  if (change < 0.1) entries.splice(index, 1);
  else if (change < 0.2) entries.push([oneOf(random, HOSTILE_STRINGS), hostileValue(random)]);
  else entries[index] = [name, mutated(part, random)];
  // Keeps a key named __proto__ as an own key.
  return Object.fromEntries(entries);
};

// Arrays can be repeated within arrays that are repeated, too.
const repetitions = (part: unknown, random: Random): number => {
  const length = oneOf(random, [2, 20, 300]);
  return length * (JSON.stringify(part)?.length ?? 0) > MOST_REPEATED_CHARACTERS ? 2 : length;
};

const mutatedArray = (value: readonly unknown[], random: Random): unknown[] => {
  const index = intBelow(random, value.length);
  const change = random();
  if (change < 0.1) return value.toSpliced(index, 1);
  if (change < 0.2) return Array.from({ length: repetitions(value[index], random) }, () => value[index]);
  return value.with(index, mutated(value[index], random));
};
