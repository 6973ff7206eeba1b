import * as z from 'zod';
import type { FieldDoc } from '../../shared/hosts/operation.ts';

export type JsonSchema = { [keyword: string]: unknown };

/** Where a schema of the components is found. */
export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A union's members, those of unions in it among them. */
const flat = (members: readonly unknown[]): JsonSchema[] =>
  members.filter(isObject).flatMap((member) => {
    const { anyOf, ...rest } = member;
    return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? flat(anyOf) : [member];
  });

/** A value or null, said in one schema where that is possible: `"type": ["integer", "null"]`. */
const joinNull = (schema: JsonSchema): JsonSchema => {
  if (!Array.isArray(schema.anyOf)) return schema;
  const { anyOf, ...rest } = schema;
  const members = flat(anyOf);
  const [value, none] = members;
  if (members.length !== 2 || none?.type !== 'null' || typeof value?.type !== 'string' || 'const' in value)
    return { ...rest, anyOf: members };
  return { ...value, ...rest, type: [value.type, 'null'], ...(Array.isArray(value.enum) && { enum: [...value.enum, null] }) };
};

/** Says nothing: any number that JSON can hold exactly, any further property. */
const isEmptyWord = ([keyword, value]: [string, unknown]): boolean =>
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
  (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
  (keyword === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0) ||
  (keyword === 'propertyNames' && isObject(value) && Object.keys(value).length === 1 && value.type === 'string') ||
  keyword === '$schema' ||
  keyword === '$id';

/** Keywords whose values are names of properties, and not keywords. */
const tidyProperties = (properties: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, tidy(schema)]));

/** The same schema in fewer words. */
const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isObject(value)) return value;
  const words = Object.entries(value).filter((word) => !isEmptyWord(word));
  return joinNull(
    Object.fromEntries(
      words.map(([keyword, inner]) => [keyword, keyword === 'properties' ? tidyProperties(inner as JsonSchema) : tidy(inner)]),
    ),
  );
};

/** The same words with every zod schema in them converted. */
const withSchemas = (words: unknown): unknown => {
  if (words instanceof z.ZodType) return toInlineSchema(words);
  if (Array.isArray(words)) return words.map(withSchemas);
  return isObject(words) ? Object.fromEntries(Object.entries(words).map(([keyword, value]) => [keyword, withSchemas(value)])) : words;
};

/** What its properties mean, by name, and what zod cannot say of them. */
const explain = (schema: JsonSchema, docs: Readonly<Record<string, FieldDoc>>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      { ...property, ...(withSchemas(docs[name]) as FieldDoc | undefined) },
    ]),
  ),
});

/** Which side of a schema is told: what callers may send, or what they are sent. */
export type Direction = 'input' | 'output';

/** A schema of the document's components; `fields` are given for a request's body, whose properties are explained by name. */
export interface Component {
  schema: z.ZodType;
  fields?: Readonly<Record<string, FieldDoc>>;
  /** `input` where it is not said. */
  io?: Direction;
}

/** What goes out is complete, so that its defaults say nothing; and it may get further properties, which callers pass over. */
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
    // What JSON Schema cannot say is any value; the explanation of its property says more.
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  return schemas as Record<string, JsonSchema>;
};

/** zod schemas as the components of an OpenAPI document, by name; where one holds another of its direction, it refers to it. */
export const toComponents = (components: ReadonlyMap<string, Component>): Record<string, JsonSchema> => {
  const schemas = { ...toSchemas(components, 'input'), ...toSchemas(components, 'output') };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, generated]) => {
      const schema = tidy(generated) as JsonSchema;
      const fields = components.get(name)?.fields;
      return [name, fields ? explain(schema, fields) : schema];
    }),
  );
};

/** A schema that is small enough to stand where it is used. */
export const toInlineSchema = (schema: z.ZodType, io: Direction = 'input'): JsonSchema =>
  tidy(z.toJSONSchema(schema, optionsOf(io))) as JsonSchema;

const READABLE = new Set<unknown>(['string', 'integer', 'number', 'boolean']);

/** The schema of a query parameter: what its text is read as, or, where that is no simple value, the text itself. */
export const toParameterSchema = (schema: z.ZodType): JsonSchema => {
  const asRead = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return tidy(READABLE.has(asRead.type) ? asRead : z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })) as JsonSchema;
};
