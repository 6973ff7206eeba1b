import * as z from 'zod';
import { InvalidRequest, InvalidValue } from './errors.ts';
import { validate } from './validate.ts';

const MAX_NAME_CHARACTERS = 60;
const MAX_NAMES = 8;

// A caller chose the name.
const shownName = (name: string): string => name.slice(0, MAX_NAME_CHARACTERS);

const expectedNames = (names: readonly string[]): string => {
  if (names.length === 0) return 'this path takes none, so it must be left out';
  if (names.length > MAX_NAMES) return 'GET /openapi.json lists those that are expected';
  return `expected ${names.length > 1 ? 'one of ' : ''}${names.map((name) => `'${name}'`).join(', ')}`;
};

/**
 * Returns the parsed query parameters of a request.
 * @throws InvalidRequest naming the parameter that is unknown or has the wrong value, and what was expected
 */
export const validateQuery = <Schema extends z.ZodObject>(schema: Schema, query: Readonly<Record<string, unknown>>): z.output<Schema> => {
  const names = Object.keys(schema.shape);
  const unknown = Object.keys(query).find((name) => !names.includes(name));
  if (unknown === undefined) return validate(schema, query);
  const param = shownName(unknown);
  throw new InvalidRequest({ message: `Unknown query parameter '${param}': ${expectedNames(names)}.`, param });
};

const NO_QUERY = z.strictObject({});

/** Refuses any query parameter, on a path that takes none. @throws InvalidRequest naming it */
export const refuseQuery = (query: Readonly<Record<string, unknown>> | null | undefined): void => {
  validateQuery(NO_QUERY, query ?? {});
};

/**
 * Refuses a query parameter that was sent more than once: which of its values counts must not depend on their order.
 * @param names the parameters to check; default: all
 * @throws InvalidValue naming it
 */
export const refuseRepeated = (
  values: Readonly<Record<string, readonly string[] | undefined>>,
  names: readonly string[] = Object.keys(values),
): void => {
  const repeated = names.find((name) => (values[name]?.length ?? 0) > 1);
  if (repeated !== undefined) throw new InvalidValue(shownName(repeated), 'expected it once');
};
