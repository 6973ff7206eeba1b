import * as z from 'zod';

type Path = readonly PropertyKey[];

/** A path as errors name it, such as `messages[1].role`; empty for the whole value. */
export const pathText = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  );

/** The part of a value at a path; undefined if there is none. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part], value);

/** The schema within those that allow absence or null or set a default, and before a conversion. */
export const innermost = (schema: unknown): unknown => {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return innermost(schema.unwrap());
  return schema instanceof z.ZodPipe ? innermost(schema.in) : schema;
};

/** The innermost schema of the value at a path; undefined if it depends on the value. */
export const schemaAt = (schema: unknown, [part, ...rest]: Path): unknown => {
  const inner = innermost(schema);
  if (part === undefined) return inner;
  if (inner instanceof z.ZodObject) return schemaAt(inner.shape[String(part)], rest);
  if (inner instanceof z.ZodArray) return schemaAt(inner.element, rest);
  return inner instanceof z.ZodRecord ? schemaAt(inner.valueType, rest) : undefined;
};
