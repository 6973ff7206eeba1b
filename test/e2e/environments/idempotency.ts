import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { TestRun } from '../../support/clients/local-run.ts';
import { environments } from './run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await environments.start();
});

const messages = [{ role: 'user' as const, content: 'Tell me about rivers.' }];
const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${run.base_url}/v1`, maxRetries: 8 });
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } });

describe('an official client that repeats a request', () => {
  test('gets the same chat completion, completion, response and message, streamed or not, and pays once', async () => {
    const { secret, key_id } = await run.createKey();
    const client = clientOf(secret);
    const chat = { model: run.model, messages, max_tokens: 20, temperature: 1 };
    const [first, again] = [await client.chat.completions.create(chat, keyed('a')), await client.chat.completions.create(chat, keyed('a'))];
    expect(again).toEqual(first);
    const streamed = async () => client.chat.completions.stream(chat, keyed('b')).finalChatCompletion();
    const stream = await streamed();
    expect(await streamed()).toEqual(stream);
    const plain = { model: run.model, prompt: 'The river', max_tokens: 12, temperature: 1 };
    expect(await client.completions.create(plain, keyed('c'))).toEqual(await client.completions.create(plain, keyed('c')));
    const body = { model: run.model, input: 'Tell me about harbours.', max_output_tokens: 20, temperature: 1 };
    const response = await client.responses.stream(body, keyed('d')).finalResponse();
    const repeated = await client.responses.stream(body, keyed('d')).finalResponse();
    expect(repeated).toEqual({ ...response, completed_at: repeated.completed_at });
    const kept = await client.responses.retrieve(response.id);
    expect(kept.output.map(({ id }) => id)).toEqual(repeated.output.map(({ id }) => id));
    expect(kept.output_text).toBe(repeated.output_text);
    const anthropic = new Anthropic({ apiKey: secret, baseURL: run.base_url });
    const ask = { model: run.model, messages, max_tokens: 20, temperature: 1 };
    const whole = await anthropic.messages.create(ask, keyed('e'));
    expect(await anthropic.messages.create(ask, keyed('e'))).toEqual(whole);
    const parts = await anthropic.messages.stream(ask, keyed('f')).finalMessage();
    expect(await anthropic.messages.stream(ask, keyed('f')).finalMessage()).toEqual(parts);
    expect((await run.eventsOf(key_id)).map(({ route }) => route).sort()).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/messages',
      '/v1/messages',
      '/v1/responses',
    ]);
  });

  test('retries while the first request is in progress until it gets the result, and pays once', async () => {
    const { secret, key_id } = await run.createKey();
    const client = clientOf(secret);
    await run.control('container', { token_delay_ms: 20 });
    try {
      const chat = { model: run.model, messages, max_tokens: 10, temperature: 1 };
      const answers = await Promise.all(Array.from({ length: 4 }, () => client.chat.completions.create(chat, keyed('a'))));
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    } finally {
      await run.control('container');
    }
    expect(await run.eventsOf(key_id)).toHaveLength(1);
  });
});

describe('the header Idempotency-Key', () => {
  test.each([
    ['with a space', 'a b', 400, 'invalid_idempotency_key'],
    ['that is too long', 'x'.repeat(256), 400, 'invalid_idempotency_key'],
  ])('returns 400 that names the header for a key %s', async (_, key, status, code) => {
    const { secret } = await run.createKey();
    const asking = clientOf(secret).chat.completions.create({ model: run.model, messages }, keyed(key));
    await expect(asking).rejects.toMatchObject({ status, code, param: 'Idempotency-Key' });
  });

  test('returns 422 with another body, and is separate for each API key', async () => {
    const { secret } = await run.createKey();
    const client = clientOf(secret);
    const chat = { model: run.model, messages, max_tokens: 3 };
    await client.chat.completions.create(chat, keyed('a'));
    await expect(client.chat.completions.create({ ...chat, max_tokens: 4 }, keyed('a'))).rejects.toMatchObject({ status: 422 });
    const other = await run.createKey();
    await expect(clientOf(other.secret).chat.completions.create({ ...chat, max_tokens: 4 }, keyed('a'))).resolves.toBeDefined();
  });
});
