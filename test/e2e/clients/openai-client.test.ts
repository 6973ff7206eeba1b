import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { newSecret } from '../../../shared/admission/item/secret.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { eventually } from '../../support/eventually.ts';
import { newId } from '../../support/fixtures/new-id.ts';

describe.each(HOSTS)('the %s host', (name) => {
  let run: HostRun;
  let client: OpenAI;

  beforeAll(async () => {
    run = await startHostRun(name);
    client = clientOf((await run.createKey()).secret);
  });
  afterEach(async () => {
    await run.control('container');
    await run.control('sagemaker');
  });
  afterAll(async () => {
    await run.close();
  });

  const clientOf = (apiKey: string, options: { maxRetries?: number } = {}): OpenAI =>
    new OpenAI({ apiKey, baseURL: `${run.base_url}/v1`, maxRetries: 0, defaultHeaders: run.host.headers, ...options });

  const ask = { model: 'sluice-tiny', messages: [{ role: 'user' as const, content: 'What is a sluice?' }], temperature: 0, max_tokens: 40 };

  describe('the official OpenAI client', () => {
    test('creates a chat completion', async () => {
      const { data, response } = await client.chat.completions.create(ask).withResponse();
      expect(data).toMatchObject({
        object: 'chat.completion',
        model: 'sluice-tiny',
        choices: [{ index: 0, message: { role: 'assistant', refusal: null }, logprobs: null }],
      });
      expect(data.choices[0]?.message.content).toMatch(/\w+ \w+/);
      expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
      expect(data.id).toBe(`chatcmpl-${response.headers.get('x-request-id')?.slice('req_'.length)}`);
      expect(Math.abs(data.created - Date.now() / 1_000)).toBeLessThan(60);
    });

    test('streams the same text as without streaming, with one id, one role and one finish reason', async () => {
      const whole = await client.chat.completions.create(ask);
      const stream = await client.chat.completions.create({ ...ask, stream: true });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(whole.choices[0]?.message.content);
      expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1);
      expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null });
      expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason)).toHaveLength(1);
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
      expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true);
    });

    test('gets the usage of a stream only when it asks for it', async () => {
      const whole = await client.chat.completions.create(ask);
      const stream = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
      const completion = await stream.finalChatCompletion();
      expect(completion.usage).toEqual(whole.usage);
      expect(completion.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    });

    test('gets the same answer for the same seed, and stops at a stop string', async () => {
      const sampled = { ...ask, temperature: 1, seed: 7 };
      const [one, two] = await Promise.all([client.chat.completions.create(sampled), client.chat.completions.create(sampled)]);
      expect(two.choices[0]?.message.content).toBe(one.choices[0]?.message.content);
      const text = one.choices[0]?.message.content as string;
      const stop = text.slice(10, 14);
      const stopped = await client.chat.completions.create({ ...sampled, stop: [stop] });
      expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: text.slice(0, text.indexOf(stop)) } });
    });

    test('finishes with length when max_tokens is reached', async () => {
      const { choices, usage } = await client.chat.completions.create({ ...ask, max_tokens: 3 });
      expect(choices[0]?.finish_reason).toBe('length');
      expect(usage?.completion_tokens).toBe(3);
    });

    test('aborts a stream and is billed for what was generated', async () => {
      const { secret, key_id } = await run.createKey();
      await run.control('container', { token_delay_ms: 100 });
      const stream = await clientOf(secret).chat.completions.create({ ...ask, max_tokens: 30, stream: true });
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
      expect(await run.eventsOf(key_id)).toEqual([]);
      await run.control('container');
      const events = await untilEvents(key_id, 1);
      expect(events.filter(({ stream: streamed }) => streamed)).toEqual([
        expect.objectContaining({ outcome: 'completed', source: 'runtime', completion_tokens: expect.any(Number) }),
      ]);
    });

    test('runs 50 streams at once on a key with two shards', async () => {
      const { secret, key_id } = await run.createKey({ concurrency: 64 });
      const own = clientOf(secret);
      const answers = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const stream = own.chat.completions.stream({
            ...ask,
            temperature: 1,
            seed: i,
            max_tokens: 20,
            stream_options: { include_usage: true },
          });
          return (await stream.finalChatCompletion()).usage?.completion_tokens as number;
        }),
      );
      const events = await run.eventsOf(key_id);
      expect(events).toHaveLength(50);
      expect(events.reduce((sum, event) => sum + event.completion_tokens, 0)).toBe(answers.reduce((sum, tokens) => sum + tokens, 0));
      expect(Object.keys((await run.limiters.whole(key_id))?.fl ?? { missing: true })).toEqual([]);
    });

    test('lists the models', async () => {
      const { data } = await client.models.list();
      const listed = { object: 'model', context_length: 8_192 };
      expect(data).toEqual(
        ['sluice-tiny', 'sluice-tiny-embed', 'sluice-tiny-reasoning', 'sluice-tiny-rerank'].map((id) =>
          expect.objectContaining({ id, ...listed }),
        ),
      );
    });
  });

  /** Waits until the function has settled a request whose caller has gone. */
  const untilEvents = async (keyId: string, count: number) => {
    await eventually(async () => (await run.eventsOf(keyId)).length >= count, `the key has ${count} events`);
    return run.eventsOf(keyId);
  };

  describe('the official OpenAI client, on errors,', () => {
    const failure = async (call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
      try {
        await call;
      } catch (error) {
        return error as InstanceType<typeof OpenAI.APIError>;
      }
      throw new Error('The call succeeded.');
    };

    test('throws AuthenticationError with a string error for a missing, malformed, unknown or wrong key', async () => {
      const { key_id } = await run.createKey();
      const unknown = newSecret(run.host.scope, newId('key')).secret;
      const wrong = newSecret(run.host.scope, key_id).secret;
      for (const key of ['nonsense', unknown, wrong]) {
        const error = await failure(clientOf(key).chat.completions.create(ask));
        expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
        expect(error.requestID).toMatch(/^req_/);
      }
      const response = await fetch(`${run.base_url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(ask) });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: expect.stringContaining('Bearer'),
        code: 'invalid_api_key',
        request_id: response.headers.get('x-request-id'),
      });
    });

    test('throws PermissionDeniedError for a model that the key may not use', async () => {
      const { secret } = await run.createKey({ models: ['another'] });
      const error = await failure(clientOf(secret).chat.completions.create(ask));
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
      expect(error).toMatchObject({ code: 'model_not_allowed', param: 'model' });
    });

    test('throws BadRequestError that names the field', async () => {
      const error = await failure(client.chat.completions.create({ ...ask, temperature: 3 }));
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ param: 'temperature', type: 'invalid_request_error' });
    });

    test('throws BadRequestError for a prompt that is too long', async () => {
      const error = await failure(
        client.chat.completions.create({ ...ask, messages: [{ role: 'user', content: 'river '.repeat(9_000) }] }),
      );
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ code: 'context_length_exceeded', message: expect.stringContaining('8192') });
    });

    test('throws NotFoundError for an unknown model', async () => {
      const error = await failure(client.chat.completions.create({ ...ask, model: 'gpt-99' }));
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
    });

    test('throws RateLimitError with Retry-After and every rate limit header', async () => {
      const { secret } = await run.createKey({ requests_per_minute: 1 });
      await clientOf(secret).chat.completions.create({ ...ask, max_tokens: 1 });
      const error = await failure(clientOf(secret).chat.completions.create(ask));
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ code: 'rate_limit_exceeded', type: 'requests' });
      const headers = Object.fromEntries(error.headers ?? []);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['retry-after-ms'])).toBeGreaterThanOrEqual(1);
      for (const kind of ['requests', 'tokens'])
        for (const fact of ['limit', 'remaining', 'reset']) expect(headers[`x-ratelimit-${fact}-${kind}`]).toBeDefined();
      expect(headers['x-ratelimit-remaining-requests']).toBe('0');
    });

    test('throws InternalServerError (503) with Retry-After when the upstream fails, and retries by itself', async () => {
      await run.control('sagemaker', { cuts: 'whole', fault: { kind: 'throttling', times: 1 } });
      const error = await failure(client.chat.completions.create(ask));
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error).toMatchObject({ status: 503, code: 'no_capacity' });
      expect(error.headers?.get('retry-after')).toMatch(/^\d+$/);
      await run.control('sagemaker', { cuts: 'random', fault: null });
    });

    test('throws APIError after the delivered chunks when a stream fails midway', async () => {
      const { secret, key_id } = await run.createKey();
      await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
      const stream = await clientOf(secret).chat.completions.create({ ...ask, stream: true });
      let text = '';
      const error = await failure(
        (async () => {
          for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
        })(),
      );
      expect(text.length).toBeGreaterThan(0);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ code: 'upstream_error' });
      expect(await run.eventsOf(key_id)).toEqual([
        expect.objectContaining({ outcome: 'upstream_failed', source: 'estimated', completion_tokens: Math.ceil(text.length / 4) }),
      ]);
    });
  });
});
