import { fitsSchema } from './fits-schema.ts';
import {
  asList,
  countVisit,
  isRecord,
  type Json,
  numberOf,
  openDocument,
  resolveReference,
  type SchemaDocument,
  type SchemaObject,
  SchemaRefused,
  toSchemaObject,
  typesOf,
} from './json-schema.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { boundedLength, smallestNumber, smallestText } from './smallest-leaf.ts';

const MOST_NESTED = 64;

// The references followed to a position in the document, and the nesting depth of its value.
interface SearchPosition {
  document: SchemaDocument;
  following: readonly string[];
  depth: number;
}

/**
 * Returns a small value that fits a JSON schema (draft 2020-12): its default or first example, otherwise only
 * required properties, the fewest items, the shortest strings and the numbers closest to 0. Throws `SchemaRefused`
 * for an unsupported keyword, for infinite recursion, or if it finds no value.
 */
export const smallestInstance = (schema: Json): Json => build(schema, { document: openDocument(schema), following: ['#'], depth: 0 });

const build = (schema: Json | undefined, search: SearchPosition): Json => {
  if (search.depth > MOST_NESTED) throw new SchemaRefused(`its smallest value has more than ${MOST_NESTED} levels of nesting.`);
  const flat = flatten(schema, search);
  return buildFlat(flat.schema, { ...search, following: flat.following });
};

interface Flat {
  schema: SchemaObject;
  following: readonly string[];
}

// `$ref` and `allOf` are replaced with the keywords they refer to.
const flatten = (schema: Json | undefined, search: SearchPosition): Flat => {
  countVisit(search.document);
  const { $ref, allOf, ...own } = toSchemaObject(schema);
  const parts = asList(allOf).map((part) => flatten(part, search));
  if (typeof $ref === 'string') parts.push(flattenReference($ref, search));
  // Only a single part has a chain of references to continue.
  const following = (parts.length === 1 ? parts[0]?.following : undefined) ?? search.following;
  return { schema: mergeSchemas([...parts.map((part) => part.schema), own]), following };
};

const flattenReference = (reference: string, search: SearchPosition): Flat => {
  if (search.following.includes(reference)) throw new SchemaRefused(`the $ref '${reference}' is infinitely recursive.`);
  return flatten(resolveReference(search.document, reference), { ...search, following: [...search.following, reference] });
};

const buildFlat = (schema: SchemaObject, search: SearchPosition): Json => {
  const fits = (value: Json) => fitsSchema(value, schema, search.document);
  const named = [schema.const, schema.default, asList(schema.examples)[0], ...asList(schema.enum)];
  const found = named.find((value) => value !== undefined && fits(value));
  if (found !== undefined) return found;
  if (schema.const !== undefined || schema.enum !== undefined)
    throw new SchemaRefused('no value of its const or enum fits its other keywords.');
  const { anyOf, oneOf, ...own } = schema;
  const branches = anyOf ?? oneOf;
  if (branches !== undefined) return buildBranch(asList(branches), own, fits, search);
  const value = buildOfType(schema, search);
  if (!fits(value)) throw new SchemaRefused(`no value was found that fits ${excerpt(schema)}.`);
  return value;
};

const excerpt = (schema: SchemaObject): string => JSON.stringify(schema).slice(0, 200);

// An infinitely recursive branch has no value.
const buildBranch = (branches: readonly Json[], own: SchemaObject, fits: (value: Json) => boolean, search: SearchPosition): Json => {
  let problem = new SchemaRefused('no value was found that fits a branch of its anyOf or oneOf.');
  for (const branch of branches) {
    try {
      const flat = flatten(branch, search);
      const value = buildFlat(mergeSchemas([own, flat.schema]), { ...search, following: flat.following });
      if (fits(value)) return value;
    } catch (error) {
      if (!(error instanceof SchemaRefused)) throw error;
      problem = error;
    }
  }
  throw problem;
};

const buildOfType = (schema: SchemaObject, search: SearchPosition): Json => {
  const [type] = typesOf(schema);
  switch (type) {
    case 'object':
      return buildObject(schema, search);
    case 'array':
      return buildArray(schema, search);
    case 'string':
      return smallestText(schema);
    case 'number':
    case 'integer':
      return smallestNumber(schema, type === 'integer');
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      throw new SchemaRefused(`the type ${JSON.stringify(schema.type)} does not exist.`);
  }
};

const buildObject = (schema: SchemaObject, search: SearchPosition): Json => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = asList(schema.required).filter((name) => typeof name === 'string');
  const spare = Object.keys(properties).filter((name) => !required.includes(name));
  const names = [...new Set(required), ...spare.slice(0, Math.max(0, (numberOf(schema, 'minProperties') ?? 0) - required.length))];
  return Object.fromEntries(
    names.map((name) => [name, build(Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties, inside(search))]),
  );
};

const buildArray = (schema: SchemaObject, search: SearchPosition): Json => {
  const count = boundedLength(schema, 'minItems');
  const first = asList(schema.prefixItems);
  return Array.from({ length: count }, (_, i) => build(i < first.length ? first[i] : schema.items, inside(search)));
};

const inside = (search: SearchPosition): SearchPosition => ({ ...search, depth: search.depth + 1 });
