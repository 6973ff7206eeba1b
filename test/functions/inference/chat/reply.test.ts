import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReplyForm } from '../../../../functions/inference/chat/reply.ts';
import { createChatStream } from '../../../../functions/inference/chat/reply-stream.ts';
import { createChatCompletion } from '../../../../functions/inference/chat/reply-whole.ts';
import type { UpstreamChoice, UpstreamChunk } from '../../../../shared/upstream/chunk.ts';

const facts = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'a "model"', requestId: 'req_1', organization: 'org_1' };
const plain: ReplyForm = { includeUsage: false, tokenIds: false, isLegacy: false };
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const told = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, prompt_tokens_details: null, completion_tokens_details: null };
const said = (delta: object, more: object = {}): UpstreamChunk => ({ choices: [{ index: 0, delta, ...more }] });
const ended = (finish_reason = 'stop', more: object = {}): UpstreamChunk => said({}, { finish_reason, ...more });

interface Event {
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null; [key: string]: unknown }[];
  [key: string]: unknown;
}

const stream = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}, perf?: () => Record<string, unknown>): Event[] => {
  const reply = createChatStream({ ...facts, ...(perf && { perf }) }, { ...plain, ...form });
  return (reply.take(chunks) + reply.usage(usage))
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice('data: '.length)) as Event);
};
const deltas = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}): unknown[] =>
  stream(chunks, form).map(({ choices }) => choices[0]?.delta);

interface Whole {
  choices: { message: Record<string, unknown>; [key: string]: unknown }[];
  [key: string]: unknown;
}
const whole = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}, perf?: () => Record<string, unknown>): Whole => {
  const reply = createChatCompletion({ ...facts, ...(perf && { perf }) }, { ...plain, ...form });
  reply.take(chunks);
  return reply.whole(usage) as Whole;
};

const role = { role: 'assistant', content: '', refusal: null };
const text = [said({ role: 'assistant', content: '' }), said({ content: 'Hel' }), said({ content: 'lo\n"' }), ended('length')];
const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'a "model"' };
const choice = (delta: object, finish_reason: string | null = null): object => ({ index: 0, delta, logprobs: null, finish_reason });

