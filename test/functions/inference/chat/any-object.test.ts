import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { anyObject } from '../../../../functions/inference/chat/any-object.ts';
import { validate } from '../../../../shared/http/validate.ts';

const record = z.object({
  a: z.record(z.string(), z.unknown()),
  b: z.union([z.string(), z.record(z.string(), z.unknown())], 'text or object'),
});
const plain = z.object({ a: anyObject(), b: z.union([z.string(), anyObject()], 'text or object') });
const resultOf = (schema: z.ZodType, value: unknown): unknown => {
  try {
    return validate(schema, value);
  } catch (error) {
    return (error as Error).message;
  }
};

describe('anyObject', () => {
  test.each([
    [{ a: { x: 1 }, b: {} }],
    [{ a: {}, b: 'x' }],
    [{ b: {} }],
    [{ a: 5, b: {} }],
    [{ a: [1], b: {} }],
    [{ a: null, b: {} }],
    [{ a: {}, b: 5 }],
    [{ a: {} }],
  ])('accepts and rejects like zod’s record: %j', (value) => {
    expect(resultOf(plain, value)).toEqual(resultOf(record, value));
  });

  test('passes the object on unchanged', () => {
    const own = { x: { y: [1] } };
    expect(anyObject().parse(own)).toBe(own);
    expect(anyObject('expected so').safeParse(5).error?.issues[0]?.message).toBe('expected so');
    expect(z.toJSONSchema(anyObject(), { io: 'input' })).toMatchObject({ type: 'object' });
  });
});
