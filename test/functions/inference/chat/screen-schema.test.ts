import { describe, expect, test } from '@jest/globals';
import { screenSchema } from '../../../../functions/inference/chat/screen-schema.ts';

const PLACE = 'response_format.json_schema.schema';

const screen = (schema: unknown, isStrict = true): void => screenSchema(schema, PLACE, isStrict);
const refusal = (schema: unknown, isStrict = true): { param: string; message: string; status: number; code: string } => {
  try {
    screen(schema, isStrict);
  } catch (error) {
    return error as ReturnType<typeof refusal>;
  }
  throw new Error('The schema was accepted.');
};

const objectOf = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const withA = (a: unknown) => objectOf({ a });
const nested = (levels: number): unknown => (levels === 1 ? { type: 'string' } : withA(nested(levels - 1)));

describe('screenSchema', () => {
  test.each<[string, unknown]>([
    ['an object as OpenAI’s helpers write it', objectOf({ a: { type: 'string' } }, { required: ['a'], additionalProperties: false })],
    ['what zod adds', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...withA({ type: 'integer', maximum: 2 ** 53 }) }],
    ['definitions and references', { ...withA({ $ref: '#/$defs/B' }), $defs: { B: withA({ $ref: '#/$defs/C' }), C: { type: 'null' } } }],
    [
      'a reference to a definition at two places',
      { ...objectOf({ a: { $ref: '#/$defs/B' }, b: { $ref: '#/$defs/B' } }), $defs: { B: true } },
    ],
    ['a root of a reference', { $ref: '#/definitions/A', definitions: { A: withA(true) } }],
    ['a root of alternatives', { anyOf: [withA(true), { $ref: '#/$defs/B' }], $defs: { B: { allOf: [{ type: 'object' }] } } }],
    ['escaped names in references', { ...withA({ $ref: '#/$defs/b~1c~0%20d' }), $defs: { 'b/c~ d': { type: 'string' } } }],
    ['a property with the name of a keyword', objectOf({ multipleOf: { type: 'string' }, not: { type: 'null' } })],
    ['data that looks like a schema', withA({ enum: [{ multipleOf: 2 }], default: { not: {} }, const: { $ref: 'x' } })],
    ['several types', withA({ type: ['string', 'null'], maxLength: 3 })],
    ['a format that xgrammar has', withA({ type: 'string', format: 'date-time' })],
    ['a format of a number', withA({ type: 'integer', format: 'int32' })],
    ['a pattern', withA({ type: 'string', pattern: '^a$' })],
    ['bounds', withA({ type: 'array', items: { type: 'number', minimum: 1 }, minItems: 1, maxItems: 2 })],
    ['one pattern of names', withA({ type: 'object', patternProperties: { '^a': { type: 'string' } }, additionalProperties: false })],
    ['names of properties', withA({ type: 'object', propertyNames: { pattern: '^a' }, additionalProperties: false })],
    ['32 levels', nested(32)],
  ])('accepts %s', (_, schema) => {
    expect(() => screen(schema)).not.toThrow();
  });

  test.each<[string, unknown, string]>([
    ['.properties.a.multipleOf', withA({ type: 'number', multipleOf: 2 }), 'leave it out'],
    ['.properties.a.uniqueItems', withA({ type: 'array', uniqueItems: true }), 'leave it out'],
    ['.properties.a.contains', withA({ type: 'array', contains: {} }), 'leave it out'],
    ['.properties.a.minContains', withA({ minContains: 1 }), 'leave it out'],
    ['.properties.a.maxContains', withA({ maxContains: 1 }), 'leave it out'],
    ['.properties.a.format', withA({ type: 'string', format: 'phone' }), 'date-time'],
    ['.properties.a.format', withA({ type: ['string', 'null'], format: 'regex' }), 'date-time'],
    ['.properties.a.minLength', withA({ type: 'string', pattern: 'a', minLength: 1 }), "'pattern'"],
    ['.properties.a.maxLength', withA({ type: 'string', format: 'uuid', maxLength: 9 }), "'format'"],
    ['.propertyNames', objectOf({ a: true }, { propertyNames: {} }), "'properties'"],
    ['.propertyNames', { type: 'object', propertyNames: {}, patternProperties: {} }, "'patternProperties'"],
    ['.propertyNames', { type: 'object', propertyNames: {}, additionalProperties: { type: 'string' } }, "'additionalProperties'"],
    ['.propertyNames', { type: 'object', propertyNames: {}, unevaluatedProperties: false }, "'unevaluatedProperties'"],
    ['.patternProperties', { type: 'object', patternProperties: { a: true, b: true } }, 'only one pattern'],
    ['.patternProperties', objectOf({ a: true }, { patternProperties: { b: true } }), "'properties'"],
    ...['if', 'then', 'else'].map((keyword): [string, unknown, string] => [
      `.${keyword}`,
      { type: 'object', [keyword]: {} },
      'leave it out',
    ]),
    ['.not', { type: 'object', not: {} }, 'leave it out'],
    ['.dependentSchemas', { type: 'object', dependentSchemas: {} }, 'leave it out'],
    ['.dependentRequired', { type: 'object', dependentRequired: {} }, 'leave it out'],
  ])('refuses what the grammar of vLLM can’t express, and only for its dialects: %s %j', (place, schema, words) => {
    const { param, message, status, code } = refusal(schema);
    expect({ param, status, code }).toEqual({ param: PLACE + place, status: 400, code: 'invalid_json_schema' });
    expect(message).toContain(`'${PLACE}${place}': `);
    expect(message).toContain(words);
    expect(() => screen(schema, false)).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['.items', { type: 'array', items: { not: {} } }],
    ['.items[1]', { items: [{}, { not: {} }] }],
    ['.prefixItems[1]', { prefixItems: [{}, { not: {} }] }],
    ['.additionalProperties', { type: 'object', additionalProperties: { not: {} } }],
    ['.anyOf[1]', { anyOf: [{}, { not: {} }] }],
    ['.oneOf[0]', { oneOf: [{ not: {} }] }],
    ['.allOf[0].properties.b', { allOf: [objectOf({ b: { not: {} } })] }],
    ['.patternProperties.^b', { patternProperties: { '^b': { not: {} } } }],
    ['.unevaluatedItems', { unevaluatedItems: { not: {} } }],
  ])('names the place of a keyword inside: %s', (place, schema) => {
    expect(refusal(withA(schema)).param).toBe(`${PLACE}.properties.a${place}.not`);
  });

  test('names the place of a keyword in a definition, used or not', () => {
    const $defs = { B: withA({ not: {} }) };
    const { param } = refusal({ ...withA({ $ref: '#/$defs/B' }), $defs });
    expect(param).toBe(`${PLACE}.$defs.B.properties.a.not`);
    expect(refusal({ type: 'object', $defs }).param).toBe(param);
  });

  test.each<[string, unknown, string]>([
    ['', { type: 'string' }, "type: 'object'"],
    ['', { type: ['object', 'null'] }, "type: 'object'"],
    ['', {}, "type: 'object'"],
    ['', { anyOf: [withA(true), { type: 'null' }] }, "type: 'object'"],
    ['', { $ref: '#/$defs/B', $defs: { B: { type: 'array' } } }, "type: 'object'"],
    ['.properties.a', withA(5), 'an object, true or false'],
    ['.properties.a.type', withA({ type: 'text' }), 'a type of JSON Schema'],
    ['.properties.a.type', withA({ type: ['string', 'none'] }), 'a type of JSON Schema'],
    ['.properties', { type: 'object', properties: [] }, 'an object of schemas'],
    ['.patternProperties', { type: 'object', patternProperties: null }, 'an object of schemas'],
    ['.anyOf', { type: 'object', anyOf: {} }, 'an array of schemas'],
    ['.properties.a.$dynamicRef', withA({ $dynamicRef: '#a' }), '$ref instead'],
    ['.properties.a.$ref', withA({ $ref: 'https://example.com/schema.json' }), 'within this schema'],
    ['.properties.a.$ref', withA({ $ref: '#a' }), 'within this schema'],
    ['.properties.a.$ref', withA({ $ref: 5 }), 'within this schema'],
    ['.properties.a.$ref', withA({ $ref: '#/$defs/B' }), 'that exists'],
    ['.properties.a.$ref', withA({ $ref: '#/toString' }), 'that exists'],
    ['.properties.a.$ref', withA({ $ref: '#' }), 'that contains it'],
    ['.$defs.B.anyOf[0].$ref', { ...withA({ $ref: '#/$defs/B' }), $defs: { B: { anyOf: [{ $ref: '#/$defs/B' }] } } }, 'that contains it'],
    ['.properties.b', objectOf({ a: true, b: Object.fromEntries([['x', 'y'.repeat(2 ** 16)]]) }), 'bytes'],
  ])('refuses for every runtime: %s %#', (place, schema, words) => {
    for (const isStrict of [true, false]) {
      const { param, message } = refusal(schema, isStrict);
      expect(param).toBe(words === 'bytes' ? PLACE : PLACE + place);
      expect(message).toContain(words);
    }
  });

  test('refuses more than 32 levels, references included', () => {
    expect(refusal(nested(33)).param).toBe((PLACE + '.properties.a'.repeat(32)).slice(0, 200));
    const chain = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]));
    expect(refusal({ ...withA({ $ref: '#/$defs/d0' }), $defs: { ...chain, d40: {} } }).message).toContain('32 levels');
    // From its end, each definition is known when the next one refers to it.
    const $defs = { d40: {}, ...Object.fromEntries(Object.entries(chain).toReversed()) };
    expect(refusal({ type: 'object', $defs }).message).toContain('32 levels');
  });

  test('refuses more than 5,000 properties at all places together', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, true]));
    expect(() => screen(objectOf({ ...many(2_499), b: objectOf(many(2_500)) }))).not.toThrow();
    expect(refusal(objectOf({ ...many(2_500), b: objectOf(many(2_500)) })).message).toContain('5000 properties');
  });

  test('takes no longer for references that fan out at each level', () => {
    const levels = Array.from({ length: 15 }, (_, i) => [`d${i}`, { anyOf: Array(9).fill({ $ref: `#/$defs/d${i + 1}` }) }]);
    const $defs = { ...Object.fromEntries(levels), d15: { type: 'object' } };
    expect(() => screen({ $ref: '#/$defs/d0', $defs })).not.toThrow();
  });

  test('names the first 200 characters of a place', () => {
    const { param, message } = refusal(objectOf({ ['x'.repeat(500)]: { not: {} } }));
    expect(param).toHaveLength(200);
    expect(message).toContain(`'${param}': not supported`);
  });
});
