import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redactValue } from '../../../../shared/payload-log/redaction/redact-value.ts';
import { PATTERNS, type RedactionRules } from '../../../../shared/payload-log/settings.ts';
import { sized } from '../../../support/sized.ts';

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

test('encoded text is left out, also where arguments of tools are kept', () => {
  const sealed = { type: 'reasoning', summary: [], encrypted_content: Buffer.from('a@b.example').toString('base64') };
  expect(redact([sealed], { tool_arguments: 'keep' }).value).toEqual([{ ...sealed, encrypted_content: '[redacted:tokens]' }]);
  expect(redact([{ ...sealed, encrypted_content: null }]).value).toEqual([{ ...sealed, encrypted_content: null }]);
});

test.each([
  [
    { type: 'custom', custom: { name: 'shell', input: 'ls' } },
    { type: 'custom', custom: { name: 'shell', input: '[redacted:tool]' } },
  ],
  [
    { type: 'tool_use', id: 't1', name: 'shell', input: { command: 'ls' } },
    { type: 'tool_use', id: 't1', name: 'shell', input: '[redacted:tool]' },
  ],
  [
    { type: 'tool_result', tool_use_id: 't1', content: 'files' },
    { type: 'tool_result', tool_use_id: 't1', content: '[redacted:tool]' },
  ],
  [
    { type: 'code_interpreter_call', id: 'c1', status: 'completed', code: 'x', outputs: [{ logs: 'y' }] },
    { type: 'code_interpreter_call', id: 'c1', status: 'completed', code: '[redacted:tool]', outputs: '[redacted:tool]' },
  ],
  [
    { type: 'apply_patch_call', call_id: 'c2', operation: { diff: 'x' } },
    { type: 'apply_patch_call', call_id: 'c2', operation: '[redacted:tool]' },
  ],
  [
    { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', namespace: 'n', input: 'x' },
    { type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', namespace: 'n', input: '[redacted:tool]' },
  ],
  [
    { type: 'tool_search_output', call_id: 'c4', execution: 'client', tools: [{ name: 'x' }] },
    { type: 'tool_search_output', call_id: 'c4', execution: '[redacted:tool]', tools: '[redacted:tool]' },
  ],
  [
    { type: 'server_tool_use', id: 't2', name: 'web_search', input: { query: 'x' } },
    { type: 'server_tool_use', id: 't2', name: 'web_search', input: '[redacted:tool]' },
  ],
  [
    { type: 'mcp_tool_use', id: 't3', server_name: 'x', input: { query: 'x' } },
    { type: 'mcp_tool_use', id: 't3', server_name: '[redacted:tool]', input: '[redacted:tool]' },
  ],
  [
    { type: 'web_search_tool_result', tool_use_id: 't2', content: [{ url: 'x' }] },
    { type: 'web_search_tool_result', tool_use_id: 't2', content: '[redacted:tool]' },
  ],
])('leaves out everything of a call but what identifies it: %j', (call, expected) => {
  expect(redact([call]).value).toEqual([expected]);
  expect(redact([call], { tool_arguments: 'keep' }).value).toEqual([call]);
});

test('leaves out what repeats a text token by token, in which no pattern is found', () => {
  const logprobs = { content: ['a', '@b', '.example'].map((token) => ({ token, bytes: [...Buffer.from(token)], top_logprobs: [] })) };
  const choice = { message: { content: 'a@b.example' }, logprobs, token_ids: [1, 2] };
  const reply = { choices: [choice], prompt_token_ids: [3], output: [{ content: [{ type: 'output_text', logprobs: [] }] }] };
  expect(redact(reply)).toMatchObject({
    value: {
      choices: [{ message: { content: '[redacted:email]' }, logprobs: '[redacted:tokens]', token_ids: '[redacted:tokens]' }],
      prompt_token_ids: '[redacted:tokens]',
      output: [{ content: [{ type: 'output_text', logprobs: [] }] }],
    },
    counts: { email: 1, tokens: 3 },
  });
  expect(redact({ prompt: [[1, 2], 'text'], logprobs: true, top_logprobs: 5 }).value).toEqual({
    prompt: '[redacted:tokens]',
    logprobs: true,
    top_logprobs: 5,
  });
  expect(redact({ prompt: ['one', 'two'] }).value).toEqual({ prompt: ['one', 'two'] });
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
    { numRuns: sized(300, 2_000) },
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
  const object = Object.fromEntries(Array.from({ length: 4_096 }, (_, i) => [`a${i}@b.example`, i]));
  expect(Object.keys(redact(object).value as object)).toHaveLength(4_096);
});
