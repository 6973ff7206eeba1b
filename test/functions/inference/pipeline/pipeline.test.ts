import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ReplyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import { settleQueued } from '../../../../functions/metering/settle-queued.ts';
import { payloadPart } from '../../../../infra/local/sagemaker/frames.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { createInvoke } from '../../../../shared/upstream/invoke.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { type QueuedSettlement, readMessage, toMessage } from '../../../../shared/usage/settlement-queue.ts';
import { startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { openReply } from '../../../support/emulators/open-reply.ts';
import {
  answers,
  END,
  noTokenizer,
  read,
  silentAfter,
  startTestPipeline,
  type TestPipeline,
  text,
} from '../../../support/fixtures/pipeline.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
let logged: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the deadline of a function', () => {
  const cutOff = async (body: object, ...batches: UpstreamChunk[][]) => {
    const { call, events, inFlight } = await pipeline.setUp(silentAfter(...batches));
    const reply = await call({ ...body }, 20_050);
    expect(reply.statusCode).toBe(200);
    const written = typeof reply.body === 'string' ? reply.body : await read(reply);
    expect(await inFlight()).toBe(0);
    return { written, events: await events() };
  };
  const ofElevenBytes = { outcome: 'timed_out', source: 'estimated', finish_reason: 'length', prompt_tokens: 5, completion_tokens: 3 };

  test('ends a stream with `length`, which is billed for what was delivered', async () => {
    const { written, events } = await cutOff({ stream: true, stream_options: { include_usage: true } }, text('Hello there'));
    expect(written).toContain('Hello there');
    expect(written).toContain('"finish_reason":"length"');
    expect(written).toMatch(/"usage":{"prompt_tokens":5,"completion_tokens":3.*\n\ndata: \[DONE\]\n\n$/);
    expect(events).toEqual([expect.objectContaining({ ...ofElevenBytes, cost_nanos: 11n })]);
    expect(events[0]).not.toHaveProperty('error_code');
  });

  test('ends a response without streaming with what there is, and bills it', async () => {
    const { written, events } = await cutOff({}, text('Hello'), text(' there'));
    expect(JSON.parse(written)).toMatchObject({
      choices: [{ message: { content: 'Hello there' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 5, completion_tokens: 3 },
    });
    expect(events).toEqual([expect.objectContaining({ ...ofElevenBytes, cost_nanos: 11n })]);
    expect(events[0]).not.toHaveProperty('error_code');
  });

  test('ends only the choices that have not ended, including one that has not begun', async () => {
    const first: UpstreamChunk[] = [{ choices: [{ index: 1, delta: { content: 'Hello there' }, finish_reason: 'stop' }] }];
    const { written } = await cutOff({ n: 3, temperature: 1 }, first, text('Hi'));
    const { choices } = JSON.parse(written) as { choices: { message: { content: string }; finish_reason: string }[] };
    expect(choices.map(({ message, finish_reason }) => [message.content, finish_reason])).toEqual([
      ['Hi', 'length'],
      ['Hello there', 'stop'],
      ['', 'length'],
    ]);
  });

  test('keeps a response that it cut off under its idempotency key', async () => {
    const { call, events } = await pipeline.setUp(silentAfter(text('Hello there')));
    const headers = { 'idempotency-key': newRequestId(Date.now()) };
    const first = await call({}, 20_050, headers);
    expect(await call({}, 20_050, headers)).toMatchObject({ body: first.body, headers: { 'idempotent-replayed': 'true' } });
    expect(await events()).toHaveLength(1);
  });

  test('bills an answer that it cut off by the model’s own tokenizer', async () => {
    const tokenizer = { ...noTokenizer, count: async () => ({ prompt_tokens: 8, text_tokens: [2] }) };
    const { call, events } = await pipeline.setUp(silentAfter(text('Hello there')), { tokenizer });
    const { body } = await call({ model: 'counted' }, 20_050);
    expect(JSON.parse(body as string).usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 2 });
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'timed_out', prompt_tokens: 8, completion_tokens: 2, cost_nanos: 12n }),
    ]);
  });

  test('ends a response without output with a 503 that suggests streaming, and costs nothing', async () => {
    const { call, events } = await pipeline.setUp(silentAfter());
    await expect(call({}, 20_050)).rejects.toMatchObject({
      status: 503,
      code: 'upstream_timeout',
      message: expect.stringContaining('stream: true'),
    });
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'timed_out', error_code: 'upstream_timeout', prompt_tokens: 0, cost_nanos: 0n }),
    ]);
  });

  test('ends a stream for which nothing was generated with an error event, and costs nothing', async () => {
    const { call, events } = await pipeline.setUp(silentAfter([{ choices: [{ index: 0, delta: { role: 'assistant' } }] }]));
    expect(await read(await call({ stream: true }, 20_050))).toMatch(/"code":"upstream_timeout".*\n\n$/);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', cost_nanos: 0n })]);
  });
});

