import Current from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Zero from 'anthropic-sdk-0';
import { newSecret } from '../../../shared/admission/item/secret.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { newId } from '../../support/fixtures/new-id.ts';

// The majors differ in the header of the key, the version that they send, and their retries. What is called is alike.
const MAJORS = [
  ['1', Current],
  ['0', Zero as unknown as typeof Current],
] as const;

describe.each(HOSTS.flatMap((host) => MAJORS.map(([major, Anthropic]) => ({ host, major, Anthropic }))))(
  "major $major of Anthropic's client, on the $host host,",
  ({ host, Anthropic }) => {
    let run: HostRun;
    let client: Current;

    beforeAll(async () => {
      run = await startHostRun(host);
      client = clientOf((await run.createKey()).secret);
    });
    afterEach(async () => {
      await run.control('container');
      await run.control('sagemaker');
    });
    afterAll(async () => {
      await run.close();
    });

    const clientOf = (apiKey: string): Current =>
      new Anthropic({ apiKey, baseURL: run.base_url, maxRetries: 0, defaultHeaders: run.host.headers });

    // `temperature` is not in the current types; a value is sent nevertheless.
    const ask = {
      model: 'sluice-tiny',
      messages: [{ role: 'user' as const, content: 'What is a sluice?' }],
      temperature: 0,
      max_tokens: 40,
    };
    const thinking = { ...ask, model: 'sluice-tiny-reasoning', max_tokens: 400, thinking: { type: 'adaptive' as const } };
    const textOf = ({ content }: Current.Message): string =>
      content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');

    test('creates a message', async () => {
      const { data, request_id: requestId } = await client.messages.create({ ...ask }).withResponse();
      expect(requestId).toMatch(/^req_/);
      expect(data).toMatchObject({
        id: `msg_${requestId?.slice('req_'.length)}`,
        type: 'message',
        role: 'assistant',
        model: 'sluice-tiny',
        content: [{ type: 'text', text: expect.stringMatching(/\w+ \w+/) }],
        stop_sequence: null,
        usage: { cache_creation_input_tokens: 0 },
      });
      expect(['end_turn', 'max_tokens']).toContain(data.stop_reason);
      expect(data.usage.input_tokens + (data.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0);
    });

    test('streams the same message as without streaming, in order', async () => {
      const whole = await client.messages.create({ ...ask });
      const stream = client.messages.stream({ ...ask });
      const names: string[] = [];
      for await (const { type } of stream) names.push(type);
      const message = await stream.finalMessage();
      const { id: _, ...same } = whole;
      expect(message).toMatchObject({ ...same, usage: { output_tokens: whole.usage.output_tokens } });
      expect(stream.request_id).toMatch(/^req_/);
      expect([...new Set(names)]).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
    });

    const weather = {
      name: 'get_weather',
      description: 'The weather of a place.',
      input_schema: { type: 'object' as const, properties: { place: { type: 'string', enum: ['Delft'] } }, required: ['place'] },
    };
    const question = { role: 'user' as const, content: 'Please use get_weather.' };

    test.each([['sluice-tiny'], ['sluice-tiny-reasoning']])(
      'calls a tool with %s, whole and streamed, and uses its result',
      async (model) => {
        const body = { ...ask, model, tools: [weather], messages: [question] };
        const whole = await client.messages.create(body);
        const streamed = await client.messages.stream(body).finalMessage();
        for (const message of [whole, streamed]) {
          const call = message.content.find((block) => block.type === 'tool_use');
          expect(message.stop_reason).toBe('tool_use');
          expect(call).toMatchObject({ id: expect.stringMatching(/^[\w-]+$/), name: 'get_weather', input: { place: 'Delft' } });
          const result = { type: 'tool_result' as const, tool_use_id: call?.id as string, content: 'Rain in Delft.' };
          const history = [
            question,
            { role: 'assistant' as const, content: message.content },
            { role: 'user' as const, content: [result] },
          ];
          expect(textOf(await client.messages.create({ ...body, messages: history }))).toContain('Rain in Delft.');
        }
      },
    );

    // The current major would send only the new messages to a server that stores conversations.
    test('runs a loop of tools by itself', async () => {
      const tool = { ...weather, run: async () => 'Rain in Delft.', parse: (input: unknown) => input };
      const message = await client.beta.messages.toolRunner({ ...ask, tools: [tool], messages: [question] });
      expect(message.content).toEqual([expect.objectContaining({ text: expect.stringContaining('Rain in Delft.') })]);
    });

    test('gets thinking in blocks of their own, only when it asks for it', async () => {
      const whole = await client.messages.create({ ...thinking });
      expect(whole.content).toEqual([
        { type: 'thinking', thinking: expect.stringMatching(/\w/), signature: expect.stringMatching(/./) },
        expect.objectContaining({ type: 'text' }),
      ]);
      expect((await client.messages.stream({ ...thinking }).finalMessage()).content).toEqual(whole.content);
      const replayed = [
        ...ask.messages,
        { role: 'assistant' as const, content: whole.content },
        { role: 'user' as const, content: 'And a lock?' },
      ];
      expect(textOf(await client.messages.create({ ...thinking, messages: replayed }))).toMatch(/\w/);
      const without = await client.messages.create({ ...ask, model: thinking.model });
      expect(without.content.map(({ type }) => type)).toEqual(['text']);
    });

    test('stops at a stop sequence and names it', async () => {
      const text = textOf(await client.messages.create({ ...ask }));
      const stop = text.slice(10, 14);
      const body = { ...ask, stop_sequences: [stop] };
      for (const message of [await client.messages.create(body), await client.messages.stream(body).finalMessage()]) {
        expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: stop });
        expect(textOf(message)).toBe(text.slice(0, text.indexOf(stop)));
      }
    });

    test('stops at max_tokens, and accepts more than the model can generate', async () => {
      const cut = await client.messages.create({ ...ask, max_tokens: 3 });
      expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } });
      expect((await client.messages.stream({ ...ask, max_tokens: 64_000 }).finalMessage()).stop_reason).toBe('end_turn');
    });

    test('continues a turn that the caller has begun', async () => {
      const begun = [...ask.messages, { role: 'assistant' as const, content: 'A sluice is' }];
      const { content } = await client.messages.create({ ...ask, messages: begun });
      expect(content).toEqual([expect.objectContaining({ type: 'text', text: expect.not.stringMatching(/^A sluice is/) })]);
    });

    test('counts the tokens of a request as they are billed', async () => {
      const { max_tokens: _, temperature: __, ...counted } = { ...ask, system: 'Be brief.' };
      const { input_tokens: count } = await client.messages.countTokens(counted);
      const { usage } = await client.messages.create({ ...counted, max_tokens: 1 });
      expect(usage.input_tokens + (usage.cache_read_input_tokens ?? 0)).toBe(count);
    });

    test('lists the models', async () => {
      const listed = await Array.fromAsync(client.models.list());
      expect(listed).toEqual(
        ['sluice-tiny', 'sluice-tiny-embed', 'sluice-tiny-reasoning', 'sluice-tiny-rerank'].map((id) =>
          expect.objectContaining({ id, type: 'model', display_name: expect.any(String), max_input_tokens: 8_192 }),
        ),
      );
      expect(new Date(listed[0]?.created_at ?? '').getTime()).toBeGreaterThan(0);
      expect(await client.models.retrieve('sluice-tiny')).toMatchObject({ id: 'sluice-tiny', type: 'model' });
    });

    type Failure = InstanceType<typeof Current.APIError>;
    const failure = async (call: Promise<unknown>): Promise<Failure> => {
      try {
        await call;
      } catch (error) {
        return error as Failure;
      }
      throw new Error('The call succeeded.');
    };

    const expectFailure = (error: Failure, status: number, type: string): void => {
      expect(error).toBeInstanceOf(Anthropic.APIError);
      expect(error).toMatchObject({ status, type, requestID: expect.stringMatching(/./) });
      expect(error.error).toEqual({
        type: 'error',
        error: expect.objectContaining({ type, message: expect.stringMatching(/\.$/) }),
        request_id: error.requestID,
      });
    };

    test('throws AuthenticationError for a malformed, unknown or wrong key', async () => {
      const { key_id: keyId } = await run.createKey();
      const unknown = newSecret(run.host.scope, newId('key')).secret;
      const wrong = newSecret(run.host.scope, keyId).secret;
      for (const key of ['nonsense', unknown, wrong]) {
        const error = await failure(clientOf(key).messages.create({ ...ask }));
        expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
        expectFailure(error, 401, 'authentication_error');
      }
    });

    test('throws PermissionDeniedError for a model that the key may not use', async () => {
      const { secret } = await run.createKey({ models: ['another'] });
      const error = await failure(clientOf(secret).messages.create({ ...ask }));
      expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expectFailure(error, 403, 'permission_error');
    });

    test('throws BadRequestError that names the field', async () => {
      const wrong = { ...ask, temperature: 3 };
      const error = await failure(client.messages.create({ ...wrong }));
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expectFailure(error, 400, 'invalid_request_error');
      expect(error.error).toMatchObject({ error: { details: { param: 'temperature' } } });
    });

    test('throws BadRequestError for a prompt that is too long, in the words of Anthropic', async () => {
      const error = await failure(client.messages.create({ ...ask, messages: [{ role: 'user', content: 'river '.repeat(9_000) }] }));
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error.error).toMatchObject({
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(/prompt is too long: \d+ tokens > \d+ maximum/),
          details: { error_code: 'context_length_exceeded' },
        },
      });
    });

    test('throws NotFoundError for an unknown model', async () => {
      const error = await failure(client.messages.create({ ...ask, model: 'claude-99' }));
      expect(error).toBeInstanceOf(Anthropic.NotFoundError);
      expectFailure(error, 404, 'not_found_error');
    });

    test('gets a 402 that it does not retry if the budget is spent', async () => {
      const { secret } = await run.createKey({ total_budget_nanos: 1n });
      const error = await failure(
        new Anthropic({ apiKey: secret, baseURL: run.base_url, defaultHeaders: run.host.headers }).messages.create({ ...ask }),
      );
      expectFailure(error, 402, 'billing_error');
      expect(error.headers?.get('x-should-retry')).toBe('false');
      expect(error.error).toMatchObject({ error: { details: { error_code: 'insufficient_quota' } } });
    });

    test('gets a 413 for a body that is too large, from the function and from the gateway', async () => {
      for (const bytes of [4_750_000, 11_000_000])
        expectFailure(
          await failure(client.messages.create({ ...ask, messages: [{ role: 'user', content: 'x '.repeat(bytes / 2) }] })),
          413,
          'request_too_large',
        );
    });

    test('throws RateLimitError with Retry-After', async () => {
      const { secret } = await run.createKey({ requests_per_minute: 1 });
      await clientOf(secret).messages.create({ ...ask, max_tokens: 1 });
      const error = await failure(clientOf(secret).messages.create({ ...ask }));
      expect(error).toBeInstanceOf(Anthropic.RateLimitError);
      expectFailure(error, 429, 'rate_limit_error');
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
    });

    test('throws InternalServerError (503) if the upstream fails before the first token', async () => {
      await run.control('sagemaker', { cuts: 'whole', fault: { kind: 'throttling' } });
      const error = await failure(client.messages.create({ ...ask }));
      expect(error).toBeInstanceOf(Anthropic.InternalServerError);
      expectFailure(error, 503, 'overloaded_error');
    });

    test('raises an error after the delivered text if a stream breaks off, and the request is charged once', async () => {
      const { secret, key_id: keyId } = await run.createKey();
      await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
      let text = '';
      const stream = clientOf(secret).messages.stream({ ...ask });
      stream.on('text', (delta) => {
        text += delta;
      });
      const error = await failure(stream.finalMessage());
      expect(text.length).toBeGreaterThan(0);
      expect(error).toBeInstanceOf(Anthropic.APIError);
      expect(error.error).toMatchObject({ type: 'error', error: { type: 'api_error', details: { error_code: 'upstream_error' } } });
      expect(await run.eventsOf(keyId)).toEqual([expect.objectContaining({ outcome: 'upstream_failed', source: 'estimated' })]);
    });
  },
);
