import { describe, expect, test } from '@jest/globals';
import { callDelta, ended, facts, whole } from '../../../support/clients/responses-replies.ts';
import { id, part, text } from './greeting.ts';

describe('a response', () => {
  test('has every key of OpenAI’s, null if there is no value', async () => {
    expect(await whole([text])).toEqual({
      id: facts.id,
      object: 'response',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_009,
      status: 'completed',
      background: false,
      conversation: null,
      error: null,
      incomplete_details: null,
      access_programs: null,
      frequency_penalty: 0,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      moderation: null,
      model: 'm',
      output: [{ id: id('msg', 0), type: 'message', status: 'completed', role: 'assistant', content: [part('Hello\n"')] }],
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt: null,
      prompt_cache_key: null,
      prompt_cache_retention: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 0.6,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 0.95,
      truncation: 'disabled',
      usage: {
        input_tokens: 5,
        input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 7,
      },
    });
  });

  test('repeats the settings of the request', async () => {
    const settings = {
      instructions: 'A',
      max_output_tokens: 9,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0.5,
      text: { format: { type: 'json_object' } },
      tool_choice: 'none',
      top_p: 0.5,
      truncation: 'auto',
      user: 'u',
    };
    const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }];
    expect(await whole([text], { ...settings, tools })).toMatchObject({
      ...settings,
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
    });
  });

  test('has two ids for two calls, even if the runtime uses one', async () => {
    const same = [0, 1].map((index) => callDelta(index, { id: 'call_0', function: { name: 'f', arguments: '{}' } }));
    const ids = (await whole([[...same, ended()]])).output.map(({ call_id }) => call_id);
    expect(new Set(ids).size).toBe(2);
  });
});