describe('a request whose caller does not read', () => {
  test('is settled at the deadline, and its reply is closed', async () => {
    const endless: Invoke = async function* ({ signal }) {
      while (!signal.signal.aborted) yield text('x'.repeat(1_000));
      throw new Error('aborted');
    };
    const { call, events, inFlight } = await pipeline.setUp(endless);
    await openReply((await call({ stream: true }, 20_100)).body as ReplyBody).done;
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', source: 'estimated' })]);
    expect((await events())[0]?.completion_tokens).toBeGreaterThan(0);
    expect(await inFlight()).toBe(0);
  });

  test('leaves its idempotency key free, because nothing of it is stored', async () => {
    let calls = 0;
    const endlessAtFirst: Invoke = async function* ({ signal }) {
      calls += 1;
      if (calls > 1) return yield [...text('Hi'), ...END];
      while (!signal.signal.aborted) yield text('x'.repeat(1_000));
      throw new Error('aborted');
    };
    const { call } = await pipeline.setUp(endlessAtFirst);
    const headers = { 'idempotency-key': newRequestId(Date.now()) };
    await openReply((await call({ stream: true }, 20_100, headers)).body as ReplyBody).done;
    expect(await read(await call({ stream: true }, 20_100, headers))).toContain('"content":"Hi"');
  });
});

describe('the caller’s own metadata', () => {
  test.each([
    ['a number beyond 2^53', { id: 2 ** 70 }],
    ['a number that DynamoDB can’t store', { a: 1e-200, b: 1e300 }],
    ['a deep object', JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)],
    ['a lone surrogate', { a: '\udfff' }, { a: '\ufffd' }],
  ])('does not prevent billing: %s', async (_, metadata, kept: unknown = metadata) => {
    const { call, events } = await pipeline.setUp(answers);
    expect((await call({ metadata, user: 'x\ud800' })).statusCode).toBe(200);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'completed', cost_nanos: 11n, metadata: kept, user: 'x\ufffd' })]);
  });
});

describe('the header X-Wait-For-Capacity of a model that is no deployment', () => {
  const calling = async (header: string) => {
    const { call, events } = await pipeline.setUp(answers);
    return { reply: call({}, undefined, { 'X-Wait-For-Capacity': header }), events };
  };

  test('is rejected if it is invalid, as for a deployment', async () => {
    const { reply, events } = await calling('soon');
    await expect(reply).rejects.toMatchObject({ status: 400, param: 'X-Wait-For-Capacity' });
    expect(await events()).toEqual([]);
  });

  test('has no effect if it is valid: its first token counts like any other', async () => {
    expect((await (await calling('280')).reply).statusCode).toBe(200);
    expect(logged.mock.calls.join('')).toContain('"message":"request"');
    expect(logged.mock.calls.join('')).not.toContain('may_wait');
  });
});

describe('a deprecated model', () => {
  test('still answers, and announces its deprecation on every reply', async () => {
    const model = (await pipeline.database.models.list(SERVERLESS_POOL)).get('m') as Model;
    const deprecation = { deprecated_at: 1_795_219_200, sunset_at: 1_805_673_600, successor: 'm' };
    await pipeline.database.models.put(SERVERLESS_POOL, { ...model, name: 'going', deprecation });
    const announced = { deprecation: '@1795219200', sunset: 'Mon, 22 Mar 2027 00:00:00 GMT', 'x-sluice-successor': 'm' };
    const { call } = await pipeline.setUp(answers);
    for (const stream of [false, true]) {
      const reply = await call({ model: 'going', stream });
      expect(reply).toMatchObject({ statusCode: 200, headers: announced });
      if (stream) expect(await read(reply)).toContain('[DONE]');
      const other = await call({ stream });
      expect(other.headers).not.toHaveProperty('deprecation');
      if (stream) await read(other);
    }
    const failing = await pipeline.setUp(silentAfter());
    await expect(failing.call({ model: 'going' }, 20_050)).rejects.toMatchObject({ status: 503, headers: announced });
  });
});

