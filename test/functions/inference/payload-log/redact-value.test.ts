import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redactValue } from '../../../../functions/inference/payload-log/redact-value.ts';
import { PATTERNS, type RedactionRules } from '../../../../shared/payload-log/settings.ts';

const RULES: RedactionRules = { patterns: [...PATTERNS], paths: [], tool_arguments: 'redact' };
const PLENTY = 1_000_000;
const redact = (value: unknown, rules: Partial<RedactionRules> = {}, bytes = PLENTY) => redactValue(value, { ...RULES, ...rules }, bytes);

describe('what models pass to tools, and what tools return,', () => {
  const chat = {
    messages: [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bonn"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain' },
    ],
  };
  const items = [
    { type: 'function_call', name: 'weather', arguments: '{}' },
    { type: 'function_call_output', output: 'Rain' },
  ];

  test('is left out by default', () => {
    const { value, counts } = redact({ ...chat, input: items });
    expect(value).toEqual({
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '[redacted:tool]' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '[redacted:tool]' },
      ],
      input: [
        { type: 'function_call', name: 'weather', arguments: '[redacted:tool]' },
        { type: 'function_call_output', output: '[redacted:tool]' },
      ],
    });
    expect(counts).toEqual({ tool: 4 });
  });

  test('is kept if the owner says so, and searched for patterns', () => {
    const { value } = redact([...items, { role: 'tool', content: 'a@b.example' }], { tool_arguments: 'keep' });
    expect(value).toEqual([...items, { role: 'tool', content: '[redacted:email]' }]);
  });
});

test('replaces the values of paths, whatever they are', () => {
  const paths = ['$.messages[*].content', '$.metadata', "$['user']", '$.choices[0].message.content'];
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'x' }] }];
  const choices = [{ message: { content: 'first' } }, { message: { content: 'second' } }];
  expect(redact({ messages, metadata: { a: 'b' }, user: 'u', choices, n: 1 }, { paths }).value).toEqual({
    messages: [{ role: 'user', content: '[redacted:path]' }],
    metadata: '[redacted:path]',
    user: '[redacted:path]',
    choices: [{ message: { content: '[redacted:path]' } }, { message: { content: 'second' } }],
    n: 1,
  });
});

test('searches names and numbers, too', () => {
  expect(redact({ 'a@b.example': 4_111_111_111_111_111, 'c@d.example': 1_700_000_000, n: null }).value).toEqual({
    '[redacted:email]': '[redacted:credit_card]',
    '[redacted:email]#2': 1_700_000_000,
    n: null,
  });
});

test('leaves out what does not fit, and says so', () => {
  const { value, isTruncated } = redact({ text: 'word '.repeat(1_000), more: 1 }, {}, 200);
  expect(isTruncated).toBe(true);
  expect(String((value as { text: string }).text)).toMatch(/^(?:word )*word\s?\[cut\]$/);
  expect(redact({ text: 'short' }, {}, 200).isTruncated).toBe(false);
});

test('does not keep a part of a number that is cut off', () => {
  const text = `${'word '.repeat(30)}4111 1111 1111 1111 ${'word '.repeat(30)}`;
  for (let bytes = 100; bytes < 400; bytes++) expect(JSON.stringify(redact(text, {}, bytes).value)).not.toContain('4111');
});

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.array(
    fc.dictionary(
      fc.constantFrom('content', 'arguments', 'role', 'type', 'a@b.example', 'c@d.example', '__proto__', '0'),
      fc.oneof(fc.constantFrom('tool', 'function_call', '+4930901820', 'x y z', 4_111_111_111_111_111), fc.jsonValue({ maxDepth: 2 })),
    ),
  ),
);
const anyRules = fc.record({
  patterns: fc.subarray([...PATTERNS]),
  paths: fc.subarray(['$.a', '$[*].content', '$.*[*]', '$[0]', 'not a path']),
  tool_arguments: fc.constantFrom('redact' as const, 'keep' as const),
});

test('never throws, and returns JSON of the promised size that does not change if it is redacted again', () => {
  fc.assert(
    fc.property(anyJson, anyRules, fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constant(PLENTY)), (json, rules, bytes) => {
      const { value, isTruncated } = redactValue(json, rules, bytes);
      const text = JSON.stringify(value);
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
      // A cut can leave one mark, with a name, at each level.
      if (bytes > 0) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes + 200);
      if (!isTruncated) expect(JSON.stringify(redactValue(value, rules, PLENTY).value)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test('leaves out what is nested too deeply', () => {
  let nested: unknown = 'a@b.example';
  for (let depth = 0; depth < 100_000; depth++) nested = [nested];
  const text = JSON.stringify(redact(nested).value);
  expect(text).toContain('[redacted:depth]');
  expect(text).not.toContain('example');
});

test('gives many equal names different ones', () => {
  const object = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a${i}@b.example`, i]));
  expect(Object.keys(redact(object).value as object)).toHaveLength(20_000);
});