describe('a stream', () => {
  test('sends the role first, then the text, then one finish, and no usage unless requested', () => {
    expect(stream(text)).toEqual([
      { ...base, choices: [choice(role)] },
      { ...base, choices: [choice({ content: 'Hel' })] },
      { ...base, choices: [choice({ content: 'lo\n"' })] },
      { ...base, choices: [choice({}, 'length')] },
    ]);
  });

  test('sends the requested usage last, and null before', () => {
    const all = stream(text, { includeUsage: true });
    expect(all.slice(0, -1).every((event) => event.usage === null)).toBe(true);
    expect(all.at(-1)).toEqual({ ...base, choices: [], usage: told });
  });

  test('sends the role first even if the runtime never does', () => {
    expect(deltas([said({ content: 'a' })])[0]).toEqual(role);
  });

  test('interleaves several choices as they arrive, with a role and one finish each, and one usage after them', () => {
    const at = (index: number, fields: Partial<UpstreamChoice>): UpstreamChunk => ({ choices: [{ index, ...fields }] });
    const all = stream(
      [
        at(0, { delta: { content: 'a' } }),
        at(1, { delta: { content: 'b' } }),
        at(0, { delta: {}, finish_reason: 'stop' }),
        { choices: [{ index: 1, delta: { content: 'c' } }] },
        at(0, { delta: { content: 'late' } }),
        at(1, { delta: {}, finish_reason: 'length' }),
      ],
      { includeUsage: true },
    );
    const of = (index: number) => all.filter(({ choices }) => choices[0]?.index === index);
    for (const index of [0, 1]) {
      expect(of(index)[0]?.choices[0]?.delta).toEqual(role);
      expect(of(index).filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1);
    }
    expect(
      of(1)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('bc');
    expect(
      of(0)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('a');
    expect(all.filter((event) => event.usage)).toEqual([{ ...base, choices: [], usage: told }]);
    expect(all.at(-1)?.usage).toEqual(told);
  });

  test('sends requested measurements with its last finish, in addition to the runtime’s own', () => {
    const all = stream([...text, { metrics: { queue: 1 }, choices: [] }], { includeUsage: true }, () => ({ gateway_time_ms: 3 }));
    expect(all.map((event) => event.perf_metrics)).toEqual([undefined, undefined, undefined, { queue: 1, gateway_time_ms: 3 }, undefined]);
    expect(all[3]?.choices[0]?.finish_reason).toBe('length');
  });
});

describe('tool calls', () => {
  const called = (index: number | undefined, fields: object): UpstreamChunk =>
    said({ tool_calls: [{ ...(index !== undefined && { index }), ...fields }] });
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
      function_call: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
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
  ])('that arrive whole one after the other, %s, stay separate', (_, index) => {
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

  test('without a name are dropped, and the finish reason is stop', () => {
    const chunks = [called(0, { function: { arguments: '{}' } }), ended('tool_calls')];
    expect(whole(chunks).choices[0]).toMatchObject({ finish_reason: 'stop', message: { tool_calls: null } });
    expect(stream(chunks).at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('in the deprecated form keep name and arguments that one delta sends separately', () => {
    const apart = said({
      tool_calls: [
        { index: 0, function: { name: 'f' } },
        { index: 0, function: { arguments: '{"x":1}' } },
      ],
    });
    expect(deltas([apart], { isLegacy: true })[1]).toEqual({ function_call: { name: 'f', arguments: '{"x":1}' } });
  });

  test('have the deprecated form if the request has it', () => {
    expect(deltas(two, { isLegacy: true }).slice(1)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"x":' } },
      { function_call: { arguments: '1}' } },
      {},
    ]);
    const [made] = whole(two, { isLegacy: true }).choices;
    expect(made?.message).toMatchObject({ content: null, function_call: { name: 'f', arguments: '{"x":1}' }, tool_calls: null });
    expect(made?.finish_reason).toBe('function_call');
    expect(stream(two, { isLegacy: true }).at(-1)?.choices[0]?.finish_reason).toBe('function_call');
  });
});

describe('runtime output besides text', () => {
  test.each([['reasoning'], ['reasoning_content']])('%s becomes reasoning', (name) => {
    const chunks = [said({ [name]: 'Hm' }), said({ [name]: 'm.', content: 'Yes' }), ended()];
    expect(deltas(chunks).slice(1, 3)).toEqual([{ reasoning: 'Hm' }, { reasoning: 'm.', content: 'Yes' }]);
    expect(whole(chunks).choices[0]?.message).toMatchObject({ reasoning: 'Hmm.', content: 'Yes' });
  });

  test('an empty reasoning field does not hide the other one; values that are not text are dropped', () => {
    expect(deltas([said({ reasoning: '', reasoning_content: 'Hm' })])[1]).toEqual({ reasoning: 'Hm' });
    const odd = said({ content: [{ type: 'text' }] as unknown as string, tool_calls: {} as never });
    expect(deltas([odd])).toEqual([role]);
    expect(whole([odd, ended()]).choices[0]?.message).toMatchObject({ content: '', tool_calls: null });
  });

  test('log probabilities have OpenAI’s two keys, and are collected', () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: [1], top_logprobs: [] });
    const chunks = [
      said({ content: 'a' }, { logprobs: { content: [entry('a')] } }),
      said({ content: 'b' }, { logprobs: { content: [entry('b')] } }),
      ended(),
    ];
    expect(stream(chunks)[1]?.choices[0]?.logprobs).toEqual({ content: [entry('a')], refusal: null });
    expect(whole(chunks).choices[0]?.logprobs).toEqual({ content: [entry('a'), entry('b')], refusal: null });
    expect(whole(text).choices[0]?.logprobs).toBeNull();
  });

  test('token ids are returned only if requested', () => {
    const chunks = [
      { prompt_token_ids: [1, 2], ...said({ role: 'assistant', content: '' }) },
      said({ content: 'a' }, { token_ids: [3] }),
      said({ content: '' }, { token_ids: [4] }),
      ended('stop', { token_ids: [5] }),
    ];
    const all = stream(chunks, { tokenIds: true });
    expect(all[0]?.prompt_token_ids).toEqual([1, 2]);
    expect(all.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual([3, 4, 5]);
    expect(whole(chunks, { tokenIds: true })).toMatchObject({ prompt_token_ids: [1, 2], choices: [{ token_ids: [3, 4, 5] }] });
    expect(JSON.stringify(stream(chunks))).not.toContain('token_ids');
    expect(whole(chunks)).toMatchObject({ prompt_token_ids: null, choices: [{ token_ids: null }] });
  });

  test('a finish reason that OpenAI does not define becomes stop, and nothing follows it', () => {
    const chunks = [said({ content: 'a' }, { finish_reason: 'eos' }), said({ content: 'b' }, { finish_reason: 'stop' })];
    expect(stream(chunks)).toHaveLength(3);
    expect(stream(chunks).at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(whole(chunks).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'a' } });
  });

  test.each([
    [151_645, '151645'],
    ['\n', '\n'],
    [null, null],
  ])('the stop reason %j becomes %j', (stop_reason, expected) => {
    const chunks = [said({ content: 'a' }), ended('stop', { stop_reason })];
    expect(whole(chunks).choices[0]?.stop_reason).toBe(expected);
    expect(stream(chunks).at(-1)?.choices[0]?.stop_reason ?? null).toBe(expected);
  });
});

test('a response without streaming has every key of the interface and of OpenAI’s schema, null if there is no value', () => {
  expect(whole(text)).toEqual({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'a "model"',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello\n"',
          refusal: null,
          annotations: [],
          audio: null,
          function_call: null,
          tool_calls: null,
          reasoning: null,
        },
        logprobs: null,
        finish_reason: 'length',
        stop_reason: null,
        raw_output: null,
        token_ids: null,
      },
    ],
    usage: told,
    service_tier: null,
    perf_metrics: null,
    prompt_token_ids: null,
  });
});

test('the usage details of a runtime are passed on', () => {
  const reply = createChatCompletion(facts, plain);
  reply.take(text);
  const details = { prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 1 } };
  expect(reply.whole({ ...usage, ...details }).usage).toEqual({ ...told, ...details });
});

test('stream and whole response have the same content, however an answer is split into chunks and batches', () => {
  const piece = fc.record({ index: fc.integer({ min: 0, max: 2 }), content: fc.string({ unit: 'grapheme' }), reasoning: fc.string() });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (pieces, batch) => {
      const chunks: UpstreamChunk[] = pieces.map(({ index, ...delta }) => ({ choices: [{ index, delta }] }));
      for (const index of [0, 1, 2]) chunks.push({ choices: [{ index, delta: {}, finish_reason: 'stop' }] });
      const reply = createChatStream(facts, plain);
      let events = '';
      for (let from = 0; from < chunks.length; from += batch) events += reply.take(chunks.slice(from, from + batch));
      const heard = events
        .split('\n\n')
        .filter(Boolean)
        .flatMap((event) => (JSON.parse(event.slice('data: '.length)) as Event).choices);
      for (const { index, message } of whole(chunks).choices) {
        const own = heard.filter((one) => one.index === index);
        expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content);
        expect(own.map(({ delta }) => delta.reasoning ?? '').join('')).toBe(message.reasoning ?? '');
      }
    }),
  );
});
