import { fitsSchema } from './fits-schema.ts';
import {
  asList,
  isRecord,
  type Json,
  numberOf,
  openDocument,
  resolveReference,
  type SchemaDocument,
  type SchemaObject,
  SchemaRefused,
  spendLook,
  toSchemaObject,
  typesOf,
} from './json-schema.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { boundedLength, smallestNumber, smallestText } from './smallest-leaf.ts';

const MOST_NESTED = 64;

/** Where in the document we are: the references that led here, and how deep the value is by now. */
interface Search {
  readonly document: SchemaDocument;
  readonly following: readonly string[];
  readonly depth: number;
}

/**
 * A JSON schema (draft 2020-12) in, a small value that fits it out: what it names as default or as first example, otherwise the
 * required properties, the fewest items, the shortest texts and the numbers nearest to 0. Throws `SchemaRefused`, a 400, for
 * a keyword that is not supported, for a recursion without end and for a schema that nothing seems to fit.
 */
export const smallestInstance = (schema: Json): Json => build(schema, { document: openDocument(schema), following: ['#'], depth: 0 });

const build = (schema: Json | undefined, search: Search): Json => {
  if (search.depth > MOST_NESTED) throw new SchemaRefused(`its smallest value has more than ${MOST_NESTED} levels, or no end.`);
  const flat = flatten(schema, search);
  return buildFlat(flat.schema, { ...search, following: flat.following });
};

interface Flat {
  schema: SchemaObject;
  following: readonly string[];
}

/** Puts what `$ref` and `allOf` bring in their place. */
const flatten = (schema: Json | undefined, search: Search): Flat => {
  spendLook(search.document);
  const { $ref, allOf, ...own } = toSchemaObject(schema);
  const parts = asList(allOf).map((part) => flatten(part, search));
  if (typeof $ref === 'string') parts.push(flattenReference($ref, search));
  // Several parts at once are no longer what one reference names, so none of theirs was followed.
  const following = (parts.length === 1 ? parts[0]?.following : undefined) ?? search.following;
  return { schema: mergeSchemas([...parts.map((part) => part.schema), own]), following };
};

const flattenReference = (reference: string, search: Search): Flat => {
  if (search.following.includes(reference)) throw new SchemaRefused(`the $ref '${reference}' leads back to itself without end.`);
  return flatten(resolveReference(search.document, reference), { ...search, following: [...search.following, reference] });
};

const buildFlat = (schema: SchemaObject, search: Search): Json => {
  const fits = (value: Json) => fitsSchema(value, schema, search.document);
  const named = [schema.const, schema.default, asList(schema.examples)[0], ...asList(schema.enum)];
  const found = named.find((value) => value !== undefined && fits(value));
  if (found !== undefined) return found;
  if (schema.const !== undefined || schema.enum !== undefined) throw new SchemaRefused('nothing in its const or enum fits the rest.');
  const { anyOf, oneOf, ...own } = schema;
  const branches = anyOf ?? oneOf;
  if (branches !== undefined) return buildBranch(asList(branches), own, fits, search);
  const value = buildOfType(schema, search);
  if (!fits(value)) throw new SchemaRefused(`no small value was found for ${excerpt(schema)}.`);
  return value;
};

const excerpt = (schema: SchemaObject): string => JSON.stringify(schema).slice(0, 200);

/** The first branch that something fits; one that goes on without end has no such thing. */
const buildBranch = (branches: readonly Json[], own: SchemaObject, fits: (value: Json) => boolean, search: Search): Json => {
  let problem = new SchemaRefused('nothing fits any branch of its anyOf or oneOf.');
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

const buildOfType = (schema: SchemaObject, search: Search): Json => {
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
      throw new SchemaRefused(`the type ${JSON.stringify(schema.type)} is not known.`);
  }
};

const buildObject = (schema: SchemaObject, search: Search): Json => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = asList(schema.required).filter((name) => typeof name === 'string');
  const spare = Object.keys(properties).filter((name) => !required.includes(name));
  const names = [...new Set(required), ...spare.slice(0, Math.max(0, (numberOf(schema, 'minProperties') ?? 0) - required.length))];
  return Object.fromEntries(
    names.map((name) => [name, build(Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties, inside(search))]),
  );
};

const buildArray = (schema: SchemaObject, search: Search): Json => {
  const count = boundedLength(schema, 'minItems');
  const first = asList(schema.prefixItems);
  return Array.from({ length: count }, (_, i) => build(i < first.length ? first[i] : schema.items, inside(search)));
};

const inside = (search: Search): Search => ({ ...search, depth: search.depth + 1 });
