import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import type { Json } from '../../../../../infra/local/model-server/constrained/json-schema.ts';
import { smallestInstance } from '../../../../../infra/local/model-server/constrained/smallest-instance.ts';

describe('the smallest instance', () => {
  test.each<[Json, Json]>([
    [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] }, { a: '' }],
    [
      { properties: { a: true }, required: ['a', 'b'] },
      { a: null, b: null },
    ],
    [{ type: 'object', properties: { a: { type: 'string' } }, minProperties: 1 }, { a: '' }],
    [{ enum: ['x', 'y'] }, 'x'],
    [{ type: 'integer', enum: ['x', 3] }, 3],
    [{ const: { a: [1] } }, { a: [1] }],
    [{ type: 'string', minLength: 3 }, 'aaa'],
    [{ type: 'string', default: 'red' }, 'red'],
    [{ type: 'string', default: 5, examples: ['blue', 'red'] }, 'blue'],
    [{ type: 'string', maxLength: 2, default: 'red' }, ''],
    [{ type: 'string', format: 'date-time' }, '2000-01-01T00:00:00Z'],
    [{ type: 'string', pattern: '^[a-z]+-\\d$', examples: ['ab-1'] }, 'ab-1'],
    [{ type: 'integer', minimum: 2 }, 2],
    [{ type: 'integer', minimum: 2.5 }, 3],
    [{ type: 'integer', exclusiveMaximum: -3 }, -4],
    [{ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1.5 }, 1.25],
    [{ type: 'integer', minimum: 10, multipleOf: 7 }, 14],
    [{ type: ['string', 'null'] }, ''],
    [{ type: 'boolean' }, false],
    [{ type: 'null' }, null],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [0, 0]],
    [{ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' }, minItems: 2 }, ['', null]],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 0],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }] }, ''],
    [
      {
        allOf: [
          { type: 'integer', minimum: 1 },
          { type: 'number', minimum: 5 },
        ],
      },
      5,
    ],
    [
      {
        allOf: [{ $ref: '#/$defs/a' }, { properties: { b: { const: 1 } }, required: ['b'] }],
        $defs: { a: { type: 'object', required: ['a'] } },
      },
      { a: null, b: 1 },
    ],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'string', minLength: 1 } } }, 'a'],
    [{ $ref: '#/$defs/word', description: 'a word', default: 'x', $defs: { word: { type: 'string' } } }, 'x'],
    [true, null],
  ])('matches the schema %j with %j', (schema, instance) => {
    expect(smallestInstance(schema)).toEqual(instance);
  });

  test('ends at once for a recursive list', () => {
    const list = { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] } }, required: ['next'] };
    expect(smallestInstance({ $ref: '#/$defs/list', $defs: { list } })).toEqual({ next: null });
    expect(smallestInstance({ properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }, required: ['next'] })).toEqual({
      next: null,
    });
  });

  test.each<[Json, string]>([
    [{ not: {} }, "the keyword 'not' is not supported."],
    [{ type: 'object', patternProperties: {} }, "the keyword 'patternProperties' is not supported."],
    [{ type: 'string', pattern: '^a+$' }, "the keyword 'pattern' is not supported without a default or an example."],
    [{ $ref: 'https://example.com/a.json' }, "the $ref 'https://example.com/a.json' points outside the schema."],
    [{ $ref: '#/$defs/none' }, "the $ref '#/$defs/none' points to a schema that does not exist."],
    [{ $ref: '#' }, "the $ref '#' is infinitely recursive."],
    [{ properties: { a: { $ref: '#' } }, required: ['a'] }, "the $ref '#' is infinitely recursive."],
    [{ allOf: [{ type: 'string' }, { type: 'object' }] }, "the schemas in 'allOf' have conflicting values for 'type'."],
    [{ type: 'number', minimum: 2, maximum: 1 }, 'no number fits its bounds.'],
    [{ type: 'date' }, 'the type "date" does not exist.'],
    [{ type: 'string', minLength: 1e9 }, "the keyword 'minLength' must be at most 4096."],
    [{ type: 'array', minItems: 2, uniqueItems: true }, 'no value was found that fits {"type":"array","minItems":2,"uniqueItems":true}.'],
    [{ enum: [] }, 'no value of its const or enum fits its other keywords.'],
    [false, 'no value fits the schema false.'],
  ])('rejects the schema %j with a reason', (schema, problem) => {
    expect(() => smallestInstance(schema)).toThrow(
      expect.objectContaining({ status: 400, message: `The JSON schema can't be used: ${problem}` }),
    );
  });

  test('is rejected for an exponentially growing schema', () => {
    const pair = (name: string) => ({
      type: 'array',
      prefixItems: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }],
      minItems: 2,
    });
    const names = Array.from({ length: 40 }, (_, i) => `s${i}`);
    const $defs = { ...Object.fromEntries(names.map((name, i) => [name, pair(`s${i + 1}`)])), s40: { type: 'null' } };
    expect(() => smallestInstance({ $ref: '#/$defs/s0', $defs })).toThrow('expands to more than 20000 subschemas');
  });

  test('fits its schema according to zod', () => {
    const text = fc.record({ type: fc.constant('string'), minLength: fc.nat(5) });
    const number = fc
      .record({ type: fc.constantFrom('number', 'integer'), minimum: fc.integer({ min: -50, max: 50 }), span: fc.nat(9) })
      .map(({ span, ...schema }) => ({ ...schema, maximum: schema.minimum + span }));
    const plain = fc.constantFrom<Json>({ type: 'boolean' }, { type: 'null' }, { enum: ['a', 1] }, { const: 'x' });
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', maxDepth: 4 },
        text,
        number,
        plain,
        fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2) }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc
          .dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'))
          .chain((properties) =>
            fc
              .subarray(Object.keys(properties))
              .map((required): Json => ({ type: 'object', properties, required, additionalProperties: false })),
          ),
      ) as fc.Arbitrary<Json>,
    }));
    fc.assert(
      fc.property(schema, (one) => {
        const validator = z.fromJSONSchema(one as Parameters<typeof z.fromJSONSchema>[0]);
        expect(validator.safeParse(smallestInstance(one)).error).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
