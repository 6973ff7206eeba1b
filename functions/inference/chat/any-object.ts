import * as z from 'zod';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A schema for any object, without a copy: zod's record would copy each of perhaps a hundred thousand keys.
 * @param message the error for other values; absent: zod's own
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
