import { BadRequest } from '../requests/errors.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type SchemaObject = Readonly<Record<string, Json>>;

/** The document that references point into, and the number of schema visits left. */
export interface SchemaDocument {
  root: Json;
  budget: { left: number };
}

const MOST_VISITS = 20_000;

/** Creates a document with a fresh budget. */
export const openDocument = (root: Json): SchemaDocument => ({ root, budget: { left: MOST_VISITS } });

/**
 * Counts a visit to a schema. Throws `SchemaRefused` when the budget is spent, because nested references can grow
 * exponentially.
 */
export const countVisit = ({ budget }: SchemaDocument): void => {
  budget.left -= 1;
  if (budget.left < 0) throw new SchemaRefused(`it expands to more than ${MOST_VISITS} subschemas.`);
};

// `smallestInstance` satisfies these keywords, or they have no effect.
const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', '$ref', 'anyOf', 'oneOf', 'allOf'],
  ...['title', 'description', '$schema', '$id', '$comment', '$defs', 'definitions', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'discriminator', 'contentMediaType', 'contentEncoding'],
]);

/** The schema is unsupported, or no instance was found for it. */
export class SchemaRefused extends BadRequest {
  constructor(problem: string) {
    super(`The JSON schema can't be used: ${problem}`);
  }
}

export const isRecord = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Returns a schema as an object. Throws `SchemaRefused` for `false` and for unsupported keywords. */
export const toSchemaObject = (schema: Json | undefined): SchemaObject => {
  if (schema === undefined || schema === true) return {};
  if (!isRecord(schema)) throw new SchemaRefused(`no value fits the schema ${JSON.stringify(schema)}.`);
  const unknown = Object.keys(schema).find((keyword) => !KNOWN_KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new SchemaRefused(`the keyword '${unknown}' is not supported.`);
  return schema;
};

/** Returns the schema that a reference within the document points to (`#` or `#/…`, RFC 6901). */
export const resolveReference = ({ root }: SchemaDocument, reference: string): Json => {
  if (!/^#(\/|$)/.test(reference)) throw new SchemaRefused(`the $ref '${reference}' points outside the schema.`);
  let found: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const parent: Json | undefined = found;
    if (Array.isArray(parent)) found = parent[Number(key)];
    else found = isRecord(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
  }
  if (found === undefined) throw new SchemaRefused(`the $ref '${reference}' points to a schema that does not exist.`);
  return found;
};

const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Returns the schema's types. Without `type`, the other keywords imply one; without any of these, it is `null`. */
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

/** Returns the number of a keyword, if present. Throws `SchemaRefused` for any other value. */
export const numberOf = (schema: SchemaObject, keyword: string): number | undefined => {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new SchemaRefused(`the keyword '${keyword}' must be a number.`);
  return value;
};
