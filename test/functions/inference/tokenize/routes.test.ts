import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { load, withChanges } from '../../../support/emulators/tokenizers.ts';
import type { TestKey } from '../../../support/fixtures/create-key.ts';
import { setUpIn, startTokenizeFakes, type TokenizeFakes, tokenizerAnswers } from './tokenize-fixtures.ts';

const local = load(withChanges({}));
const messages = [{ role: 'user', content: 'What is a sluice?' }];

let fakes: TokenizeFakes;
let database: TokenizeFakes['database'];
let lambda: TokenizeFakes['lambda'];
beforeAll(async () => {
  fakes = await startTokenizeFakes();
  ({ database, lambda } = fakes);
});
afterAll(() => fakes.close());

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  tokenizerAnswers(lambda);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const setUp = (fields: Partial<TestKey> = {}) => setUpIn(database, fields);

describe('POST /tokenize', () => {
  test('returns the tokens of a text, their number and the context length', async () => {
    const { call } = await setUp();
    const { status, headers, body } = await call('/tokenize', { prompt: 'The river, 漢字 🙂' });
    const tokens = local.encode('The river, 漢字 🙂', true);
    expect({ status, body }).toEqual({ status: 200, body: { count: tokens.length, max_model_len: 3_000, tokens, token_strs: null } });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-ratelimit-remaining-requests': '99999',
    });
    expect(headers).not.toHaveProperty('x-sluice-ignored');
  });

  test('returns no tokens for an empty text', async () => {
    const { call } = await setUp();
    expect((await call('/tokenize', { prompt: '', messages: null })).body).toMatchObject({ count: 0, tokens: [] });
  });

  test('returns the tokens as the vocabulary spells them, if requested', async () => {
    const { call } = await setUp();
    const { body } = await call('/tokenize', { prompt: 'a river<|im_end|>', return_token_strs: true });
    expect(body.token_strs).toEqual(['a', 'Ġriver', '<|im_end|>']);
  });

  test('returns the tokens of rendered messages, with or without the start of the answer', async () => {
    const { call } = await setUp();
    const rendered = '<|im_start|>user\nWhat is a sluice?<|im_end|>\n';
    const tokensOf = async (body: object) => (await call('/tokenize', { messages, ...body })).body.tokens;
    expect(await tokensOf({})).toEqual(local.encode(`${rendered}<|im_start|>assistant\n`, false));
    expect(await tokensOf({ add_generation_prompt: null })).toEqual(await tokensOf({ add_generation_prompt: true }));
    expect(await tokensOf({ add_generation_prompt: false })).toEqual(local.encode(rendered, false));
  });

  test('adds special tokens to a text but not to messages by default', async () => {
    const { call } = await setUp();
    const addsSpecialTokens = async (body: object): Promise<unknown> => {
      await call('/tokenize', body);
      return JSON.parse(lambda.received.at(-1)?.body ?? '').add_special_tokens;
    };
    expect(await addsSpecialTokens({ prompt: 'a' })).toBe(true);
    expect(await addsSpecialTokens({ prompt: 'a', add_special_tokens: false })).toBe(false);
    expect(await addsSpecialTokens({ messages })).toBe(false);
    expect(await addsSpecialTokens({ messages, add_special_tokens: true })).toBe(true);
  });

  test('accepts messages in every form that chat completions accept, and tools', async () => {
    const { call } = await setUp();
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const history = [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      ...messages,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"far":true}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'A gate.' },
    ];
    const { status, headers } = await call('/tokenize', { messages: history, tools });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('x-sluice-ignored');
    const { input } = JSON.parse(lambda.received.at(-1)?.body ?? '');
    expect(input.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(input.tools).toBe('[{"type":"function","function":{"name":"look","description":null,"parameters":{}}}]');
  });

  test('lists fields that have no effect', async () => {
    const { call } = await setUp();
    const { headers } = await call('/tokenize', { prompt: 'a', wombat: 1, chat_template_kwargs: {}, tools: [], n: null });
    expect(headers['x-sluice-ignored']?.split(', ').sort()).toEqual(['chat_template_kwargs', 'tools', 'wombat']);
  });
});

describe('POST /detokenize', () => {
  test.each(['', 'The river, 漢字 🙂\n', '<|im_start|>user\n\uFEFFHi<|im_end|>'])('returns the text %j', async (text) => {
    const { call } = await setUp();
    const { tokens } = (await call('/tokenize', { prompt: text })).body;
    const { status, headers, body } = await call('/detokenize', { tokens, wombat: 1 });
    expect({ status, body }).toEqual({ status: 200, body: { prompt: text } });
    expect(headers).toMatchObject({ 'x-sluice-ignored': 'wombat', 'x-ratelimit-remaining-requests': expect.any(String) });
  });
});

