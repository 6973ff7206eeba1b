import { BadRequest } from '../errors.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type SchemaObject = Readonly<Record<string, Json>>;

/** The document that references point into, and how many of its schemas may still be looked at. */
export interface SchemaDocument {
  readonly root: Json;
  readonly budget: { left: number };
}

const MOST_SCHEMAS = 20_000;

export const openDocument = (root: Json): SchemaDocument => ({ root, budget: { left: MOST_SCHEMAS } });

/** Counts a look at a schema, so that no document can keep us busy. */
export const spendLook = ({ budget }: SchemaDocument): void => {
  budget.left -= 1;
  if (budget.left < 0) throw new SchemaRefused(`it takes more than ${MOST_SCHEMAS} looks at its parts.`);
};

/** Keywords that this container satisfies, and those that ask for nothing. */
const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', '$ref', 'anyOf', 'oneOf', 'allOf'],
  ...['title', 'description', '$schema', '$id', '$comment', '$defs', 'definitions', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'discriminator', 'contentMediaType', 'contentEncoding'],
]);

/** A schema that no instance can be made for. */
export class SchemaRefused extends BadRequest {
  constructor(problem: string) {
    super(`The JSON schema cannot be followed: ${problem}`);
  }
}

export const isRecord = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Booleans in, the schemas they stand for out; `false`, which nothing fits, is refused. */
export const toSchemaObject = (schema: Json | undefined): SchemaObject => {
  if (schema === undefined || schema === true) return {};
  if (!isRecord(schema)) throw new SchemaRefused(`${JSON.stringify(schema)} is no schema that anything fits.`);
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new SchemaRefused(`the keyword '${unknown}' is not supported.`);
  return schema;
};

/** A reference within the document (`#` or `#/…`, RFC 6901) in, the schema it points to out. */
export const resolveReference = ({ root }: SchemaDocument, reference: string): Json => {
  if (!/^#(\/|$)/.test(reference)) throw new SchemaRefused(`the $ref '${reference}' does not point into the schema.`);
  let found: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const parent: Json | undefined = found;
    if (Array.isArray(parent)) found = parent[Number(key)];
    else found = isRecord(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
  }
  if (found === undefined) throw new SchemaRefused(`the $ref '${reference}' points nowhere.`);
  return found;
};

const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The types that a schema names or, where it names none, those that its other keywords speak of; `null` is the least of all. */
export const typesOf = (schema: SchemaObject): string[] => {
  if (typeof schema.type === 'string') return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === 'string');
  const has = (...keywords: string[]) => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has('properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems')) return ['array'];
  if (has('minLength', 'maxLength', 'pattern', 'format')) return ['string'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  return ['null'];
};

/** A number that a keyword must have if it is there. */
export const numberOf = (schema: SchemaObject, keyword: string): number | undefined => {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new SchemaRefused(`the keyword '${keyword}' must be a number.`);
  return value;
};
