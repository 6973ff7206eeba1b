import { isDeepStrictEqual } from 'node:util';
import { isSchemaObject, type SchemaObject } from './schema-fault.ts';
import { resolveReference } from './schema-reference.ts';

// A schema and a value can have so many combinations that checking them would take forever.
const MAX_STEPS = 100_000;

class TooManySteps extends Error {}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isSchemaObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
const objectOf = (value: unknown): SchemaObject => (isSchemaObject(value) ? value : {});
const isWithin = (size: number, least: unknown, most: unknown): boolean =>
  (typeof least !== 'number' || size >= least) && (typeof most !== 'number' || size <= most);

// 0.3 is a multiple of 0.1, although the quotient is 2.9999999999999996.
const isMultiple = (value: number, of: number): boolean => Math.abs(value / of - Math.round(value / of)) < 1e-9;

const matchesNumber = (value: number, schema: SchemaObject): boolean => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return (
    isWithin(value, minimum, maximum) &&
    (typeof exclusiveMinimum !== 'number' || value > exclusiveMinimum) &&
    (typeof exclusiveMaximum !== 'number' || value < exclusiveMaximum) &&
    (typeof multipleOf !== 'number' || isMultiple(value, multipleOf))
  );
};

/**
 * Checks a value against a JSON Schema that was screened. `pattern`, `format` and conditions (`if`, `not`,
 * `dependent…`, `unevaluated…`) are not checked: a caller's regular expression could take forever.
 * @returns undefined if that takes too many steps
 */
export const matchesSchema = (root: unknown, value: unknown): boolean | undefined => {
  let steps = 0;

  const matchesObject = (object: SchemaObject, schema: SchemaObject): boolean => {
    const properties = objectOf(schema.properties);
    const { additionalProperties, patternProperties } = schema;
    // Which names a pattern allows is unknown.
    const rest = patternProperties === undefined ? additionalProperties : undefined;
    return (
      isWithin(Object.keys(object).length, schema.minProperties, schema.maxProperties) &&
      listOf(schema.required).every((name) => Object.hasOwn(object, String(name))) &&
      Object.entries(object).every(([name, part]) => matches(Object.hasOwn(properties, name) ? properties[name] : rest, part))
    );
  };

  const matchesArray = (array: readonly unknown[], schema: SchemaObject): boolean => {
    // Before JSON Schema 2020-12, `items` could be a list.
    const first = listOf(schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined));
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    return (
      isWithin(array.length, schema.minItems, schema.maxItems) &&
      array.every((part, i) => matches(i < first.length ? first[i] : rest, part))
    );
  };

  const matchesOwn = (part: unknown, schema: SchemaObject): boolean => {
    const { type } = schema;
    if (type !== undefined && !listOf(type).some((name) => TYPES[String(name)]?.(part))) return false;
    if ('const' in schema && !isDeepStrictEqual(part, schema.const)) return false;
    if (Array.isArray(schema.enum) && !schema.enum.some((each) => isDeepStrictEqual(part, each))) return false;
    if (typeof part === 'string') return isWithin(part.length, schema.minLength, schema.maxLength);
    if (typeof part === 'number') return matchesNumber(part, schema);
    if (Array.isArray(part)) return matchesArray(part, schema);
    return isSchemaObject(part) ? matchesObject(part, schema) : true;
  };

  const matches = (schema: unknown, part: unknown): boolean => {
    if (++steps > MAX_STEPS) throw new TooManySteps();
    if (!isSchemaObject(schema)) return schema !== false;
    const { $ref, allOf, anyOf, oneOf } = schema;
    const isOf = (one: unknown): boolean => matches(one, part);
    return (
      matchesOwn(part, schema) &&
      ($ref === undefined || isOf(resolveReference(root, $ref, '', '').target)) &&
      listOf(allOf).every(isOf) &&
      (anyOf === undefined || listOf(anyOf).some(isOf)) &&
      (oneOf === undefined || listOf(oneOf).filter(isOf).length === 1)
    );
  };

  try {
    return matches(root, value);
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
};
