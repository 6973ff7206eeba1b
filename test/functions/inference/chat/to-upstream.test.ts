import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ChatCompletionRequest, chatCompletionRequest, maxTokensOf } from '../../../../functions/inference/chat/request.ts';
import { checkSupport, ignoredFields } from '../../../../functions/inference/chat/support.ts';
import { toChatPrompt } from '../../../../functions/inference/chat/to-prompt.ts';
import { toUpstreamChat } from '../../../../functions/inference/chat/to-upstream.ts';
import { resolveMaxTokens } from '../../../../functions/inference/pipeline/prepare-request.ts';
import { Model } from '../../../../shared/models/model.ts';
import { dialects } from '../../../../shared/upstream/dialects.ts';
import { cacheSalt } from '../../../../shared/upstream/request-body.ts';

const hi = { role: 'user', content: 'Hi' };
const model = (change: object = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 100,
    max_output_tokens: 50,
    default_output_tokens: 10,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });
const schema = chatCompletionRequest(true);
const read = (body: object): ChatCompletionRequest => schema.parse({ model: 'm', messages: [hi], ...body });
const check = (request: ChatCompletionRequest, of: Model): void => checkSupport(request, of, resolveMaxTokens(maxTokensOf(request), of));
const facts = { containerModel: '', maxTokens: 10, requestId: 'req_1', cacheSalt: 'salt' };
const upstream = (body: object, change: object = {}): Record<string, unknown> => {
  const request = read(body);
  return toUpstreamChat(request, model(change), { ...facts, prompt: toChatPrompt(request, model(change)) });
};
const always = {
  model: '',
  messages: [hi],
  max_tokens: 10,
  stream: true,
  stream_options: { include_usage: true },
  cache_salt: 'salt',
  request_id: 'req_1',
};