const large = { tokens_per_minute: 10_000_000, concurrency: 32, requests_per_minute: 600 };

test('accepts the most tokens that a reply can have, and not one more', async () => {
  const { call } = await setUp(large);
  const text = '\u0001'.repeat(240_000);
  const { tokens } = (await call('/tokenize', { prompt: text })).body as { tokens: number[] };
  expect(tokens).toHaveLength(240_000);
  expect((await call('/detokenize', { tokens })).body).toEqual({ prompt: text });
  const refused = { status: 400, param: 'tokens', message: expect.stringContaining('at most 240000 token ids') };
  await expect(call('/detokenize', { tokens: [...tokens, 1] })).rejects.toMatchObject(refused);
});

describe('an invalid request', () => {
  test.each([
    ['/tokenize', {}, 'prompt', /neither/],
    ['/tokenize', { prompt: 'a', messages }, 'prompt', /both/],
    ['/tokenize', { prompt: ['a'] }, 'prompt', /string/],
    ['/tokenize', { messages: [] }, 'messages', /at least one/],
    ['/tokenize', { messages: [{ role: 'user' }] }, 'messages[0].content', /must have content/],
    ['/tokenize', { messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].role', /call/],
    ['/tokenize', { prompt: 'a', add_special_tokens: 'yes' }, 'add_special_tokens', /boolean/],
    ['/tokenize', { model: 'plain', prompt: 'a' }, 'model', /no tokenizer/],
    ['/detokenize', {}, 'tokens', /array of token ids/],
    ['/detokenize', { tokens: 'a' }, 'tokens', /array of token ids/],
    ['/detokenize', { tokens: [1, 'a', 'b'] }, 'tokens[1]', /token id/],
    ['/detokenize', { tokens: [1, 2, -1] }, 'tokens[2]', /token id/],
    ['/detokenize', { tokens: [0.5] }, 'tokens[0]', /token id/],
    ['/detokenize', { tokens: [1, 2, 3_000, 4_000] }, 'tokens[2]', /expected a token id of this model, got 3000/],
    ['/detokenize', { model: 'plain', tokens: [1] }, 'model', /no tokenizer/],
    ['/detokenize', { model: '', tokens: [1] }, 'model', /./],
  ] as const)('is a 400 that names the field: %s %j', async (path, body, param, message) => {
    const { call, inFlight } = await setUp();
    await expect(call(path, body)).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringMatching(message),
      headers: { 'x-ratelimit-remaining-requests': expect.any(String) },
    });
    expect(await inFlight()).toBe(0);
  });

  test('is a 400 for a model without a tokenizer', async () => {
    const { call, events } = await setUp();
    await expect(call('/tokenize', { model: 'plain', prompt: 'a' })).rejects.toMatchObject({ code: 'unsupported_parameter' });
    expect(await events()).toEqual([]);
  });

  test('is a 400 for a text that would take too long', async () => {
    const { call, events } = await setUp(large);
    const long = 'x'.repeat(400_001);
    const refused = (param: string) => ({ status: 400, param, message: expect.stringContaining('400000 bytes') });
    await expect(call('/tokenize', { prompt: long })).rejects.toMatchObject(refused('prompt'));
    await expect(call('/tokenize', { messages: [{ role: 'user', content: long }] })).rejects.toMatchObject(refused('messages'));
    expect(await events()).toEqual(Array(2).fill(expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n })));
  });

  test('is a 400 for a text with too many tokens', async () => {
    const { call, events } = await setUp(large);
    await expect(call('/tokenize', { prompt: 'The river. '.repeat(200_000) })).rejects.toMatchObject({ status: 400, param: 'prompt' });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n })]);
  });
});

describe('the content of a tokenizer request', () => {
  test.each([
    ['/tokenize', { prompt: 'a' }],
    ['/detokenize', { tokens: [1] }],
  ] as const)('is never logged, and accepts only x-sluice-log: off, at %s', async (path, body) => {
    const { call, events } = await setUp();
    const send = (value: string) => call(path, body, undefined, { 'x-sluice-log': value });
    await expect(send('on')).rejects.toMatchObject({ status: 400, param: 'x-sluice-log', code: 'invalid_value' });
    expect((await send('off')).status).toBe(200);
    expect((await call(path, body)).status).toBe(200);
    for (const event of await events()) expect(event).not.toHaveProperty('is_payload_logged');
  });
});
