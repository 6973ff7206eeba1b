import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { detokenize, tokenize } from '../../../../functions/inference/tokenize/routes.ts';
import { answer } from '../../../../functions/tokenizer/answer.ts';
import { createTokenizers } from '../../../../functions/tokenizer/tokenizers.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { TokenizerQuestion } from '../../../../shared/tokens/questions.ts';
import { createTokenizer } from '../../../../shared/tokens/tokenizer.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import { makeCaller, wide } from '../../../support/callers.ts';
import { createKey, type TestKey } from '../../../support/create-key.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { startFakeLambda } from '../../../support/fake-lambda.ts';
import { load, texts, withChanges } from '../../../support/tokenizers.ts';

const local = load(withChanges({}));
const messages = [{ role: 'user', content: 'What is a sluice?' }];

let database: TestDatabase;
let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
beforeAll(async () => {
  database = await startTestDatabase();
  lambda = await startFakeLambda();
  const common = {
    status: 'published' as const,
    created: 0,
    context_length: 3_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    targets: [{ endpoint: 'e' }] as [{ endpoint: string }],
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
  };
  await database.models.put(SERVERLESS_POOL, { ...common, name: 'plain' });
  await database.models.put(SERVERLESS_POOL, {
    ...common,
    name: 'm',
    tokenizer: { tokenizer: 'tokenizer', chat_template: 'chatTemplate' },
  });
});
afterAll(async () => {
  await lambda.close();
  await database.close();
});

const tokenizers = createTokenizers(async (key) => texts[key as keyof typeof texts]);
/** The function `tokenizer`, as Lambda runs it. */
const tokenizerAnswers = (): void =>
  lambda.answers(async (response) => {
    const question = TokenizerQuestion.parse(JSON.parse(lambda.received.at(-1)?.body ?? ''));
    response.end(JSON.stringify(await answer(tokenizers, question)));
  });
const tokenizerFails = (): void =>
  lambda.answers((response) => {
    response.setHeader('x-amz-function-error', 'Unhandled');
    response.end('{"errorType":"Error","errorMessage":"secret details"}');
  });

let logged: string[];
beforeEach(() => {
  logged = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
  tokenizerAnswers();
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Answered {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** A new key, and calls with it. */
const setUp = async (fields: Partial<TestKey> = {}, usage: UsageStore = database.usage) => {
  const { secret, key_id } = await createKey(database.limiters, { ...wide, ...fields });
  const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
  const deps = {
    host: { scope: 'serverless' as const },
    modelsOf: () => inventory,
    keys: makeCaller(database.limiters, Date.now),
    usage,
    tokenizer: createTokenizer('the-tokenizer'),
    now: Date.now,
  };
  const routes = { '/tokenize': tokenize('/tokenize', deps), '/detokenize': detokenize('/detokenize', deps) };
  const clock = { getRemainingTimeInMillis: () => 60_000 };
  const call = async (path: keyof typeof routes, body: object | string, authorization = `Bearer ${secret}`): Promise<Answered> => {
    const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body });
    const event = {
      headers: { authorization },
      body: text,
      path,
      requestContext: {},
      requestId: newRequestId(Date.now()),
      receivedAtMs: Date.now(),
    };
    const { statusCode, headers, body: reply } = await routes[path](event as unknown as ApiEvent, clock);
    return { status: statusCode, headers, body: JSON.parse(String(reply)) as Record<string, unknown> };
  };
  const events = () => database.recentEvents(key_id);
  const inFlight = async (): Promise<number> => Object.keys((await database.limiters.get(key_id))?.fl ?? {}).length;
  return { call, events, inFlight };
};

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

  test('an empty text has no tokens', async () => {
    const { call } = await setUp();
    expect((await call('/tokenize', { prompt: '', messages: null })).body).toMatchObject({ count: 0, tokens: [] });
  });

  test('returns the tokens as the vocabulary spells them, if requested', async () => {
    const { call } = await setUp();
    const { body } = await call('/tokenize', { prompt: 'a river<|im_end|>', return_token_strs: true });
    expect(body.token_strs).toEqual(['a', 'Ġriver', '<|im_end|>']);
  });

  test('returns the tokens of messages rendered with the chat template, with or without the start of the answer', async () => {
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
    expect(input.tools).toEqual(tools);
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

/** A key for millions of tokens. */
const large = { tokens_per_minute: 10_000_000, concurrency: 32, requests_per_minute: 600 };

test('the most tokens that a reply can have can be sent back, one more can’t', async () => {
  const { call } = await setUp(large);
  const text = '\u0001'.repeat(240_000);
  const { tokens } = (await call('/tokenize', { prompt: text })).body as { tokens: number[] };
  expect(tokens).toHaveLength(240_000);
  expect((await call('/detokenize', { tokens })).body).toEqual({ prompt: text });
  const refused = { status: 400, param: 'tokens', message: expect.stringContaining('at most 240000 token ids') };
  await expect(call('/detokenize', { tokens: [...tokens, 1] })).rejects.toMatchObject(refused);
});

describe('an invalid request is a 400 that names the field:', () => {
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
    ['/detokenize', { tokens: [1, 2, 3_000, 4_000] }, 'tokens[2]', /3000 is not a token id/],
    ['/detokenize', { model: 'plain', tokens: [1] }, 'model', /no tokenizer/],
    ['/detokenize', { model: '', tokens: [1] }, 'model', /./],
  ] as const)('%s %j', async (path, body, param, message) => {
    const { call, inFlight } = await setUp();
    await expect(call(path, body)).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringMatching(message),
      headers: { 'x-ratelimit-remaining-requests': expect.any(String) },
    });
    expect(await inFlight()).toBe(0);
  });

  test('a model without a tokenizer', async () => {
    const { call, events } = await setUp();
    await expect(call('/tokenize', { model: 'plain', prompt: 'a' })).rejects.toMatchObject({ code: 'unsupported_parameter' });
    expect(await events()).toEqual([]);
  });

  test('a text that would take too long', async () => {
    const { call, events } = await setUp(large);
    const long = 'x'.repeat(400_001);
    const refused = (param: string) => ({ status: 400, param, message: expect.stringContaining('400000 bytes') });
    await expect(call('/tokenize', { prompt: long })).rejects.toMatchObject(refused('prompt'));
    await expect(call('/tokenize', { messages: [{ role: 'user', content: long }] })).rejects.toMatchObject(refused('messages'));
    expect(await events()).toEqual(Array(2).fill(expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n })));
  });

  test('a text with too many tokens', async () => {
    const { call, events } = await setUp(large);
    await expect(call('/tokenize', { prompt: 'The river. '.repeat(200_000) })).rejects.toMatchObject({ status: 400, param: 'prompt' });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n })]);
  });
});

