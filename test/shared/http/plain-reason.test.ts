import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { plainReason } from '../../../shared/http/plain-reason.ts';

const reasonOf = (schema: z.ZodType, value: unknown): string => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) throw new Error('The value is valid.');
  return plainReason(issue.message);
};

describe('a reason', () => {
  test.each([
    ['a text', z.string(), 5, 'expected a string, received a number'],
    ['a number', z.number(), '5', 'expected a number, received a string'],
    ['a whole number', z.int(), 1.5, 'expected an integer'],
    ['a number instead of what is none', z.coerce.number(), 'x', 'expected a number'],
    ['a switch', z.boolean(), null, 'expected a boolean, received null'],
    ['a list', z.array(z.string()), {}, 'expected an array, received an object'],
    ['a list of fixed places', z.tuple([z.string()]), 'x', 'expected an array, received a string'],
    ['an object', z.object({}), [], 'expected an object, received an array'],
    ['a map', z.record(z.string(), z.string()), 'x', 'expected an object, received a string'],
    ['the most', z.int().max(16), 200, 'expected at most 16'],
    ['the least', z.int().min(1), 0, 'expected at least 1'],
    ['an excluded least', z.number().gt(0), 0, 'expected more than 0'],
    ['an excluded most', z.number().lt(1), 1, 'expected less than 1'],
    ['the most characters', z.string().max(100), 'x'.repeat(101), 'expected at most 100 characters'],
    ['one character', z.string().min(1), '', 'expected at least 1 character'],
    ['the most items', z.array(z.int()).max(2), [1, 2, 3], 'expected at most 2 items'],
    ['one of several values', z.enum(['low', 'high']), 'x', 'expected one of "low", "high"'],
    ['one value', z.literal('text'), 'x', 'expected "text"'],
    ['an address', z.email(), 'x', 'expected a valid email address'],
    ['a day', z.iso.date(), 'x', 'expected a valid ISO date'],
    ['a divisor', z.int().multipleOf(5), 4, 'must be a multiple of 5'],
    ['a message of its own', z.string({ error: 'expected a JSON string or an object' }), 5, 'expected a JSON string or an object'],
  ])('names %s', (_, schema, value, expected) => {
    expect(reasonOf(schema, value)).toBe(expected);
  });
});
