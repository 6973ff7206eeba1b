import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, invoke, post, question, refusalOf, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const CHAT = '/v1/chat/completions';
const NO_HANDLER = "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']";
const tools = [{ type: 'function', function: { name: 'clock' } }];

describe('a schema error', () => {
  test.each([
    ['echo', null],
    ['ignore_eos', null],
    ['min_tokens', null],
    ['skip_special_tokens', null],
    ['include_stop_str_in_output', null],
    ['bad_words', null],
    ['include_reasoning', null],
    ['request_id', null],
    ['messages', [{ role: 'wizard', content: 'Hi' }]],
    ['messages', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }]],
    ['messages', [{ role: 'assistant', content: null, tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{}' } }] }]],
    [
      'messages',
      [{ role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }] }],
    ],
    ['max_tokens', '5'],
    ['max_tokens', 1.5],
    ['seed', 2 ** 64],
    ['stop', [1]],
    ['logit_bias', { 5: 'much' }],
    ['logprobs', 3],
    ['response_format', { type: 'yaml' }],
    ['response_format', { type: 'json_schema', json_schema: { schema: {} } }],
    ['tools', [{ type: 'function', function: {} }]],
    ['tool_choice', 'always'],
    ['reasoning_effort', 'extreme'],
    ['thinking_token_budget', -1],
    ['chat_template_kwargs', []],
    ['stop_token_ids', ['5']],
  ])('names the field on the chat route, but not on /invocations: %s %j', async (field, value) => {
    const body = { [field]: value };
    expect(await refusalOf(container, body)).toEqual({ message: NO_HANDLER, type: 'BadRequestError', param: null, code: 400 });
    expect((await refusalOf(container, body, CHAT)).message).toContain(`at ${field}`);
  });

  test.each([
    [{ stream_options: { include_usage: true } }, 'Stream options can only be defined when `stream=True`.'],
    [{ top_logprobs: 2 }, 'when using `top_logprobs`, `logprobs` must be set to true.'],
    [{ logprobs: true, top_logprobs: -2 }, '`top_logprobs` must be a positive value or -1.'],
    [{ tools: [] }, '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.'],
    [{ tool_choice: 'auto' }, 'When using `tool_choice`, `tools` must be set.'],
    [{ tool_choice: 'required' }, 'When using `tool_choice`, `tools` must be set.'],
    [{ tool_choice: { type: 'function', function: { name: 'clock' } } }, 'When using `tool_choice`, `tools` must be set.'],
    [
      { tools, tool_choice: { type: 'function', function: { name: 'calendar' } } },
      'The tool specified in `tool_choice` does not match any of the specified `tools`',
    ],
    [{ cache_salt: '' }, "Parameter 'cache_salt' must be a non-empty string if provided."],
  ])('about a combination of fields has its own message on the chat route: %j', async (body, message) => {
    expect((await refusalOf(container, body)).message).toBe(NO_HANDLER);
    expect(await refusalOf(container, body, CHAT)).toMatchObject({ message, type: 'BadRequestError', code: 400 });
  });

  test('does not occur for null, unknown keys or tool_choice none without tools', async () => {
    const nullable = ['stream_options', 'return_token_ids', 'temperature', 'seed', 'stop', 'n', 'logprobs', 'top_logprobs', 'tools'];
    const more = ['tool_choice', 'user', 'max_tokens', 'logit_bias', 'response_format', 'cache_salt', 'chat_template_kwargs', 'top_k'];
    const body = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', extra: 1 }], extra: 1 }],
      ...Object.fromEntries([...nullable, ...more].map((field) => [field, null])),
      max_completion_tokens: 1,
      extra: { deep: [1] },
    };
    for (const path of ['/invocations', CHAT]) expect((await post(container.url + path, body)).status).toBe(200);
    expect((await invoke(container, { messages: question, tool_choice: 'none', max_tokens: 1 })).status).toBe(200);
  });
});

