import { describe, expect, test } from '@jest/globals';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { chunkOf, deltas, ended, role, stream, text, whole } from './replies.ts';

describe('tool calls', () => {
  const called = (index: number | undefined, fields: object): UpstreamChunk =>
    chunkOf({ tool_calls: [{ ...(index !== undefined && { index }), ...fields }] });
  const two = [
    called(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
    called(0, { id: 'a', function: { name: 'f', arguments: '{"x":' } }),
    called(0, { function: { arguments: '1}' } }),
    called(1, { function: { arguments: '{' } }),
    called(1, { id: 'b', function: { name: 'g', arguments: '}' } }),
    ended('tool_calls'),
  ];

  test('stream their id, type and name once, then only index and arguments', () => {
    expect(deltas(two).slice(1)).toEqual([
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
      { tool_calls: [{ index: 1, id: expect.any(String), type: 'function', function: { name: 'g', arguments: '{}' } }] },
      {},
    ]);
  });

  test('are complete in a response without streaming, whose content is null', () => {
    const [made] = whole(two).choices;
    expect(made?.message).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
    expect(made?.message).not.toHaveProperty('function_call');
    expect(made?.finish_reason).toBe('tool_calls');
  });

  test('get a unique id and index if the runtime sends none', () => {
    const none = [called(undefined, { function: { name: 'f', arguments: '{}' } }), called(1, { function: { name: 'f', arguments: '{}' } })];
    const ids = ((whole([...none, ended()]).choices[0]?.message.tool_calls ?? []) as { id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(JSON.stringify(deltas(none))).toContain(ids[0]);
  });

  test.each([
    ['without indexes', undefined],
    ['all with the index 0', 0],
  ])('stay separate if they arrive whole one after the other, %s', (_, index) => {
    const chunks = [
      called(index, { id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
      called(index, { id: 'b', function: { name: 'g', arguments: { y: 2 } } }),
      ended('tool_calls'),
    ];
    expect(whole(chunks).choices[0]?.message.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y":2}' } },
    ]);
    expect(JSON.stringify(deltas(chunks))).toContain('"index":1,"id":"b"');
  });

  test('never share an id, by which their results are assigned, even if the runtime sends one for two', () => {
    const chunks = [
      called(0, { id: 'a', function: { name: 'f', arguments: '{}' } }),
      called(1, { id: 'a', function: { name: 'f', arguments: '{"x":' } }),
      called(1, { id: 'a', function: { name: 'f', arguments: '1}' } }),
      ended('tool_calls'),
    ];
    const calls = whole(chunks).choices[0]?.message.tool_calls as { id: string; function: object }[];
    expect(calls.map(({ function: made }) => made)).toEqual([
      { name: 'f', arguments: '{}' },
      { name: 'f', arguments: '{"x":1}' },
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(calls[0]?.id).toBe('a');
    expect(JSON.stringify(deltas(chunks))).toContain(`"index":1,"id":"${calls[1]?.id}"`);
  });

  test('are dropped if they have no name, and the finish reason is stop', () => {
    const chunks = [called(0, { function: { arguments: '{}' } }), ended('tool_calls')];
    const [made] = whole(chunks).choices;
    expect(made?.finish_reason).toBe('stop');
    expect(made?.message).not.toHaveProperty('tool_calls');
    expect(stream(chunks).at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test.each([
    ['tool_calls', false, { tool_calls: [{ index: 0, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }] }],
    ['function_call', true, { function_call: { name: 'g', arguments: '' } }],
  ])('have indexes from 0 even if the runtime never names an earlier one: %s', (_, isLegacy, first) => {
    const chunks = [
      called(0, { id: 'a', function: { arguments: '{}' } }),
      called(1, { id: 'b', function: { name: 'g' } }),
      called(1, { function: { arguments: '{"x":1}' } }),
      ended('tool_calls'),
    ];
    expect(deltas(chunks, { isLegacy })[1]).toEqual(first);
    expect(deltas(chunks, { isLegacy })).toHaveLength(4);
    const { message } = whole(chunks, { isLegacy }).choices[0] ?? {};
    expect(JSON.stringify(message)).toContain(JSON.stringify({ name: 'g', arguments: '{"x":1}' }));
  });

  test('keep name and arguments that one delta sends separately in the deprecated form', () => {
    const apart = chunkOf({
      tool_calls: [
        { index: 0, function: { name: 'f' } },
        { index: 0, function: { arguments: '{"x":1}' } },
      ],
    });
    expect(deltas([apart], { isLegacy: true })[1]).toEqual({ function_call: { name: 'f', arguments: '{"x":1}' } });
  });

  test('have the arguments {} if the runtime sends none, unless the answer was cut off', () => {
    const empty = (reason: string) => [
      called(0, { id: 'a', type: 'function', function: { name: 'f' } }),
      called(1, { id: 'b', type: 'function', function: { name: 'g', arguments: ' ' } }),
      ended(reason),
    ];
    type Called = { arguments: string };
    const argumentsOf = (reason: string, isLegacy = false): string[] =>
      (deltas(empty(reason), { isLegacy }) as { tool_calls?: { function: Called }[]; function_call?: Called }[]).flatMap(
        ({ tool_calls = [], function_call }) =>
          [...tool_calls.map((call) => call.function), ...(function_call ? [function_call] : [])].map((call) => call.arguments),
      );
    expect(argumentsOf('tool_calls')).toEqual(['', ' ', '{}', '{}']);
    expect(argumentsOf('tool_calls', true)).toEqual(['', '{}']);
    expect(argumentsOf('length')).toEqual(['', ' ']);
    const made = (reason: string) => whole(empty(reason)).choices[0]?.message as { tool_calls: { function: { arguments: string } }[] };
    expect(made('stop').tool_calls.map((call) => call.function.arguments)).toEqual(['{}', ' {}']);
    expect(made('length').tool_calls.map((call) => call.function.arguments)).toEqual(['', ' ']);
  });

  test('have the deprecated form if the request has it', () => {
    expect(deltas(two, { isLegacy: true }).slice(1)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"x":' } },
      { function_call: { arguments: '1}' } },
      {},
    ]);
    const [made] = whole(two, { isLegacy: true }).choices;
    expect(made?.message).toMatchObject({ content: null, function_call: { name: 'f', arguments: '{"x":1}' } });
    expect(made?.message).not.toHaveProperty('tool_calls');
    expect(made?.finish_reason).toBe('function_call');
    expect(stream(two, { isLegacy: true }).at(-1)?.choices[0]?.finish_reason).toBe('function_call');
  });
});

describe('runtime output besides text', () => {
  test.each([['reasoning'], ['reasoning_content']])('becomes reasoning: %s', (name) => {
    const chunks = [chunkOf({ [name]: 'Hm' }), chunkOf({ [name]: 'm.', content: 'Yes' }), ended()];
    expect(deltas(chunks).slice(1, 3)).toEqual([{ reasoning: 'Hm' }, { reasoning: 'm.', content: 'Yes' }]);
    expect(whole(chunks).choices[0]?.message).toMatchObject({ reasoning: 'Hmm.', content: 'Yes' });
  });

  test('is reasoning even if the other field is empty, and is dropped if it is no text', () => {
    expect(deltas([chunkOf({ reasoning: '', reasoning_content: 'Hm' })])[1]).toEqual({ reasoning: 'Hm' });
    const odd = chunkOf({ content: [{ type: 'text' }] as unknown as string, tool_calls: {} as never });
    expect(deltas([odd])).toEqual([role]);
    const [made] = whole([odd, ended()]).choices;
    expect(made?.message).toMatchObject({ content: '' });
    expect(made?.message).not.toHaveProperty('tool_calls');
  });

  test('has log probabilities with OpenAI’s two keys, which are collected', () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: [1], top_logprobs: [] });
    const chunks = [
      chunkOf({ content: 'a' }, { logprobs: { content: [entry('a')] } }),
      chunkOf({ content: 'b' }, { logprobs: { content: [entry('b')] } }),
      ended(),
    ];
    expect(stream(chunks)[1]?.choices[0]?.logprobs).toEqual({ content: [entry('a')], refusal: null });
    expect(whole(chunks).choices[0]?.logprobs).toEqual({ content: [entry('a'), entry('b')], refusal: null });
    expect(whole(text).choices[0]?.logprobs).toBeNull();
  });

  test('includes token ids only if requested', () => {
    const chunks = [
      { prompt_token_ids: [1, 2], ...chunkOf({ role: 'assistant', content: '' }) },
      chunkOf({ content: 'a' }, { token_ids: [3] }),
      chunkOf({ content: '' }, { token_ids: [4] }),
      ended('stop', { token_ids: [5] }),
    ];
    const all = stream(chunks, { tokenIds: true });
    expect(all[0]?.prompt_token_ids).toEqual([1, 2]);
    expect(all.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual([3, 4, 5]);
    expect(whole(chunks, { tokenIds: true })).toMatchObject({ prompt_token_ids: [1, 2], choices: [{ token_ids: [3, 4, 5] }] });
    expect(JSON.stringify(stream(chunks))).not.toContain('token_ids');
    expect(whole(chunks)).toMatchObject({ prompt_token_ids: null, choices: [{ token_ids: null }] });
  });

  test('ends with stop at a finish reason that OpenAI does not define, and nothing follows it', () => {
    const chunks = [chunkOf({ content: 'a' }, { finish_reason: 'eos' }), chunkOf({ content: 'b' }, { finish_reason: 'stop' })];
    expect(stream(chunks)).toHaveLength(3);
    expect(stream(chunks).at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(whole(chunks).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'a' } });
  });

  test.each([
    [151_645, '151645'],
    ['\n', '\n'],
    [null, null],
  ])('has the stop reason %j as %j', (stop_reason, expected) => {
    const chunks = [chunkOf({ content: 'a' }), ended('stop', { stop_reason })];
    expect(whole(chunks).choices[0]?.stop_reason).toBe(expected);
    expect(stream(chunks).at(-1)?.choices[0]?.stop_reason ?? null).toBe(expected);
  });
});
