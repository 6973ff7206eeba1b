import { describe, expect, test } from '@jest/globals';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { readJsonBody } from '../../../../shared/http/json/json-body.ts';

const event = (body: string | null, headers: Record<string, string> = {}, isBase64Encoded = false): ApiEvent =>
  ({ body, headers, isBase64Encoded }) as ApiEvent;
const base64 = (bytes: Uint8Array | string): ApiEvent => event(Buffer.from(bytes).toString('base64'), {}, true);

describe('an integer field that is read exactly', () => {
  const exactly = { fields: new Set<string>(), keys: new Set<string>(), integers: new Set(['seed']) };
  const seedOf = (body: string): unknown => (readJsonBody(event(body), exactly) as { seed?: unknown }).seed;

  test.each([
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['7', 7],
    ['1e300', 1e300],
    ['null', null],
    ['"9223372036854775807"', '9223372036854775807'],
  ])('has every digit of %s', (digits, value) => {
    expect(seedOf(`{"seed":${digits}}`)).toBe(value);
  });

  test('is the last of several at the top level, whatever is below', () => {
    expect(seedOf('{"a":{"seed":9007199254740993},"seed":9007199254740995,"b":[{"seed":9007199254740997}]}')).toBe(9_007_199_254_740_995n);
    expect(seedOf('{"seed":9007199254740993,"seed":9007199254740995}')).toBe(9_007_199_254_740_995n);
    expect(readJsonBody(event('{"a":{"seed":9007199254740993}}'), exactly)).toEqual({ a: { seed: 9_007_199_254_740_992 } });
    expect(readJsonBody(event('[1]'), exactly)).toEqual([1]);
  });
});

describe('a request body', () => {
  test.each([undefined, 'application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'is parsed with the content type %p',
    (type) => {
      expect(readJsonBody(event('{"a":1}', type ? { 'Content-Type': type } : {}))).toEqual({ a: 1 });
    },
  );

  test('can have the largest number, and digits within strings', () => {
    expect(readJsonBody(event('{"a":1.7976931348623157e308,"b":"1e400"}'))).toEqual({ a: Number.MAX_VALUE, b: '1e400' });
  });

  test('is parsed with the content encoding identity', () => {
    expect(readJsonBody(event('{"a":1}', { 'Content-Encoding': 'Identity' }))).toEqual({ a: 1 });
  });

  test('is decoded from base64', () => {
    expect(readJsonBody(base64('{"a":"é👋"}'))).toEqual({ a: 'é👋' });
  });

  test.each([
    ['empty', event(null), /empty/],
    ['form data', event('a=1', { 'content-type': 'application/x-www-form-urlencoded' }), /application\/json/],
    ['compressed', event('\u001f\ufffd', { 'content-encoding': 'gzip' }), /'gzip' is not supported\. Send the body uncompressed/],
    ['not JSON', event('{"a":'), /not valid JSON/],
    ['not UTF-8', base64(Uint8Array.of(0x7b, 0xff, 0x7d)), /UTF-8/],
    ['made of too many small values', event(`[${'{},'.repeat(150_000)}1]`), /250000 values/],
    ['made of too many small values with keys', event(`[${'{"a":1,"b":2},'.repeat(60_000)}1]`), /250000 values/],
    ['an object with too many keys', event(`{"a":{${[...Array(4_097).keys()].map((i) => `"k${i}":0`)}}}`), /4096 keys/],
    ['with a number that no double can hold', event('{"tools":[{"parameters":{"minimum":-1e400}}]}'), /beyond 1\.7e308/],
    ['nested too deeply', event('['.repeat(65) + ']'.repeat(65)), /64 levels/],
  ])('is a 400 if it is %s', (_, request, message) => {
    expect(() => readJsonBody(request)).toThrow(expect.objectContaining({ status: 400, message: expect.stringMatching(message) }));
  });

  test('can have many objects with many keys, and key syntax within strings', () => {
    const wide = Object.fromEntries([...Array(4_096).keys()].map((i) => [`k${i}`, ':,{'.repeat(9)]));
    const body = { a: [wide, { b: wide }, wide], c: ':'.repeat(300_000) };
    expect(readJsonBody(event(JSON.stringify(body)))).toEqual(body);
  });

  test('has no lone surrogates in values and keys', () => {
    const own = '{"__proto__":{"a":"\\ud83d"},"b":["\\udc4b"]}';
    expect(JSON.stringify(readJsonBody(event(own)))).toBe(own.replace(/\\ud.../g, '\ufffd'));
    expect(readJsonBody(event('{"a\\ud83d":["b\\udc4b",{"c":"\\ud83d\\udc4b"}]}'))).toEqual({ 'a\ufffd': ['b\ufffd', { c: '👋' }] });
  });

  test('does not count brackets within strings as nesting', () => {
    expect(readJsonBody(event(JSON.stringify({ a: '[{"'.repeat(100) })))).toEqual({ a: '[{"'.repeat(100) });
  });

  test('is never quoted in an error', () => {
    expect(() => readJsonBody(event('{"secret prompt": oops}'))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });
});

describe('numbers', () => {
  const opaque = { fields: new Set(['tools', 'messages']), keys: new Set(['parameters', 'arguments']) };
  const printed = (body: string): string => JSON.stringify(readJsonBody(event(body), opaque));

  test('keep their form in the parts that only a runtime reads', () => {
    const numbers = '[21.0,1e3,1E-7,-0,9007199254740993,-123456789012345678901234567890,1.50,0.5,7]';
    const body = `{"tools":[{"parameters":{"a":${numbers},"b":{"c":1.0}}}],"messages":[{"tool_calls":[{"arguments":{"d":2.0}}]}]}`;
    expect(printed(body)).toBe(body);
  });

  test('are numbers everywhere else', () => {
    const read = (body: string): unknown => readJsonBody(event(body), opaque);
    expect(read('{"temperature":1.0,"seed":1e3,"list":[2.0],"tools":[{"a":3.0,"parameters":{"b":1.0}}]}')).toMatchObject({
      temperature: 1,
      seed: 1_000,
      list: [2],
      tools: [{ a: 3 }],
    });
    expect(read('{"metadata":{"parameters":{"a":1.0}},"tools":{"parameters":2.0,"arguments":null}}')).toEqual({
      metadata: { parameters: { a: 1 } },
      tools: { parameters: 2, arguments: null },
    });
    expect(read('1.0')).toBe(1);
    expect(readJsonBody(event('{"tools":{"parameters":{"a":1.0}}}'))).toEqual({ tools: { parameters: { a: 1 } } });
  });

  test('need no second form if JavaScript prints them as they are written', () => {
    const body = '{"tools":{"parameters":{"a":[1,-5,0.25,123456789012345,"1.0",{"b":"1e3 \\" 2.0"}]}},"c":0.7}';
    expect(readJsonBody(event(body), opaque)).toEqual(JSON.parse(body));
  });

  test('keep their form next to lone surrogates', () => {
    expect(printed('{"tools":{"parameters":{"a":1.0,"b":"\\ud800"}}}')).toBe('{"tools":{"parameters":{"a":1.0,"b":"\ufffd"}}}');
  });
});
