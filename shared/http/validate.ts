import * as z from 'zod';
import { InvalidRequest } from './errors.ts';
import { plainReason } from './plain-reason.ts';
import { schemaAt } from './schema-at.ts';

const MAX_PARAM_CHARACTERS = 200;
const MAX_KEYS_CHARACTERS = 200;

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  );

const isAbsent = (value: unknown, path: readonly PropertyKey[]): boolean =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part], value) === undefined;

const unknownKeys = (keys: readonly string[], object: unknown): string => {
  const allowed = object instanceof z.ZodObject ? `. Allowed: ${Object.keys(object.shape).join(', ')}` : '';
  return `these keys are not allowed: ${keys.join(', ').slice(0, MAX_KEYS_CHARACTERS)}${allowed}`;
};

const reasonOf = (issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): string => {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, schemaAt(schema, issue.path));
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  const message = plainReason(issue.message);
  const reason = message.replace(/, received undefined$/, '');
  const isMissing = reason !== message || (issue.path.length > 0 && issue.code !== 'custom' && isAbsent(value, issue.path));
  return isMissing ? `it is required; ${reason}` : reason;
};

/** Returns the parsed value. @throws InvalidRequest naming the first invalid field and what was expected */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues as [z.core.$ZodIssue];
  const param = pathOf(issue.path).slice(0, MAX_PARAM_CHARACTERS);
  const reason = reasonOf(issue, schema, value);
  const message = param ? `Invalid value for '${param}': ${reason}.` : `Invalid request body: ${reason}.`;
  throw new InvalidRequest({ message, param: param || null });
};
