import {
  asList,
  countVisit,
  isRecord,
  type Json,
  numberOf,
  resolveReference,
  type SchemaDocument,
  type SchemaObject,
  toSchemaObject,
} from './json-schema.ts';

/**
 * True if a value fits a JSON schema of the document. Throws `SchemaRefused` for a keyword that `smallestInstance`
 * doesn't support.
 */
export const fitsSchema = (value: Json, schema: Json | undefined, document: SchemaDocument): boolean => {
  countVisit(document);
  if (schema === false) return false;
  const object = toSchemaObject(schema);
  const fits = (inner: Json, innerSchema: Json | undefined) => fitsSchema(inner, innerSchema, document);
  return (
    (object.type === undefined || asNames(object.type).some((type) => isOfType(value, type))) &&
    (object.enum === undefined || asList(object.enum).some((one) => isSame(one, value))) &&
    (object.const === undefined || isSame(object.const, value)) &&
    (typeof object.$ref !== 'string' || fits(value, resolveReference(document, object.$ref))) &&
    asList(object.allOf).every((one) => fits(value, one)) &&
    (object.anyOf === undefined || asList(object.anyOf).some((one) => fits(value, one))) &&
    (object.oneOf === undefined || asList(object.oneOf).filter((one) => fits(value, one)).length === 1) &&
    (typeof value !== 'string' || fitsText(value, object)) &&
    (typeof value !== 'number' || fitsNumber(value, object)) &&
    (!Array.isArray(value) || fitsArray(value, object, fits)) &&
    (!isRecord(value) || fitsObject(value, object, fits))
  );
};

type Fits = (value: Json, schema: Json | undefined) => boolean;

const asNames = (type: Json): Json[] => (Array.isArray(type) ? type : [type]);

/** Compares values, whatever the order of their keys. */
export const isSame = (a: Json, b: Json): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
};

const isOfType = (value: Json, type: Json): boolean => {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
};

/** True if a string fits the schema. Lengths count code points (JSON Schema validation, 6.3). */
export const fitsText = (text: string, schema: SchemaObject): boolean => {
  const length = [...text].length;
  if (length < (numberOf(schema, 'minLength') ?? 0) || length > (numberOf(schema, 'maxLength') ?? Infinity)) return false;
  if (typeof schema.pattern !== 'string') return true;
  try {
    return new RegExp(schema.pattern, 'u').test(text);
  } catch {
    return false;
  }
};

/** True if a number fits the schema. */
export const fitsNumber = (number: number, schema: SchemaObject): boolean => {
  const step = numberOf(schema, 'multipleOf');
  return (
    number >= (numberOf(schema, 'minimum') ?? -Infinity) &&
    number <= (numberOf(schema, 'maximum') ?? Infinity) &&
    number > (numberOf(schema, 'exclusiveMinimum') ?? -Infinity) &&
    number < (numberOf(schema, 'exclusiveMaximum') ?? Infinity) &&
    (step === undefined || Number.isInteger(number / step))
  );
};

const fitsArray = (items: readonly Json[], schema: SchemaObject, fits: Fits): boolean => {
  if (items.length < (numberOf(schema, 'minItems') ?? 0) || items.length > (numberOf(schema, 'maxItems') ?? Infinity)) return false;
  const isUnique = () => items.every((item, i) => !items.slice(0, i).some((earlier) => isSame(earlier, item)));
  if (schema.uniqueItems === true && !isUnique()) return false;
  const first = asList(schema.prefixItems);
  return items.every((item, i) => fits(item, i < first.length ? first[i] : schema.items));
};

const fitsObject = (object: { [key: string]: Json }, schema: SchemaObject, fits: Fits): boolean => {
  const keys = Object.keys(object);
  if (keys.length < (numberOf(schema, 'minProperties') ?? 0) || keys.length > (numberOf(schema, 'maxProperties') ?? Infinity)) return false;
  if (!asList(schema.required).every((name) => typeof name === 'string' && Object.hasOwn(object, name))) return false;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return keys.every((key) => fits(object[key] ?? null, Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties));
};
