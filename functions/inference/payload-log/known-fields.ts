import type * as z from 'zod';
import type { KnownFields } from '../../../shared/payload-log/effective-fields.ts';

interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  options?: readonly z.ZodType[];
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition;

const SCALARS: ReadonlySet<string> = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'bigint',
  'enum',
  'literal',
  'null',
  'undefined',
  'nan',
]);
// All fields of the value are known.
const ALL: KnownFields = {};

const merged = (one: KnownFields, other: KnownFields): KnownFields => {
  const fields = { ...one.fields };
  for (const [name, known] of Object.entries(other.fields ?? {})) fields[name] = fields[name] ? merged(fields[name], known) : known;
  const items = one.items && other.items ? merged(one.items, other.items) : (one.items ?? other.items);
  return { ...((one.fields ?? other.fields) && { fields }), ...(items && { items }) };
};

const ofOptions = (options: readonly z.ZodType[]): KnownFields => {
  const known = options.filter((option) => !SCALARS.has(definitionOf(option).type)).map(fieldsOf);
  return known.includes(ALL) ? ALL : known.reduce(merged, ALL);
};

const fieldsOf = (schema: z.ZodType): KnownFields => {
  const { type, shape, element, options, innerType, in: before, out: after } = definitionOf(schema);
  if (type === 'object' && shape)
    return { fields: Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, fieldsOf(field)])) };
  if (type === 'array' && element) return { items: fieldsOf(element) };
  if (type === 'union' && options) return ofOptions(options);
  if (innerType) return fieldsOf(innerType);
  // The value after a conversion has the shape that was sent, unless it only becomes another one.
  return type === 'pipe' && before && after && definitionOf(before).type === 'transform' ? fieldsOf(after) : ALL;
};

const known = new WeakMap<z.ZodType, KnownFields>();

/** The known fields of a route's body, from its schema. A part that is converted to something else counts as known. */
export const knownFieldsOf = (schema: z.ZodType): KnownFields => {
  const before = known.get(schema);
  if (before) return before;
  const { type, in: body } = definitionOf(schema);
  const fields = fieldsOf(type === 'pipe' && body ? body : schema);
  known.set(schema, fields);
  return fields;
};
