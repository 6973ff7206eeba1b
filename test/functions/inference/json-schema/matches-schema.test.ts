import { describe, expect, test } from '@jest/globals';
import Ajv2020 from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { matchesSchema } from '../../../../functions/inference/json-schema/matches-schema.ts';
import { sized } from '../../../support/sized.ts';

const POINT = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false };

describe('a value', () => {
  test.each<[what: string, schema: unknown, value: unknown, expected: boolean]>([
    ['a required property', POINT, { x: 1 }, true],
    ['no required property', POINT, {}, false],
    ['a property that is not allowed', POINT, { x: 1, y: 2 }, false],
    ['another type', POINT, { x: '1' }, false],
    ['a reference', { $ref: '#/$defs/point', $defs: { point: POINT } }, { x: 1 }, true],
    ['a reference that it does not match', { properties: { p: { $ref: '#/$defs/point' } }, $defs: { point: POINT } }, { p: {} }, false],
    ['one of two schemas', { anyOf: [{ type: 'string' }, POINT] }, { x: 1 }, true],
    ['both of oneOf', { oneOf: [{ type: 'object' }, POINT] }, { x: 1 }, false],
    ['a value of an enum', { enum: ['a', { b: 1 }] }, { b: 1 }, true],
    ['no value of an enum', { enum: ['a'] }, 'b', false],
    ['a null where it is allowed', { type: ['string', 'null'] }, null, true],
    ['too many items', { type: 'array', items: { type: 'integer' }, maxItems: 1 }, [1, 2], false],
    ['a wrong item', { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, ['a', 1, 'b'], false],
    ['a decimal multiple', { multipleOf: 0.1 }, 0.3, true],
    ['a name like a method', { required: ['toString'] }, {}, false],
    ['a pattern, which is not checked', { pattern: '^(a+)+$' }, `${'a'.repeat(100)}!`, true],
  ])('is checked with %s', (_, schema, value, expected) => {
    expect(matchesSchema(schema, value)).toBe(expected);
  });
});

test('stops after a number of steps', () => {
  const schema = { items: { anyOf: [{ type: 'string' }, { type: 'boolean' }, { type: 'integer' }] } };
  expect(matchesSchema(schema, new Array(1_000).fill(1))).toBe(true);
  expect(matchesSchema(schema, new Array(100_000).fill(1))).toBeUndefined();
});

const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'integer', 'boolean', 'null', 'number') }),
  fc.record({ enum: fc.array(fc.oneof(fc.constantFrom('a', 'b'), fc.nat(3)), { minLength: 1, maxLength: 2 }) }),
  fc.record({ minimum: fc.nat(2), exclusiveMaximum: fc.nat(3) }),
  fc.record({ minLength: fc.nat(1), maxLength: fc.nat(2) }),
  fc.boolean(),
);
const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        additionalProperties: tie('schema'),
      },
      { requiredKeys: [] },
    ),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(1), maxItems: fc.nat(2) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
  ),
}));
const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(0, 1, 2, 2.5, 'a', 'b', 'abc', '', true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
})).value;

test('agrees with another validator on random schemas and values', () => {
  const ajv = new Ajv2020.default({ strict: false, addUsedSchema: false });
  fc.assert(
    fc.property(anySchema, anyValue, (schema, value) => {
      expect(matchesSchema(schema, value)).toBe(ajv.validate(schema as object, value));
    }),
    { numRuns: sized(500, 5_000) },
  );
});
