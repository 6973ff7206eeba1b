import * as z from 'zod';

// Only the schemas of zod that can contain other schemas.
const relaxed = (value: unknown): unknown => {
  if (value instanceof z.ZodType) return ignoringUnknown(value);
  return Array.isArray(value) ? value.map(relaxed) : value;
};

/**
 * The same schema for what is stored: its objects, at every level, ignore attributes that they don't know. A later
 * release may have written them, and this one must go on reading beside it, and after it was rolled back. Bodies of
 * requests keep the strict schema.
 */
export const ignoringUnknown = <Schema extends z.ZodType>(schema: Schema): Schema => {
  const { shape, catchall, checks, ...others } = schema._zod.def as unknown as Record<string, unknown>;
  const definition = {
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, relaxed(value)])),
    ...(shape ? { shape: Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, relaxed(value)])) } : {}),
    ...(catchall && !(catchall instanceof z.ZodNever) ? { catchall } : {}),
    ...(checks ? { checks } : {}),
  };
  return schema.clone(definition as unknown as Schema['_zod']['def']);
};
