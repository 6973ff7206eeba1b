import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { ignoringUnknown } from '../../../shared/database/ignoring-unknown.ts';

const Inner = z
  .strictObject({ low: z.int(), high: z.int().default(9) })
  .refine(({ low, high }) => low <= high, 'expected low to be at most high');

describe('a schema that ignores unknown attributes', () => {
  test.each([
    ['objects', z.strictObject({ inner: Inner })],
    ['optional and default ones', z.strictObject({ inner: Inner.nullable().optional().default({ low: 1, high: 2 }) })],
    ['unions', z.object({ inner: z.union([z.string(), Inner]) })],
    ['transformed ones', z.object({ inner: Inner.transform((value) => value) })],
  ])('reads %s', (_, schema) => {
    const stored = { inner: { low: 1, high: 2, later: 'x' }, later: { y: 1 } };
    expect(schema.safeParse(stored).success).toBe(false);
    expect(ignoringUnknown(schema).parse(stored)).toEqual({ inner: { low: 1, high: 2 } });
  });

  test('reads lists, tuples, records and discriminated unions', () => {
    const Kinds = z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a') }), z.strictObject({ kind: z.literal('b') })]);
    const schema = z.object({
      list: z.array(Inner).max(1),
      pair: z.tuple([Inner], Inner),
      named: z.record(z.string(), Inner),
      kind: Kinds,
    });
    const inner = { low: 1, high: 2, later: 'x' };
    const read = { low: 1, high: 2 };
    expect(
      ignoringUnknown(schema).parse({ list: [inner], pair: [inner, inner], named: { a: inner }, kind: { kind: 'b', later: 1 } }),
    ).toEqual({
      list: [read],
      pair: [read, read],
      named: { a: read },
      kind: { kind: 'b' },
    });
    expect(ignoringUnknown(schema).safeParse({ list: [inner, inner], pair: [inner], named: {}, kind: { kind: 'a' } }).success).toBe(false);
  });

  test('keeps defaults, conditions and loose objects, and leaves the strict schema as it is', () => {
    const schema = z.object({ inner: Inner, any: z.looseObject({}) });
    const read = ignoringUnknown(schema);
    expect(read.parse({ inner: { low: 3, later: 1 }, any: { x: 1 } })).toEqual({ inner: { low: 3, high: 9 }, any: { x: 1 } });
    expect(read.safeParse({ inner: { low: 10 }, any: {} }).success).toBe(false);
    expect(schema.safeParse({ inner: { low: 3, later: 1 }, any: {} }).success).toBe(false);
  });
});
