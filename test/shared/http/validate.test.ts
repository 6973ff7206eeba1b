import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { validate } from '../../../shared/http/validate.ts';

const Body = z.looseObject({ name: z.string().min(1).max(9), names: z.array(z.string()).max(2).optional() });

describe('an object with a key toString', () => {
  const hostile = { toString: 1 };

  test.each([{ name: { length: hostile } }, { name: 'a', names: { length: hostile } }])('is a 400 in place of a length: %j', (body) => {
    expect(() => validate(Body, body)).toThrow(expect.objectContaining({ status: 400, param: null }));
  });

  test.each([{ name: hostile }, { name: 'a', names: hostile }])('is named like any wrong value where it has no length: %j', (body) => {
    expect(() => validate(Body, body)).toThrow(/^Invalid value for 'names?': expected an? (?:string|array), received an object/);
  });

  test('is accepted where any value is', () => {
    expect(validate(Body, { name: 'a', more: hostile })).toEqual({ name: 'a', more: hostile });
  });
});

test('leaves an error of a schema itself as it is', () => {
  const broken = z.unknown().refine(() => {
    throw new TypeError('x is not a function');
  });
  expect(() => validate(broken, 1)).toThrow(TypeError);
});
