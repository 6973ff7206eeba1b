import { describe, expect, test } from '@jest/globals';
import { compileLogPattern } from '../../../infra/assembly/log-pattern.ts';

describe('a filter pattern of JSON lines', () => {
  const matches = compileLogPattern('{ $.message = "refused" }', 'the test');

  test('matches lines whose property has the text', () => {
    expect(matches('{"message":"refused","level":"INFO"}')).toBe(true);
    for (const line of ['{"message":"refused again"}', '{"level":"refused"}', '{}', 'null', '"refused"', 'refused', '{"message":"refused"'])
      expect([line, matches(line)]).toEqual([line, false]);
  });

  test.each(['refused', '{ $.message = "ref*" }', '{ $.message = %a% }', '{ $.status = 429 }', '{ ($.a = "b") && ($.c = "d") }'])(
    'is rejected if it is not supported: %s',
    (pattern) => {
      expect(() => compileLogPattern(pattern, 'Filter in stack test')).toThrow(`not ${pattern} (Filter in stack test)`);
    },
  );
});
