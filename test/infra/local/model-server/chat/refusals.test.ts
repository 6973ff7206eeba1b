import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, invoke, post, question, refusalOf, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const CHAT = '/v1/chat/completions';
const NO_HANDLER = "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']";

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

describe('the window', () => {
  test('can be filled by max_tokens, but not exceeded', async () => {
    const small = await startContainer({ windowTokens: 40 });
    const prompt = tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]).length;
    const status = async (fields: object) => (await invoke(small, { messages: question, ...fields })).status;
    expect(await status({ max_tokens: 40 - prompt })).toBe(200);
    expect(await status({ max_tokens: 41 - prompt })).toBe(400);
    await small.close();
  });
});

test('rejects invalid JSON in the arguments of an earlier tool call', async () => {
  const call = { id: 'a', type: 'function', function: { name: 'clock', arguments: '{"zone":' } };
  const messages = [...question, { role: 'assistant', content: null, tool_calls: [call] }];
  expect((await refusalOf(container, { messages })).message).toMatch(/^The arguments of the tool call 'a' are not valid JSON: /);
});
