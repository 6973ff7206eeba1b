import * as z from 'zod';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';

export type JsonSchema = { [keyword: string]: unknown };

/** A reference to a component's schema. */
export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);

const flattenUnion = (members: readonly unknown[]): JsonSchema[] =>
  members.filter(isObject).flatMap((member) => {
    const { anyOf, ...rest } = member;
    return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? flattenUnion(anyOf) : [member];
  });

// A union with null becomes one schema where that is possible: `"type": ["integer", "null"]`.
const joinNull = (schema: JsonSchema): JsonSchema => {
  if (!Array.isArray(schema.anyOf)) return schema;
  const { anyOf, ...rest } = schema;
  const members = flattenUnion(anyOf);
  const [value, none] = members;
  if (members.length !== 2 || none?.type !== 'null' || typeof value?.type !== 'string' || 'const' in value)
    return { ...rest, anyOf: members };
  return { ...value, ...rest, type: [value.type, 'null'], ...(Array.isArray(value.enum) && { enum: [...value.enum, null] }) };
};

// A keyword that allows every number that JSON can hold exactly, or every further property, says nothing.
const saysNothing = ([keyword, value]: [string, unknown]): boolean =>
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
  (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
  (keyword === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0) ||
  (keyword === 'propertyNames' && isObject(value) && Object.keys(value).length === 1 && value.type === 'string') ||
  keyword === '$schema' ||
  keyword === '$id';

// The keys of `properties` are names, not keywords.
const tidyProperties = (properties: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, removeEmptyKeywords(schema)]));

const removeEmptyKeywords = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(removeEmptyKeywords);
  if (!isObject(value)) return value;
  const words = Object.entries(value).filter((word) => !saysNothing(word));
  return joinNull(
    Object.fromEntries(
      words.map(([keyword, inner]) => [
        keyword,
        keyword === 'properties' ? tidyProperties(inner as JsonSchema) : removeEmptyKeywords(inner),
      ]),
    ),
  );
};

const convertZodSchemas = (words: unknown): unknown => {
  if (words instanceof z.ZodType) return toInlineSchema(words);
  if (Array.isArray(words)) return words.map(convertZodSchemas);
  return isObject(words) ? Object.fromEntries(Object.entries(words).map(([keyword, value]) => [keyword, convertZodSchemas(value)])) : words;
};

// Adds the documentation of properties, and keywords that zod cannot express.
const explain = (schema: JsonSchema, docs: Readonly<Record<string, FieldDoc>>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      { ...property, ...(convertZodSchemas(docs[name]) as FieldDoc | undefined) },
    ]),
  ),
});

/** Which side of a schema is documented: what callers can send, or what they receive. */
export type Direction = 'input' | 'output';

/** A schema of the document's components. `fields` documents the properties of a request body by name. */
export interface Component {
  schema: z.ZodType;
  fields?: Readonly<Record<string, FieldDoc>>;
  /** Default: `input`. */
  io?: Direction;
}

// Replies are complete, so their defaults are meaningless. They may get more properties, which callers must ignore.
const loosen = ({ jsonSchema }: { jsonSchema: JsonSchema }): void => {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  delete jsonSchema.default;
};

const optionsOf = (io: Direction) => ({ io, ...(io === 'output' && { override: loosen }) });

const toSchemas = (components: ReadonlyMap<string, Component>, io: Direction): Record<string, JsonSchema> => {
  const registry = z.registry<{ id: string }>();
  for (const [id, { schema, io: own = 'input' }] of components) if (own === io) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...optionsOf(io),
    // Types that JSON Schema can't express become any value; the property's description says more.
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  return schemas as Record<string, JsonSchema>;
};

/**
 * Converts zod schemas to OpenAPI components by name. A schema that contains another one of the same direction refers
 * to it.
 */
export const toComponents = (components: ReadonlyMap<string, Component>): Record<string, JsonSchema> => {
  const schemas = { ...toSchemas(components, 'input'), ...toSchemas(components, 'output') };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, generated]) => {
      const schema = removeEmptyKeywords(generated) as JsonSchema;
      const fields = components.get(name)?.fields;
      return [name, fields ? explain(schema, fields) : schema];
    }),
  );
};

/** Converts a schema that is small enough to be inlined. */
export const toInlineSchema = (schema: z.ZodType, io: Direction = 'input'): JsonSchema =>
  removeEmptyKeywords(z.toJSONSchema(schema, optionsOf(io))) as JsonSchema;

const READABLE = new Set<unknown>(['string', 'integer', 'number', 'boolean']);

/** The schema of a query parameter: that of the parsed value if it is a simple one, otherwise that of the text. */
export const toParameterSchema = (schema: z.ZodType): JsonSchema => {
  const asRead = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return removeEmptyKeywords(
    READABLE.has(asRead.type) ? asRead : z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  ) as JsonSchema;
};
