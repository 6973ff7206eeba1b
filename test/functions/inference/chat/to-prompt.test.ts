import { describe, expect, test } from '@jest/globals';
import { toChatPrompt } from '../../../../functions/inference/chat/to-prompt.ts';
import { hi, model, read } from './requests.ts';

describe('messages', () => {
  const messages = (list: object[], more: object = {}): unknown[] => toChatPrompt(read({ messages: list, ...more }), model()).messages;
  const made = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };

  test('are sent as chat templates expect: roles, text, calls with ids and JSON text', () => {
    expect(
      messages([
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Be' },
            { type: 'text', text: 'brief.' },
          ],
          extra: 1,
        },
        { role: 'user', content: 'a', name: 'Ann' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', extra: 1, function: { name: 'f', arguments: { a: 1 } } }] },
        { role: 'tool', content: null },
        { role: 'assistant', content: null },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be\nbrief.' },
      { role: 'user', content: 'a', name: 'Ann' },
      { role: 'assistant', content: null, tool_calls: [made] },
      { role: 'tool', content: '', tool_call_id: 'c' },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'No.' },
    ]);
  });

  test.each([
    ['{"a":1}', '{"a":1}'],
    ['{"a":', '{"_raw":"{\\"a\\":"}'],
    ['5', '{"_raw":"5"}'],
    [`{"a":${'['.repeat(70)}${']'.repeat(70)}}`, JSON.stringify({ _raw: `{"a":${'['.repeat(70)}${']'.repeat(70)}}` })],
    ['', '{}'],
    [null, '{}'],
    [{ a: 1 }, '{"a":1}'],
  ])('have arguments %j as the JSON object %s', (given, sent) => {
    const [message] = messages([{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: given } }] }]) as {
      tool_calls: { function: { arguments: string } }[];
    }[];
    expect(message?.tool_calls[0]?.function.arguments).toBe(sent);
  });

  test('have ids for calls without one: those of their results, or generated ones', () => {
    const call = { id: null, function: { name: 'f', arguments: '{}' } };
    const sent = messages([
      { role: 'assistant', tool_calls: [call, call] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]) as [{ tool_calls: { id: string }[] }, { tool_call_id: string }];
    expect(sent[0].tool_calls.map(({ id }) => id)).toEqual(['x', 'call_0_1']);
    expect(sent[1].tool_call_id).toBe('x');
  });

  test('have calls matched with results across a system message, by name in the deprecated form', () => {
    const call = { id: null, function: { name: 'f', arguments: '{}' } };
    const ids = (list: object[]) =>
      (messages(list) as { tool_calls?: { id: string }[]; tool_call_id?: string }[]).map(
        ({ tool_calls, tool_call_id }) => tool_calls?.map(({ id }) => id) ?? tool_call_id,
      );
    const answer = { role: 'tool', tool_call_id: 'x', content: '1' };
    expect(ids([{ role: 'assistant', tool_calls: [call] }, { role: 'system', content: 'a' }, answer])).toEqual([['x'], undefined, 'x']);
    expect(ids([{ role: 'assistant', tool_calls: [call, call] }, answer, answer])).toEqual([['x', 'call_0_1'], 'x', 'x']);
    const named = [
      { id: 'a', function: { name: 'f' } },
      { id: 'b', function: { name: 'g' } },
    ];
    expect(
      ids([
        { role: 'assistant', tool_calls: named },
        { role: 'function', name: 'g', content: '1' },
      ]),
    ).toEqual([['a', 'b'], 'b']);
  });

  test('have a tool call for a deprecated function call', () => {
    const function_call = { name: 'f', arguments: '{"a":1}' };
    expect(messages([hi, { role: 'assistant', content: null, function_call }, { role: 'function', name: 'f', content: '5' }])).toEqual([
      hi,
      { role: 'assistant', content: null, tool_calls: [{ ...made, id: 'call_1_0' }] },
      { role: 'tool', content: '5', tool_call_id: 'call_1_0' },
    ]);
  });

  test('have reasoning under one name, and as much of it as reasoning_history allows', () => {
    const thought = (fields: object) => ({ role: 'assistant', content: 'a', ...fields });
    const history = [thought({ reasoning: 'new', reasoning_content: 'old' }), hi, thought({ reasoning_content: 'old' })];
    const kept = (reasoning_history?: string) =>
      (messages(history, { reasoning_history }) as { reasoning?: string }[]).map(({ reasoning }) => reasoning);
    expect(kept()).toEqual(['new', undefined, 'old']);
    expect(kept('preserved')).toEqual(['new', undefined, 'old']);
    expect(kept('interleaved')).toEqual([undefined, undefined, 'old']);
    expect(kept('disabled')).toEqual([undefined, undefined, undefined]);
  });
});

describe('tools', () => {
  const toolsOf = (request: object): string | undefined => toChatPrompt(read(request), model()).tools;

  test('have null for a description and parameters that are left out, as vLLM gives them to a chat template', () => {
    const bare = { type: 'function', function: { name: 'a', strict: null, extra: 1 } };
    const strict = { type: 'function', function: { parameters: {}, strict: true, name: 'b', description: '' } };
    expect(toolsOf({ tools: [bare, strict] })).toBe(
      '[{"type":"function","function":{"name":"a","description":null,"parameters":null}},' +
        '{"type":"function","function":{"name":"b","description":"","parameters":{},"strict":true}}]',
    );
    expect(toolsOf({ functions: [{ name: 'a' }] })).toBe(
      '[{"type":"function","function":{"name":"a","description":null,"parameters":null}}]',
    );
    expect(toolsOf({ tools: [] })).toBeUndefined();
  });
});

describe('the variables of the chat template', () => {
  const variablesOf = (request: object): unknown => toChatPrompt(read(request), model()).variables;

  test.each([
    [{}, undefined],
    [{ thinking: { type: 'disabled' } }, { enable_thinking: false }],
    [{ reasoning_effort: 'low' }, { reasoning_effort: 'low', enable_thinking: true }],
    [{ reasoning_effort: true }, { reasoning_effort: 'medium', enable_thinking: true }],
    [{ reasoning_effort: 'none' }, { reasoning_effort: 'none', enable_thinking: false }],
    [{ reasoning_effort: 500 }, undefined],
  ])('are derived as vLLM does it: %j gives %j', (request, variables) => {
    expect(variablesOf(request)).toEqual(variables);
  });
});