describe('a model without a price in force', () => {
  test('can’t be called', async () => {
    const model = (await pipeline.database.models.list(SERVERLESS_POOL)).get('m') as Model;
    await pipeline.database.models.put(SERVERLESS_POOL, {
      ...model,
      name: 'later',
      prices: [{ version: 'p2', effective_at: Date.now() + 1e9, prompt_nanos: 1, completion_nanos: 1 }],
    });
    const { call, events } = await pipeline.setUp(answers);
    await expect(call({ model: 'later' })).rejects.toMatchObject({
      status: 503,
      code: 'model_not_ready',
      headers: { 'x-should-retry': 'false' },
    });
    expect(await events()).toEqual([]);
  });
});

describe('a fault of our own in an answer', () => {
  test('aborts the model, and the request fails and costs what was delivered', async () => {
    let stopped = false;
    const { call, events, inFlight } = await pipeline.setUp(async function* ({ signal }) {
      signal.signal.addEventListener('abort', () => {
        stopped = true;
      });
      yield text('Hello');
      yield [{ choices: 5 }] as unknown as UpstreamChunk[];
    });
    const body = await read(await call({ stream: true }));
    expect(body).toContain('"code":"internal_error"');
    expect(stopped).toBe(true);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', completion_tokens: 2 })]);
    expect(await inFlight()).toBe(0);
  });
});

describe('a caller that has disconnected', () => {
  test('aborts the model, and is billed for what was delivered until then', async () => {
    const { call, events, inFlight } = await pipeline.setUp(silentAfter(text('Hello there')));
    const { stream, done } = openReply((await call({ stream: true })).body as ReplyBody);
    for await (const chunk of stream) if (String(chunk).includes('Hello')) break;
    await done;
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'client_closed', source: 'estimated', completion_tokens: 3 })]);
    expect(await inFlight()).toBe(0);
  });

  test('pays nothing before the first byte, and leaves nothing in flight', async () => {
    const { call, events, inFlight } = await pipeline.setUp(silentAfter(text('Hello')));
    const reply = await call({ stream: true });
    await (reply.body as ReplyBody).writeTo(new PassThrough().destroy());
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'client_closed', cost_nanos: 0n })]);
    expect(await inFlight()).toBe(0);
  });
});

describe('settlement', () => {
  test('is written before [DONE] is sent', async () => {
    const { call, events, inFlight } = await pipeline.setUp(answers);
    const reply = await call({ stream: true });
    let seen = '';
    for await (const chunk of openReply(reply.body as ReplyBody).stream) {
      seen = String(chunk);
      if (!seen.includes('[DONE]')) continue;
      expect(await events()).toEqual([
        expect.objectContaining({ outcome: 'completed', prompt_tokens: 7, completion_tokens: 2, cost_nanos: 11n, price_version: 'p1' }),
      ]);
      expect(await inFlight()).toBe(0);
    }
    expect(seen).toBe('data: [DONE]\n\n');
  });

  test('is queued with the whole event if it fails, and does not fail the caller', async () => {
    const putIfAbsent = async (): Promise<never> => Promise.reject(new Error('DynamoDB is down'));
    const queued: QueuedSettlement[] = [];
    const settlements = { send: async (settlement: QueuedSettlement) => void queued.push(settlement) };
    const usage = { ...pipeline.database.usage, putIfAbsent };
    const { call, events, inFlight, keyId } = await pipeline.setUp(answers, { usage, settlements });
    expect((await call({ metadata: { a: 'b' }, user: 'u' })).statusCode).toBe(200);
    expect(await inFlight()).toBe(1);
    expect(queued).toEqual([
      {
        limiterId: keyId,
        shards: 1,
        event: expect.objectContaining({ key_id: keyId, outcome: 'completed', cost_nanos: 11n, metadata: { a: 'b' }, user: 'u' }),
      },
    ]);
    expect(String(logged.mock.calls.at(-1)?.[0])).toMatch(/"settlement_queued".*DynamoDB is down/);
    const { database, limiters, usage: stored } = pipeline.database;
    await settleQueued({ database, limiters, usage: stored, now: Date.now }, readMessage(toMessage(queued[0] as QueuedSettlement)));
    expect(await events()).toEqual([queued[0]?.event]);
    expect(await inFlight()).toBe(0);
  });

  test('leaves the request in flight for the sweep if it can’t be queued, and does not fail the caller', async () => {
    let tries = 0;
    const putIfAbsent = async (): Promise<never> => {
      tries++;
      throw new Error('DynamoDB is down');
    };
    const down = { ...pipeline.database.usage, putIfAbsent };
    const { call, events, inFlight } = await pipeline.setUp(answers, { usage: down });
    const reply = await call({});
    expect(reply.statusCode).toBe(200);
    expect(JSON.parse(reply.body as string)).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    expect(await events()).toEqual([]);
    expect(await inFlight()).toBe(1);
    expect(tries).toBe(3);
    expect(String(logged.mock.calls.at(-1)?.[0])).toContain('settlement_failed');
  });

  test('is retried if it fails temporarily', async () => {
    let failures = 1;
    const shaky = {
      ...pipeline.database.usage,
      putIfAbsent: async (event: UsageEvent) =>
        failures-- > 0 ? Promise.reject(new Error('a moment')) : pipeline.database.usage.putIfAbsent(event),
    };
    const { call, events, inFlight } = await pipeline.setUp(answers, { usage: shaky });
    await call({});
    expect(await events()).toHaveLength(1);
    expect(await inFlight()).toBe(0);
  });
});

