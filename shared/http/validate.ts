import * as z from 'zod';
import { pathText, schemaAt, valueAt } from './at-path.ts';
import { InvalidRequest } from './errors.ts';
import { plainReason } from './plain-reason.ts';

const MAX_PARAM_CHARACTERS = 200;
const MAX_KEYS_CHARACTERS = 200;

const unknownKeys = (keys: readonly string[], object: unknown): string => {
  const allowed = object instanceof z.ZodObject ? `. Allowed: ${Object.keys(object.shape).join(', ')}` : '';
  return `these keys are not allowed: ${keys.join(', ').slice(0, MAX_KEYS_CHARACTERS)}${allowed}`;
};

const reasonOf = (issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): string => {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, schemaAt(schema, issue.path));
  if (issue.code === 'invalid_key') return plainReason(issue.issues[0]?.message ?? issue.message);
  const message = plainReason(issue.message);
  const reason = message.replace(/, received undefined$/, '');
  const isMissing = reason !== message || (issue.path.length > 0 && issue.code !== 'custom' && valueAt(value, issue.path) === undefined);
  return isMissing ? `it is required; ${reason}` : reason;
};

// Schemas compare the `length` of values of any type, and JavaScript can't compare an object that has a `toString` of
// its own.
const parse = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.ZodSafeParseResult<z.output<Schema>> => {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof TypeError && error.message.endsWith('primitive value'))) throw error;
    throw new InvalidRequest({ message: "Invalid request body: an object with the key 'toString' is where another value was expected." });
  }
};

// A whole number beyond 2^53 breaks the bound of all integers, which zod notes, before that of its field.
const firstOf = ([first, second]: readonly z.core.$ZodIssue[]): z.core.$ZodIssue =>
  (first && 'note' in first && second?.code === first.code && String(second.path) === String(first.path)
    ? second
    : first) as z.core.$ZodIssue;

/** Returns the parsed value. @throws InvalidRequest naming the first invalid field and what was expected */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const result = parse(schema, value);
  if (result.success) return result.data;
  const issue = firstOf(result.error.issues);
  const param = pathText(issue.path).slice(0, MAX_PARAM_CHARACTERS);
  const reason = reasonOf(issue, schema, value);
  const message = param ? `Invalid value for '${param}': ${reason}.` : `Invalid request body: ${reason}.`;
  throw new InvalidRequest({ message, param: param || null });
};