describe('the body for a runtime', () => {
  test('has only the keys that are always sent if every field of the request is null', () => {
    const names = Object.keys(dialects.vllm.fields).filter((name) => name !== 'model' && name !== 'messages');
    expect(upstream(Object.fromEntries(names.map((name) => [name, null])))).toEqual(always);
  });

  test('has no field that callers must not send to a runtime; dropped fields are listed', () => {
    const smuggled = {
      cache_salt: 'mine',
      priority: -1,
      request_id: 'mine',
      chat_template: '{{ x }}',
      kv_transfer_params: {},
      prompt: 'x',
      use_beam_search: true,
      structured_outputs: {},
      prompt_logprobs: 1,
      return_prompt_text: true,
      vllm_xargs: {},
      chat_template_kwargs: {},
      truncate_prompt_tokens: 5,
      thinking_token_budget: 1,
      user: 'u',
      metadata: { a: 1 },
    };
    expect(upstream(smuggled)).toEqual(always);
    const { user, metadata, ...dropped } = smuggled;
    expect(ignoredFields(read(smuggled), model()).sort()).toEqual(Object.keys(dropped).sort());
  });

  test('has the fields that the dialect passes, with the same names', () => {
    const sampling = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      min_p: 0.1,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      repetition_penalty: 1.1,
      logit_bias: { '5': 1 },
      n: 2,
      stop: ['a'],
      logprobs: true,
      top_logprobs: 2,
      ignore_eos: true,
      return_token_ids: true,
      response_format: { type: 'json_object' },
      min_tokens: 1,
      bad_words: ['a'],
    };
    expect(upstream(sampling)).toEqual({ ...always, ...sampling });
  });

  test('has the fields of our own container only in its dialect; others list them as ignored', () => {
    const own = { typical_p: 0.5, mirostat_target: 5, mirostat_lr: 0.1, echo_last: 2 };
    expect(upstream(own, { dialect: 'sluice' })).toEqual({ ...always, ...own });
    expect(upstream(own)).toEqual(always);
    expect(ignoredFields(read(own), model())).toEqual(Object.keys(own));
    expect(ignoredFields(read(own), model({ dialect: 'sluice' }))).toEqual([]);
  });

  test.each([
    ['a temperature that is as good as 0', { temperature: 1e-6 }, { temperature: 0 }],
    ['top_p 0', { top_p: 0 }, { top_k: 1 }],
    ['no stop strings', { stop: [] }, {}],
    ['empty lists', { bad_words: [], allowed_token_ids: [], stop_token_ids: [] }, {}],
    ['the seed -1, which vLLM takes for none', { seed: -1 }, { seed: 2 ** 63 - 1_024 }],
    ['the largest seed', { seed: 2 ** 63 }, { seed: 2 ** 63 - 1_024 }],
    ['the smallest seed', { seed: -(2 ** 63) }, { seed: -(2 ** 63) + 1_024 }],
    ['more min_tokens than are left', { min_tokens: 20 }, { min_tokens: 10 }],
    ['an empty list of tools', { tools: [], tool_choice: 'auto', parallel_tool_calls: true }, {}],
    ['reasoning_effort true', { reasoning_effort: true }, { reasoning_effort: 'medium' }],
    ['reasoning_effort false', { reasoning_effort: false }, { reasoning_effort: 'none' }],
    ['reasoning_effort as a word', { reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    ['reasoning_effort as a number that the model does not keep', { reasoning_effort: 64 }, {}],
    ['thinking', { thinking: { type: 'disabled' } }, { chat_template_kwargs: { enable_thinking: false } }],
  ])('%s stays within the range that runtimes accept', (_, body, sent) => {
    expect(upstream(body)).toEqual({ ...always, ...sent });
  });

  test('has a thinking limit if the model supports one; otherwise it is listed as ignored', () => {
    const change = { capabilities: { thinking_budget: true }, thinking_variable: 'thinking' };
    expect(upstream({ reasoning_effort: 64 }, change)).toEqual({ ...always, thinking_token_budget: 64 });
    const thinking = { type: 'enabled', budget_tokens: 32 };
    expect(upstream({ thinking }, change)).toEqual({ ...always, chat_template_kwargs: { thinking: true }, thinking_token_budget: 32 });
    expect(ignoredFields(read({ thinking }), model())).toEqual(['thinking.budget_tokens']);
    expect(ignoredFields(read({ reasoning_effort: 64 }), model())).toEqual(['reasoning_effort']);
  });

  test('has no null within a response format with structured outputs', () => {
    const json_schema = { name: 'a', schema: { type: 'object' } };
    const sent = upstream({ response_format: { type: 'json_schema', json_schema: { ...json_schema, description: null, strict: null } } });
    expect(sent.response_format).toEqual({ type: 'json_schema', json_schema });
    expect(
      schema.safeParse({ model: 'm', messages: [hi], response_format: { type: 'json_schema', json_schema: { name: 'a' } } }).success,
    ).toBe(false);
  });

  test('has tools under their current names, with the keys that the request sets', () => {
    const definition = { name: 'f', description: 'Does f.', parameters: { type: 'object' } };
    const tools = [{ type: 'function', function: definition }];
    const choice = { type: 'function', function: { name: 'f' } };
    expect(upstream({ tools: [{ ...tools[0], cache_control: 1 }], tool_choice: choice, parallel_tool_calls: false })).toEqual({
      ...always,
      tools,
      tool_choice: choice,
      parallel_tool_calls: false,
    });
    expect(upstream({ functions: [definition], function_call: { name: 'f' } })).toEqual({
      ...always,
      tools,
      tool_choice: choice,
      parallel_tool_calls: false,
    });
    expect(upstream({ tools, tool_choice: { type: 'function', function: null } }).tool_choice).toBe('required');
    expect(upstream({ tools: [{ type: 'function', function: { ...definition, description: null, parameters: null } }] }).tools).toEqual([
      { type: 'function', function: { name: 'f' } },
    ]);
  });

  test('is JSON without null at its top level for any valid request', () => {
    fc.assert(
      fc.property(
        fc.record({ temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })), stop: fc.option(fc.constantFrom('a', ['b'], [])) }),
        (body) => {
          const sent = JSON.parse(JSON.stringify(upstream(body))) as Record<string, unknown>;
          expect(Object.values(sent)).not.toContain(null);
        },
      ),
    );
  });
});

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
  ])('arguments %j are sent as the JSON object %s', (given, sent) => {
    const [message] = messages([{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: given } }] }]) as {
      tool_calls: { function: { arguments: string } }[];
    }[];
    expect(message?.tool_calls[0]?.function.arguments).toBe(sent);
  });

  test('calls without ids get the ids of their results, or generated ones', () => {
    const call = { id: null, function: { name: 'f', arguments: '{}' } };
    const sent = messages([
      { role: 'assistant', tool_calls: [call, call] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]) as [{ tool_calls: { id: string }[] }, { tool_call_id: string }];
    expect(sent[0].tool_calls.map(({ id }) => id)).toEqual(['x', 'call_0_1']);
    expect(sent[1].tool_call_id).toBe('x');
  });

  test('calls and results are matched across a system message, by name in the deprecated form, with one id each', () => {
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

  test('a deprecated function call becomes a tool call', () => {
    const function_call = { name: 'f', arguments: '{"a":1}' };
    expect(messages([hi, { role: 'assistant', content: null, function_call }, { role: 'function', name: 'f', content: '5' }])).toEqual([
      hi,
      { role: 'assistant', content: null, tool_calls: [{ ...made, id: 'call_1_0' }] },
      { role: 'tool', content: '5', tool_call_id: 'call_1_0' },
    ]);
  });

  test('reasoning is sent under one name, and as much of it as reasoning_history allows', () => {
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

describe('a field that the model does not support', () => {
  const tool = { type: 'function', function: { name: 'f' } };
  test.each([
    ['raw_output', { raw_output: true }, {}],
    ['echo', { echo: true }, {}],
    ['tools', { tools: [tool] }, { capabilities: { tools: false } }],
    ['functions', { functions: [{ name: 'f' }] }, { capabilities: { tools: false } }],
    ['response_format', { response_format: { type: 'json_object' } }, { capabilities: { json_object: false } }],
    ['logprobs', { logprobs: true }, { capabilities: { logprobs: false } }],
  ])('such as %s is a 400 that names the field and the model', (param, body, change) => {
    expect(() => check(read(body), model(change))).toThrow(
      expect.objectContaining({ status: 400, param, message: expect.stringContaining("'m'") }),
    );
    expect(() => check(read({}), model(change))).not.toThrow();
  });

  test('is accepted if it is disabled', () => {
    const off = { raw_output: false, echo: false, tools: [], response_format: { type: 'text' }, logprobs: false };
    const none = { capabilities: { tools: false, json_object: false, logprobs: false } };
    expect(() => check(read(off), model(none))).not.toThrow();
  });

  test('a token id outside of the vocabulary is a 400; without a known vocabulary no token id is sent', () => {
    const known = { tokenizer: { tokenizer: 'k', vocabulary_size: 100 } };
    for (const [param, body] of Object.entries({
      logit_bias: { logit_bias: { '99': 1, '100': 1 } },
      stop_token_ids: { stop_token_ids: [2 ** 53 - 1] },
      allowed_token_ids: { allowed_token_ids: [1, 100] },
    }))
      expect(() => check(read(body), model(known))).toThrow(expect.objectContaining({ status: 400, param }));
    const ids = { stop_token_ids: [99], allowed_token_ids: [5] };
    expect(() => check(read(ids), model(known))).not.toThrow();
    expect(upstream(ids, known)).toEqual({ ...always, ...ids });
    expect(upstream(ids)).toEqual(always);
    expect(ignoredFields(read(ids), model())).toEqual(Object.keys(ids));
  });

  test('more log probabilities than a response without streaming can hold are a 400 that suggests streaming', () => {
    const many = { logprobs: true, top_logprobs: 20, n: 16, max_tokens: 2_048 };
    const large = { max_output_tokens: 4_096 };
    expect(() => check(read(many), model(large))).toThrow(expect.objectContaining({ status: 400, param: 'logprobs' }));
    expect(() => check(read({ ...many, stream: true }), model(large))).not.toThrow();
    expect(() => check(read({ ...many, n: 1 }), model(large))).not.toThrow();
  });

  test('fields that have no effect without tools are listed as ignored', () => {
    const alone = { tool_choice: 'none', parallel_tool_calls: false };
    expect(ignoredFields(read(alone), model())).toEqual(Object.keys(alone));
    expect(ignoredFields(read({ ...alone, tools: [tool] }), model())).toEqual([]);
  });

  test('prompt_truncate_len is listed as ignored for a model without a tokenizer', () => {
    expect(ignoredFields(read({ prompt_truncate_len: 5 }), model())).toEqual(['prompt_truncate_len']);
    expect(ignoredFields(read({ prompt_truncate_len: 5 }), model({ tokenizer: { tokenizer: 'k' } }))).toEqual([]);
  });
});

test('the prompt cache salt differs by organization and by isolation key, and reveals neither', () => {
  const salts = [cacheSalt('s', 'org_a', null), cacheSalt('s', 'org_b', null), cacheSalt('s', 'org_a', 'k'), cacheSalt('t', 'org_a', null)];
  expect(new Set(salts).size).toBe(4);
  expect(cacheSalt('s', 'org_a', undefined)).toBe(salts[0]);
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{64}$/);
});
