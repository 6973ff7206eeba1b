import * as z from 'zod';
import { BadRequest } from './errors.ts';

/** Parses a JSON body with a schema. Throws `BadRequest` that says which fields are invalid. */
export const parseBody = <Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> => parseValue(schema, parseJson(body));

/** Parses a value with a schema. Throws `BadRequest` that says which fields are invalid. */
export const parseValue = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const read = schema.safeParse(value);
  if (!read.success) throw new BadRequest(explain(read.error));
  return read.data;
};

// An error about a combination of fields has only its own message.
const explain = (error: z.ZodError): string =>
  error.issues.find(({ code, path }) => code === 'custom' && path.length === 0)?.message ?? z.prettifyError(error);

/** Parses a JSON body. Throws `BadRequest`. */
export const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`JSON decode error: ${error instanceof Error ? error.message : error}`);
  }
};
