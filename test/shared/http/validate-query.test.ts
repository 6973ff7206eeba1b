import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { refuseQuery, validateQuery } from '../../../shared/http/validate-query.ts';

const ListQuery = z.strictObject({ limit: z.coerce.number().int().max(100).optional(), after: z.string().optional() });

const refusalOf = (refused: () => unknown): { status: number; message: string; param: string | null } => {
  try {
    refused();
  } catch (error) {
    return error as ReturnType<typeof refusalOf>;
  }
  throw new Error('It was accepted.');
};

describe('validateQuery', () => {
  test('returns the parsed parameters', () => {
    expect(validateQuery(ListQuery, { limit: '20' })).toEqual({ limit: 20 });
  });

  test('names an unknown parameter and those that are expected', () => {
    expect(refusalOf(() => validateQuery(ListQuery, { limit: '20', befor: 'x' }))).toMatchObject({
      status: 400,
      message: "Unknown query parameter 'befor': expected one of 'limit', 'after'.",
      param: 'befor',
    });
  });

  test('names the parameter with a wrong value', () => {
    expect(refusalOf(() => validateQuery(ListQuery, { limit: '200' }))).toMatchObject({ status: 400, param: 'limit' });
  });

  test('leads to the reference if a path takes many, and bounds what it repeats', () => {
    const many = z.strictObject(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`name${i}`, z.string().optional()])));
    const { message } = refusalOf(() => validateQuery(many, { ['x'.repeat(5_000)]: '1' }));
    expect(message).toContain('GET /openapi.json');
    expect(message.length).toBeLessThan(240);
  });
});

describe('refuseQuery', () => {
  test('accepts none, and refuses any', () => {
    refuseQuery(null);
    refuseQuery({});
    expect(refusalOf(() => refuseQuery({ limit: '1' })).message).toBe(
      "Unknown query parameter 'limit': this path takes none, so it must be left out.",
    );
  });
});