describe('a value out of range', () => {
  const vocabulary = `Vocabulary size: ${tokenizer.vocabularySize}`;

  test.each([
    [{ n: 0 }, 'n must be at least 1, got 0.'],
    [{ n: 129 }, 'n must be at most 128, got 129.'],
    [{ n: 2, temperature: 0 }, 'n must be 1 when using greedy sampling, got 2.'],
    [{ n: 2, temperature: 9e-6 }, 'n must be 1 when using greedy sampling, got 2.'],
    [{ presence_penalty: 2.5 }, 'presence_penalty must be in [-2, 2], got 2.5.'],
    [{ frequency_penalty: -3 }, 'frequency_penalty must be in [-2, 2], got -3.0.'],
    [{ repetition_penalty: 0 }, 'repetition_penalty must be greater than zero, got 0.0.'],
    [{ temperature: -1 }, 'temperature must be non-negative, got -1.0.'],
    [{ temperature: 2.1 }, 'temperature must be in [0, 2], got 2.1.'],
    [{ top_p: 0 }, 'top_p must be in (0, 1], got 0.0.'],
    [{ top_p: 1.5 }, 'top_p must be in (0, 1], got 1.5.'],
    [{ top_k: -2 }, 'top_k must be 0 (disable), or at least 1, got -2.'],
    [{ min_p: 1.1 }, 'min_p must be in [0, 1], got 1.1.'],
    [{ max_tokens: 0 }, 'max_tokens must be at least 1, got 0.'],
    [{ max_completion_tokens: -1 }, 'max_tokens must be at least 1, got -1.'],
    [{ min_tokens: -1 }, 'min_tokens must be greater than or equal to 0, got -1.'],
    [{ min_tokens: 6, max_tokens: 5 }, 'min_tokens must be less than or equal to max_tokens=5, got 6.'],
    [{ stop: '' }, 'stop cannot contain an empty string.'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop must have at most 4 strings, got 5.'],
    [{ bad_words: [''] }, "bad_words cannot contain an empty string. Got bad_words=['']"],
    [{ logprobs: true, top_logprobs: 21 }, 'Requested sample logprobs of 21, which is greater than max allowed: 20'],
    [{ logit_bias: { 5000: 1, 1: 1, '-1': 1 } }, `token_id(s) [5000, -1] in logit_bias contain out-of-vocab token ids. ${vocabulary}`],
    [{ logit_bias: { word: 1 } }, "logit_bias contains key(s) that cannot be converted to integer token IDs: ['word']"],
    [{ stop_token_ids: [9_999] }, `token_id(s) [9999] in stop_token_ids contain out-of-vocab token ids. ${vocabulary}`],
    [{ allowed_token_ids: [] }, 'allowed_token_ids is not None and empty!'],
    [{ allowed_token_ids: [1, 9_999] }, 'allowed_token_ids contains out-of-vocab token id!'],
    [{ typical_p: 2 }, 'typical_p must be in [0, 1], got 2.0.'],
    [{ mirostat_target: -1 }, 'mirostat_target must be non-negative, got -1.0.'],
    [{ mirostat_lr: -0.5 }, 'mirostat_lr must be non-negative, got -0.5.'],
    [{ echo_last: -1 }, 'echo_last must be non-negative, got -1.'],
    [
      { thinking_token_budget: 5 },
      'thinking_token_budget is set but reasoning_config is not configured. Please set --reasoning-config to use thinking_token_budget.',
    ],
    [{ messages: [] }, 'A conversation needs at least one message.'],
  ])('has the same message on both routes: %j', async (body, message) => {
    const error = { message, type: 'BadRequestError', param: null, code: 400 };
    expect(await refusalOf(container, body)).toEqual(error);
    expect(await refusalOf(container, body, CHAT)).toEqual(error);
  });

  test('does not include the limits of the range', async () => {
    const ends = { temperature: 2, top_p: 1, top_k: -1, min_p: 1, typical_p: 1, presence_penalty: -2, frequency_penalty: 2, n: 1 };
    const body = {
      ...ends,
      messages: question,
      max_tokens: 3,
      min_tokens: 3,
      stop: ['a', 'b', 'c', 'd'],
      logprobs: true,
      top_logprobs: 20,
    };
    expect((await invoke(container, body)).status).toBe(200);
  });

  test('is not clamped: max_tokens can fill the window but not exceed it', async () => {
    const small = await startContainer({ windowTokens: 40 });
    const prompt = tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]).length;
    const status = async (fields: object) => (await invoke(small, { messages: question, ...fields })).status;
    expect(await status({ max_tokens: 40 - prompt })).toBe(200);
    expect(await status({ max_tokens: 41 - prompt })).toBe(400);
    await small.close();
  });
});

test('invalid JSON in the arguments of an earlier tool call is rejected', async () => {
  const call = { id: 'a', type: 'function', function: { name: 'clock', arguments: '{"zone":' } };
  const messages = [...question, { role: 'assistant', content: null, tool_calls: [call] }];
  expect((await refusalOf(container, { messages })).message).toMatch(/^The arguments of the tool call 'a' are not valid JSON: /);
});
