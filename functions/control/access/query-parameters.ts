import * as z from 'zod';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { refuseRepeated } from '../../../shared/http/validate-query.ts';

const unwrapped = (field: unknown): unknown =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault ? unwrapped(field.unwrap()) : field;

const takeRecord = (query: Record<string, unknown>, name: string): void => {
  const spellings = Object.keys(query).filter((spelling) => spelling.startsWith(`${name}[`) && spelling.endsWith(']'));
  if (spellings.length === 0) return;
  query[name] = Object.fromEntries(spellings.map((spelling) => [spelling.slice(name.length + 1, -1), query[spelling]]));
  for (const spelling of spellings) delete query[spelling];
};

/**
 * Collects the query parameters of a request, before validation. Parameters that the schema declares as arrays can be
 * repeated, with or without brackets: `models=a&models=b`, or `models[]=a&models[]=b` as OpenAI's clients send them.
 * Those that it declares as records are objects: `metadata[team]=a&metadata[env]=b`.
 * @throws 400 for another parameter that is repeated: API Gateway passes on only its last value
 */
export const queryParametersOf = (
  schema: z.ZodObject,
  { queryStringParameters, multiValueQueryStringParameters }: Pick<ApiEvent, 'queryStringParameters' | 'multiValueQueryStringParameters'>,
): Record<string, unknown> => {
  const query: Record<string, unknown> = { ...queryStringParameters };
  const all = { ...multiValueQueryStringParameters };
  for (const [name, field] of Object.entries(schema.shape)) {
    const type = unwrapped(field);
    if (type instanceof z.ZodRecord) takeRecord(query, name);
    if (!(type instanceof z.ZodArray)) continue;
    const names = [name, `${name}[]`];
    const values = names.flatMap((spelling) => all[spelling] ?? []);
    for (const spelling of names) {
      delete query[spelling];
      delete all[spelling];
    }
    if (values.length > 0) query[name] = values;
  }
  refuseRepeated(all);
  return query;
};
