import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import type { TestKey } from '../../../support/fixtures/create-key.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { setUpIn, startTokenizeFakes, type TokenizeFakes, tokenizerAnswers } from './tokenize-fixtures.ts';

let fakes: TokenizeFakes;
let database: TokenizeFakes['database'];
let lambda: TokenizeFakes['lambda'];
beforeAll(async () => {
  fakes = await startTokenizeFakes();
  ({ database, lambda } = fakes);
});
afterAll(() => fakes.close());

const tokenizerFails = (): void =>
  lambda.answers((response) => {
    response.setHeader('x-amz-function-error', 'Unhandled');
    response.end('{"errorType":"Error","errorMessage":"secret details"}');
  });

let logged: string[];
beforeEach(() => {
  logged = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
  tokenizerAnswers(lambda);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const setUp = (fields: Partial<TestKey> = {}, usage: UsageStore = database.usage) => setUpIn(database, fields, usage);

describe('the errors of a tokenizer request', () => {
  test('come in the order 401, 403, 400, 404, 429', async () => {
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
});

describe('an admitted request', () => {
  test.each([
    ['/tokenize', { prompt: 'a river' }],
    ['/detokenize', { tokens: [1, 2] }],
  ] as const)('has one usage event that costs nothing, and releases its reservation: %s', async (path, body) => {
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

  test.each([
    ['/tokenize', { prompt: 'a river' }],
    ['/detokenize', { tokens: [1, 2] }],
  ] as const)('counts in the project of its key, and continues the trace of its caller: %s', async (path, body) => {
    const facts = { project_id: newId('project'), traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
    const { call, events } = await setUp({ project_id: facts.project_id });
    await call(path, body, undefined, { traceparent: facts.traceparent });
    expect(await events()).toEqual([expect.objectContaining(facts)]);
  });

  test('reserves the estimated tokens of its text', async () => {
    const { call } = await setUp({ tokens_per_minute: 10 });
    await expect(call('/tokenize', { prompt: 'x'.repeat(100) })).rejects.toMatchObject({ status: 429 });
    await expect(call('/tokenize', { messages: [{ role: 'user', content: 'x'.repeat(100) }] })).rejects.toMatchObject({ status: 429 });
    await expect(call('/detokenize', { tokens: Array(11).fill(1) })).rejects.toMatchObject({ status: 429 });
  });

  test.each(['/tokenize', '/detokenize'] as const)(
    'is settled if the tokenizer fails, with a 503 that reveals nothing: %s',
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
