import * as z from 'zod';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object of the caller's own, which is handed on as it came: zod's record would make a copy of it, key by key, of which it may have a hundred thousand.
 * @param message in place of zod's words for another value
 */
export const anyObject = (message?: string): z.ZodType<Record<string, unknown>> => {
  const schema = z
    .unknown()
    .check(({ value, issues }) => {
      if (!isObject(value)) issues.push({ code: 'invalid_type', expected: 'record', input: value, message, continue: false });
    })
    .meta({ type: 'object' });
  return schema as z.ZodType as z.ZodType<Record<string, unknown>>;
};
