import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkSupport, ignoredFields } from '../../../../functions/inference/chat/support.ts';
import { toChatPrompt } from '../../../../functions/inference/chat/to-prompt.ts';
import { dialects } from '../../../../shared/upstream/dialects.ts';
import { always, hi, model, read, schema, upstream } from './requests.ts';

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

  describe('for llama.cpp', () => {
    const { request_id: _, cache_salt: __, ...common } = always;
    const dialect = { dialect: 'llama_cpp', capabilities: { thinking_budget: true } };

    test('has its names, and no prompt cache that organizations could share', () => {
      const body = { repetition_penalty: 1.1, typical_p: 0.5, prompt_cache_isolation_key: 'k' };
      expect(upstream(body, dialect)).toEqual({ ...common, repeat_penalty: 1.1, typical_p: 0.5, cache_prompt: false });
      expect(ignoredFields(read(body), model(dialect))).toEqual([]);
    });

    test('lists what has no effect there', () => {
      const none = {
        return_token_ids: true,
        reasoning_effort: 64,
        allowed_token_ids: [1],
        bad_words: ['a'],
        min_tokens: 1,
        mirostat_target: 5,
      };
      expect(upstream(none, dialect)).toEqual(upstream({}, dialect));
      expect(new Set(ignoredFields(read(none), model(dialect)))).toEqual(new Set(Object.keys(none)));
    });
  });

  describe('for transformers serve', () => {
    const dialect = { dialect: 'transformers' };

    test('is greedy with top_p 0, without top_k', () => {
      expect(upstream({ top_p: 0 }, dialect)).toMatchObject({ temperature: 0 });
      expect(upstream({ top_p: 0 }, dialect)).not.toHaveProperty('top_k');
    });

    test('has no field that it would reject', () => {
      const known = { temperature: 0.5, top_p: 0.9, stop: ['a'], seed: 7, frequency_penalty: 1 };
      const unknown = {
        top_k: 5,
        min_p: 0.1,
        presence_penalty: 1,
        ignore_eos: true,
        parallel_tool_calls: true,
        prompt_cache_isolation_key: 'k',
      };
      const tools = [{ type: 'function', function: { name: 'f' } }];
      const body = { ...known, ...unknown, tools, n: 1, tool_choice: 'auto', response_format: { type: 'text' }, logprobs: false };
      expect(upstream(body, dialect)).toEqual({ model: '', messages: [hi], max_tokens: 10, stream: true, ...known, tools });
      expect(new Set(ignoredFields(read(body), model(dialect)))).toEqual(new Set(Object.keys(unknown)));
      expect(() => checkSupport(read(body), model(dialect), 10)).not.toThrow();
    });

    test.each([
      ['n', { n: 2 }],
      ['tool_choice', { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }],
      ['tool_choice', { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'none' }],
      ['response_format', { response_format: { type: 'json_object' } }],
      ['logprobs', { logprobs: true }],
      ['logit_bias', { logit_bias: { '5': 1 } }],
    ])('is refused if an answer without %s would be wrong', (param, body) => {
      expect(() => checkSupport(read(body), model(dialect), 10)).toThrow(
        expect.objectContaining({ status: 400, code: 'unsupported_parameter', param }),
      );
    });
  });

  test.each([
    ['a temperature that is as good as 0', { temperature: 1e-6 }, { temperature: 0 }],
    ['top_p 0', { top_p: 0 }, { top_k: 1 }],
    ['no stop strings', { stop: [] }, {}],
    ['empty lists', { bad_words: [], allowed_token_ids: [], stop_token_ids: [] }, {}],
    ['more min_tokens than are left', { min_tokens: 20 }, { min_tokens: 10 }],
    ['an empty list of tools', { tools: [], tool_choice: 'auto', parallel_tool_calls: true }, {}],
    ['reasoning_effort true', { reasoning_effort: true }, { reasoning_effort: 'medium' }],
    ['reasoning_effort false', { reasoning_effort: false }, { reasoning_effort: 'none' }],
    ['reasoning_effort as a word', { reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    ['reasoning_effort as a number that the model does not keep', { reasoning_effort: 64 }, {}],
    ['thinking', { thinking: { type: 'disabled' } }, { chat_template_kwargs: { enable_thinking: false } }],
  ])('has %s within the range that runtimes accept', (_, body, sent) => {
    expect(upstream(body)).toEqual({ ...always, ...sent });
  });

  test.each([
    ['a small one', 7, '7'],
    ['the largest', 2n ** 63n - 1n, '9223372036854775807'],
    ['the smallest', -(2n ** 63n), '-9223372036854775808'],
    ['one that no number can hold', 9_007_199_254_740_993n, '9007199254740993'],
    ['-1, which vLLM takes for none', -1, '9223372036854775807'],
  ])('has every digit of a seed: %s', (_, seed, digits) => {
    expect(JSON.stringify(upstream({ seed }))).toContain(`"seed":${digits},`);
  });

  test.each([2n ** 63n, -(2n ** 63n) - 1n, 2 ** 63, 0.5, '7'])(
    'is refused for the seed %p, which has more than 64 bits or is no integer',
    (seed) => {
      expect(() => upstream({ seed })).toThrow('expected a 64-bit integer');
    },
  );

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
    const tools = [{ type: 'function', function: { ...definition, strict: true } }];
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
  });

  test.each<[unknown, string[]]>([
    ['required', ['f', 'g']],
    [{ type: 'function', function: { name: 'f' } }, ['f']],
    [{ type: 'function', function: null }, ['f', 'g']],
    ['auto', []],
    ['none', []],
    [null, []],
  ])('constrains, for the tool choice %j, the arguments of the forced tools %j', (tool_choice, forced) => {
    const functions = [
      { name: 'f', parameters: { type: 'object' } },
      { name: 'g', strict: false },
    ];
    const sent = functions.map((each) => ({ type: 'function', function: forced.includes(each.name) ? { ...each, strict: true } : each }));
    const tools = functions.map((each) => ({ type: 'function', function: each }));
    expect(upstream({ tools, tool_choice }).tools).toEqual(sent);
    expect(JSON.parse(toChatPrompt(read({ tools, tool_choice }), model()).tools ?? '')).toMatchObject(sent);
  });

  test('has no null within a tool', () => {
    const definition = { name: 'f' };
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