test('errors come in the order 401, 403, 400, 404, 429', async () => {
  const limited = await setUp({ models: ['m', 'gone'], requests_per_minute: 0 });
  const narrow = await setUp({ models: ['another'] });
  for (const path of ['/tokenize', '/detokenize'] as const) {
    const right = { prompt: 'a', tokens: [1] };
    await expect(limited.call(path, '{', 'Bearer nonsense')).rejects.toMatchObject({ status: 401 });
    await expect(limited.call(path, right, '')).rejects.toMatchObject({ status: 401 });
    await expect(narrow.call(path, right)).rejects.toMatchObject({ status: 403 });
    await expect(narrow.call(path, { prompt: 1, tokens: 1 })).rejects.toMatchObject({ status: 403 });
    await expect(limited.call(path, '{')).rejects.toMatchObject({ status: 400 });
    await expect(limited.call(path, { ...right, model: 'gone' })).rejects.toMatchObject({ status: 404 });
    await expect(limited.call(path, right)).rejects.toMatchObject({ status: 429, headers: { 'x-ratelimit-limit-requests': '0' } });
  }
  expect([...(await limited.events()), ...(await narrow.events())]).toEqual([]);
});

describe('an admitted request', () => {
  test.each([
    ['/tokenize', { prompt: 'a river' }],
    ['/detokenize', { tokens: [1, 2] }],
  ] as const)('%s has one usage event that costs nothing, and releases its reservation', async (path, body) => {
    const { call, events, inFlight } = await setUp({ concurrency: 1, tokens_per_minute: 10 });
    for (let i = 0; i < 6; i++) expect((await call(path, body)).status).toBe(200);
    const event = {
      model: 'm',
      route: path,
      prompt_tokens: 0,
      completion_tokens: 0,
      source: 'runtime',
      outcome: 'completed',
      cost_nanos: 0n,
      price_version: null,
      finish_reason: null,
      stream: false,
    };
    expect(await events()).toEqual(Array(6).fill(expect.objectContaining(event)));
    expect(await inFlight()).toBe(0);
  });

  test('reserves the estimated tokens of its text', async () => {
    const { call } = await setUp({ tokens_per_minute: 10 });
    await expect(call('/tokenize', { prompt: 'x'.repeat(100) })).rejects.toMatchObject({ status: 429 });
    await expect(call('/tokenize', { messages: [{ role: 'user', content: 'x'.repeat(100) }] })).rejects.toMatchObject({ status: 429 });
    await expect(call('/detokenize', { tokens: Array(11).fill(1) })).rejects.toMatchObject({ status: 429 });
  });

  test.each(['/tokenize', '/detokenize'] as const)(
    '%s is settled if the tokenizer fails, with a 503 that reveals nothing',
    async (path) => {
      tokenizerFails();
      const { call, events, inFlight } = await setUp();
      const error = await call(path, { ...(path === '/tokenize' ? { prompt: 'a' } : { tokens: [1] }), wombat: 1 }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1', 'x-sluice-ignored': 'wombat', 'x-ratelimit-limit-requests': expect.any(String) },
      });
      expect((error as Error).message).not.toContain('secret');
      expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n, route: path })]);
      expect(await inFlight()).toBe(0);
    },
  );

  test('gets its reply even if the settlement fails, which is logged with the whole event', async () => {
    const away = { ...database.usage, putIfAbsent: () => Promise.reject(new Error('away')) };
    const { call } = await setUp({}, away);
    expect((await call('/tokenize', { prompt: 'a' })).status).toBe(200);
    expect(logged.join('')).toMatch(/"settlement_failed".*"route":"\/tokenize"/);
  });

  test('is logged without its text', async () => {
    const { call } = await setUp();
    await call('/tokenize', { prompt: 'confidential rivers' });
    expect(logged.join('')).toContain('"route":"/tokenize"');
    expect(logged.join('')).not.toContain('confidential');
  });
});
