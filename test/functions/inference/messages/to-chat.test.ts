import { describe, expect, test } from '@jest/globals';
import { messages as route } from '../../../../functions/inference/messages/route.ts';
import { checkMessages } from '../../../../functions/inference/messages/support.ts';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { assistant, model, read, text, user } from './requests.ts';

const upstream = (body: Record<string, unknown>, of: Model = model, maxTokens = 50): Record<string, unknown> => {
  const request = read(body);
  const prompt = messagesPrompt(request, of);
  return route.toUpstream(request, of, { prompt, maxTokens, containerModel: 'c', requestId: 'req_1', cacheSalt: 'salt' });
};
const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];
const thinker: Model = { ...model, capabilities: { ...model.capabilities, thinking_budget: true } };

describe('the body for the runtime', () => {
  test('has the conversation, the limit and no field that nobody sent', () => {
    expect(upstream({ system: 'Be brief.' })).toEqual({
      model: 'c',
      messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')],
      max_tokens: 50,
      cache_salt: 'salt',
      request_id: 'req_1',
      stream: true,
      stream_options: { include_usage: true },
      chat_template_kwargs: { enable_thinking: false },
    });
  });

  test('has the sampling and the stop sequences; an empty list is none', () => {
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 40 };
    expect(upstream({ ...sampling, stop_sequences: ['END'] })).toMatchObject({ ...sampling, stop: ['END'] });
    expect(upstream({ stop_sequences: [] })).not.toHaveProperty('stop');
  });

  test('has tools as functions', () => {
    expect(
      upstream({
        tools: [
          { ...tools[0], type: 'custom', strict: true },
          { name: 'plain', input_schema: {}, type: null },
        ],
      }).tools,
    ).toEqual([
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: true } },
      { type: 'function', function: { name: 'plain', parameters: {} } },
    ]);
  });

  test.each([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'look' }, { tool_choice: { type: 'function', function: { name: 'look' } } }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { tool_choice: 'required', parallel_tool_calls: false },
    ],
    [{ type: 'auto', disable_parallel_tool_use: false }, { tool_choice: 'auto' }],
  ])('has the choice %j', (tool_choice, expected) => {
    const body = upstream({ tools, tool_choice });
    expect({
      tool_choice: body.tool_choice,
      ...('parallel_tool_calls' in body && { parallel_tool_calls: body.parallel_tool_calls }),
    }).toEqual(expected);
  });

  test('has a forced choice together with thinking (bug 38)', () => {
    expect(upstream({ tools, tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } })).toMatchObject({
      tool_choice: 'required',
      chat_template_kwargs: { enable_thinking: true },
    });
  });

  test('has the format of the answer, under both names', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = { type: 'json_schema', schema };
    const expected = { response_format: { type: 'json_schema', json_schema: { name: 'output', schema, strict: true } } };
    expect(upstream({ output_config: { format } })).toMatchObject(expected);
    expect(upstream({ output_format: format })).toMatchObject(expected);
  });
});

describe('thinking', () => {
  const thinkingOf = (body: Record<string, unknown>, maxTokens?: number) => {
    const { chat_template_kwargs, reasoning_effort, thinking_token_budget } = upstream(body, thinker, maxTokens);
    return { on: (chat_template_kwargs as { enable_thinking: boolean }).enable_thinking, reasoning_effort, thinking_token_budget };
  };

  test('is off unless it is requested, and then has no effort', () => {
    for (const thinking of [undefined, null, { type: 'disabled' }])
      expect(thinkingOf({ thinking, output_config: { effort: 'high' } })).toEqual({ on: false });
    for (const type of ['adaptive', 'between_tools', 'enabled'])
      expect(thinkingOf({ thinking: { type }, output_config: { effort: 'low' } })).toEqual({ on: true, reasoning_effort: 'low' });
  });

  test.each([
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'high'],
    ['max', 'high'],
  ])('has the effort %s as %s', (effort, expected) => {
    expect(thinkingOf({ thinking: { type: 'adaptive' }, output_config: { effort } }).reasoning_effort).toBe(expected);
  });

  test('has a budget below the limit of the answer (bug 39)', () => {
    const budget = (budget_tokens: number, maxTokens: number) =>
      thinkingOf({ thinking: { type: 'enabled', budget_tokens } }, maxTokens).thinking_token_budget;
    expect([budget(10, 50), budget(50, 50), budget(32_000, 50), budget(5, 1)]).toEqual([10, 49, 49, 1]);
  });
});

describe('a continued message', () => {
  const messages = [user('Hi'), assistant([text('{"a":')])];

  test('is continued by the runtime, without a new turn', () => {
    expect(upstream({ messages })).toMatchObject({
      messages: [user('Hi'), assistant('{"a":')],
      continue_final_message: true,
      add_generation_prompt: false,
    });
    expect(upstream({})).not.toHaveProperty('continue_final_message');
  });

  test('is part of the prompt that is counted', () => {
    expect(messagesPrompt(read({ messages }), model).continues).toBe(true);
    expect(messagesPrompt(read({}), model)).not.toHaveProperty('continues');
  });

  test.each(['llama_cpp', 'transformers'] as const)('is a 400 where the runtime would begin a new one: %s', (dialect) => {
    const other: Model = { ...model, dialect };
    expect(() => checkMessages(read({ messages }), other, 100)).toThrow("can't continue an assistant message");
    expect(() => checkMessages(read({}), other, 100)).not.toThrow();
    expect(() => checkMessages(read({ messages }), model, 100)).not.toThrow();
  });

  test('can not be requested with the fields of the runtime', () => {
    expect(upstream({ continue_final_message: true, add_generation_prompt: false })).not.toHaveProperty('continue_final_message');
  });
});