describe('the request to the upstream', () => {
  test('has the caller’s max_tokens, else the model’s default, never more than its maximum', async () => {
    const sent: number[] = [];
    const { call } = await pipeline.setUp(async function* ({ body }) {
      sent.push((JSON.parse(body) as { max_tokens: number }).max_tokens);
      yield END;
    });
    await call({ max_tokens: 9 });
    await call({ max_tokens: 9, max_completion_tokens: 8 });
    await call({});
    await call({ max_tokens: 32_000 });
    expect(sent).toEqual([9, 8, 50, 100]);
  });
});

describe('numbers in JSON Schemas and arguments', () => {
  const written = (number: string): unknown => (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(number);
  const schema = { properties: { a: { default: written('21.0'), maximum: written('1e3'), minimum: written('-9007199254740993') } } };
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: { a: written('1.0') } } };

  test('reach the runtime and the tokenizer as they were written', async () => {
    let sent = '';
    const asked: string[] = [];
    const runtime: Invoke = async function* ({ body }) {
      sent = body;
      yield [...text('Hello'), ...END];
    };
    const fit: typeof noTokenizer.fit = async ({ prompt }) => {
      asked.push(JSON.stringify(prompt));
      return { prompt_tokens: 5, kept: null };
    };
    const { call: post } = await pipeline.setUp(runtime, { tokenizer: { ...noTokenizer, fit } });
    const messages = [
      { role: 'user', content: 'Hi '.repeat(1_000) },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'Rain.' },
    ];
    const tools = [{ type: 'function', function: { name: 'look', parameters: schema } }];
    expect((await post({ model: 'counted', messages, tools, temperature: written('1.0') })).statusCode).toBe(200);
    expect(sent).toContain('{"default":21.0,"maximum":1e3,"minimum":-9007199254740993}');
    expect(sent).toContain('"arguments":"{\\"a\\":1.0}"');
    expect(sent).toContain('"temperature":1,');
    expect(asked[0]).toContain('{\\"default\\":21.0,\\"maximum\\":1e3,\\"minimum\\":-9007199254740993}');
  });

  test('must be in objects', async () => {
    const { call: post } = await pipeline.setUp(answers);
    const tools = [{ type: 'function', function: { name: 'look', parameters: written('1.0') } }];
    await expect(post({ tools })).rejects.toMatchObject({ status: 400, param: 'tools[0].function.parameters' });
  });
});

describe('a stream whose model is silent', () => {
  const IDLE_SECONDS = 120;
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Counts the callbacks of all timers that are started from now on. */
  const countCallbacks = (): (() => number) => {
    let callbacks = 0;
    for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
      const start = globalThis[name] as (callback: () => void, ...rest: unknown[]) => unknown;
      const counted = (callback: () => void, ...rest: unknown[]): unknown =>
        start(
          () => {
            callbacks += 1;
            callback();
          },
          ...rest,
        );
      Object.assign(globalThis, { [name]: counted });
    }
    return () => callbacks;
  };

  test('wakes its function less than once a second', async () => {
    const sagemaker = await startFakeAws();
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'secret',
    });
    sagemaker.answers((response) => {
      response.write(payloadPart(Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n')));
    });
    const { call } = await pipeline.setUp(createInvoke());
    // Node's own modules keep their timers, so that connections work.
    jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'], advanceTimers: true });
    const callbacks = countCallbacks();
    {
      const reply = await call({ stream: true });
      await using open = openReply(reply.body as ReplyBody);
      const parts = open.stream.setEncoding('utf8')[Symbol.asyncIterator]();
      let written = '';
      while (!written.includes('Hello')) written += (await parts.next()).value;
      const before = callbacks();
      await jest.advanceTimersByTimeAsync(IDLE_SECONDS * 1_000);
      const wakeUps = callbacks() - before;
      // Comments keep the connection open. Without one, the count would count nothing.
      expect(wakeUps).toBeGreaterThan(0);
      expect(wakeUps).toBeLessThan(IDLE_SECONDS);
    }
    await sagemaker.close();
  });
});
