import type * as z from 'zod';
import { InvalidRequest } from './errors.ts';

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  );

/** A value as the schema has it, or a 400 that names the first field at fault and says what was expected there. */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const param = pathOf(issue?.path ?? []);
  const reason = (issue?.message ?? 'not as documented').replace(/^Invalid (?:input|option): /, '');
  const message = param ? `Invalid value for '${param}': ${reason}.` : `Invalid request body: ${reason}.`;
  throw new InvalidRequest({ message, param: param || null });
};
