import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Dependencies } from '../../../../functions/inference/pipeline/dependencies.ts';
import { createRunShadow } from '../../../../functions/inference/shadow/run-shadow.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createShadowStore, type ShadowRow } from '../../../../shared/deployments/shadow-store.ts';
import type { Model, ModelShadow } from '../../../../shared/models/model.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import {
  answers,
  END,
  noShadow,
  read,
  silentAfter,
  startTestPipeline,
  type TestPipeline,
  text,
} from '../../../support/fixtures/pipeline.ts';

const SECRET_WORD = 'heliotrope';
const OLD = { endpoint: 'old', weight: 100 } as const;
const NEXT = { endpoint: 'next', weight: 1 } as const;

let pipeline: TestPipeline;
let deployment: string;
let lines: string[];
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  deployment = newId('deployment');
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  await transact(pipeline.database.database, [shadows().toCreate(deployment, 1)]);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const shadows = (database: Database = pipeline.database.database) =>
  createShadowStore(database, pipeline.database.tables.Deployments as string);
const report = async (): Promise<ShadowRow> => {
  const row = await shadows().read(deployment, 1);
  if (!row) throw new Error('There is no comparison.');
  return row;
};

interface SetUp {
  shadow?: Partial<ModelShadow> | null;
  change?: Partial<Dependencies>;
  capabilities?: Partial<Model['capabilities']>;
  store?: ReturnType<typeof shadows>;
}

const setUp = async (old: Invoke, next: Invoke, { shadow = {}, change = {}, capabilities = {}, store = shadows() }: SetUp = {}) => {
  const sent: Invocation[] = [];
  const invoke: Invoke = (invocation) => {
    sent.push(invocation);
    return (invocation.target.endpoint === 'next' ? next : old)(invocation);
  };
  const own: ModelShadow = {
    ...{ number: 1, target: NEXT, dialect: 'vllm' as const, percent: 100, max_requests: 100, max_tokens: 100_000 },
    ends_at: Date.now() + 600_000,
    ...shadow,
  };
  const model: Model = {
    ...{ name: 'm', status: 'published', created: 0, task: 'generate', dialect: 'vllm', thinking_variable: 'enable_thinking' },
    capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false, structured_outputs: true, ...capabilities },
    ...{ continuous_usage: false, context_length: 1_000, max_output_tokens: 100, default_output_tokens: 50, default_temperature: 1 },
    ...{ default_top_p: 1, targets: [OLD], fallbacks: [], version: 1 },
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
    deployment: { id: deployment, is_ready: true, ...(shadow && { shadow: own }) },
  } as Model;
  const inventory = {
    list: async () => [model],
    has: async () => true,
    find: async () => model,
    route: async () => ({ model, isShared: false, fallbacks: [] }),
    fallback: async () => undefined,
  };
  const run = createRunShadow({ shadows: store, invoke, now: Date.now });
  const caller = await pipeline.setUp(
    invoke,
    { modelsOf: () => inventory, shadow: async () => run, ...change },
    { tokens_per_minute: 1_000_000 },
  );
  // It waits until the function has ended.
  const send = async (body: Record<string, unknown> = {}, remainingMs?: number): Promise<string> => {
    const reply = await caller.call(body, remainingMs);
    return typeof reply.body === 'string' ? reply.body : read(reply);
  };
  return { ...caller, send, sent, bodies: () => sent.map(({ body }) => JSON.parse(body) as Record<string, unknown>) };
};

// As the client does, an answer that is not read to its end, or fails, aborts its signal.
const says = (content: string): Invoke =>
  async function* ({ signal }) {
    let isRead = false;
    try {
      yield text(content);
      yield END;
      isRead = true;
    } finally {
      if (!isRead) signal.abort();
    }
  };
const fails = (error: Error): Invoke =>
  // biome-ignore lint/correctness/useYield: it has no chunk
  async function* ({ signal }) {
    signal.abort();
    throw error;
  };
const calls = (name: string, written: string): Invoke =>
  async function* () {
    const chunk: UpstreamChunk = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name, arguments: written } }] } }] };
    yield [chunk];
    yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }, ...END.slice(1)];
  };
const NO_COUNTS = { requests: 0, tokens: 0, isUsedUp: false, counts: {} };

// All fields but the ids and times, and what time has given back of the limits.
const comparable = ({ limiter, ...event }: UsageEvent) => ({
  ...Object.fromEntries(Object.entries(event).filter(([name]) => !/(_at|_ms|_id)$/.test(name))),
  inFlight: limiter?.in_flight,
});
const withoutIds = (reply: string): string => reply.replaceAll(/chatcmpl-\w+/g, 'chatcmpl').replaceAll(/"created":\d+/g, '"created":0');

describe('a drawn request', () => {
  test.each([[false], [true]])('is also sent to the next generation, after its reply (stream: %s)', async (stream) => {
    let seen: { inFlight: number; events: number } | undefined;
    const next: Invoke = async function* () {
      seen = { inFlight: await inFlight(), events: (await events()).length };
      yield text('Hello');
      yield END;
    };
    const { send, inFlight, events, sent, bodies } = await setUp(answers, next);
    await send({ stream, temperature: 0 });
    // The event was settled and the reservation released before.
    expect(seen).toEqual({ inFlight: 0, events: 1 });
    expect(sent.map(({ target }) => target.endpoint)).toEqual(['old', 'next']);
    const [{ request_id: first, ...served } = {}, { request_id: second, ...shadowed } = {}] = bodies();
    expect(shadowed).toEqual(served);
    expect(second).not.toBe(first);
    expect(await report()).toMatchObject({
      ...{ requests: 1, tokens: 9 },
      counts: { compared: 1, finish_same: 1, exact_same: 1, shadow_prompt_tokens: 7, shadow_completion_tokens: 2 },
    });
  });

  test.each([[false], [true]])('has the reply and the event that it has without a comparison (stream: %s)', async (stream) => {
    const one = await setUp(answers, says('Different'));
    const other = await setUp(answers, answers, { shadow: null, change: { shadow: noShadow } });
    const body = { stream, ...(stream && { stream_options: { include_usage: true } }) };
    const reply = await one.send(body);
    expect(withoutIds(reply)).toBe(withoutIds(await other.send(body)));
    expect(reply).not.toContain('Different');
    const [event, plain] = [await one.events(), await other.events()];
    expect(event).toHaveLength(1);
    expect(event.map(comparable)).toEqual(plain.map(comparable));
  });

  test.each<[what: string, old: Invoke, next: Invoke, body: Record<string, unknown>, counts: object]>([
    ['other words', says('Hello'), says('Hi'), { temperature: 0 }, { compared: 1, exact_different: 1 }],
    ['broken JSON', says('{"a":1}'), says('{"a":'), { response_format: { type: 'json_object' } }, { compared: 1, schema_serving_only: 1 }],
    [
      'another schema',
      says('{"a":1}'),
      says('{"a":"1"}'),
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', properties: { a: { type: 'integer' } } } },
        },
      },
      { compared: 1, schema_serving_only: 1 },
    ],
    [
      'a tool that was not offered',
      calls('weather', '{}'),
      calls('forecast', '{}'),
      { tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }] },
      { compared: 1, tools_serving_only: 1 },
    ],
    ['an error', answers, fails(new UpstreamFailed('upstream_error', SECRET_WORD)), {}, { failed_failed: 1 }],
    ['no capacity', answers, fails(new UpstreamFailed('no_capacity', '')), {}, { failed_no_capacity: 1 }],
    ['a timeout', answers, fails(new UpstreamFailed('upstream_timeout', '')), {}, { failed_timed_out: 1 }],
    ['too much', answers, says('x'.repeat(1_000_001)), {}, { failed_too_large: 1 }],
  ])('counts %s of the next generation, which the caller does not notice', async (_, old, next, body, counts) => {
    const { send, events } = await setUp(old, next);
    await send({ messages: [{ role: 'user', content: SECRET_WORD }], ...body });
    expect((await report()).counts).toMatchObject(counts);
    expect(await events()).toMatchObject([{ outcome: 'completed' }]);
    expect(lines.join('')).not.toContain(SECRET_WORD);
  });

  test('counts an answer that does not come in time', async () => {
    const { send } = await setUp(answers, silentAfter(text('Hello')));
    // Five seconds are left for the answer.
    await send({}, 15_001);
    expect((await report()).counts).toEqual({ failed_timed_out: 1 });
  }, 20_000);

  test('counts a request that only the next generation rejects', async () => {
    const { send } = await setUp(answers, fails(new RefusedByModel('The prompt is bad.')));
    await send();
    expect((await report()).counts).toEqual({ failed_refused: 1 });
  });

  test('gets the format of the next generation’s runtime', async () => {
    const { send, bodies } = await setUp(answers, answers, { shadow: { dialect: 'llama_cpp' } });
    await send();
    const [served, shadowed] = bodies();
    expect(served).toHaveProperty('request_id');
    expect(shadowed).not.toHaveProperty('request_id');
  });
});

describe('the next generation', () => {
  // The ids are random: with ten percent, no request of a hundred is drawn in one of 40,000 runs.
  const percent = 20;
  test(`gets nothing in about ${100 - percent} of a hundred cases`, async () => {
    const { send, sent } = await setUp(answers, answers, { shadow: { percent, max_requests: 1_000, max_tokens: 1_000_000 } });
    for (let i = 0; i < 100; i++) await send();
    const shadowed = sent.filter(({ target }) => target.endpoint === 'next').length;
    expect(shadowed).toBeGreaterThan(0);
    expect(shadowed).toBeLessThan(45);
    expect((await report()).requests).toBe(shadowed);
  }, 60_000);

  test.each<[what: string, body: Record<string, unknown>, remainingMs: number | undefined, shadow: Partial<ModelShadow>]>([
    ['for a request for two choices', { n: 2, temperature: 1 }, undefined, {}],
    ['after the end of the comparison', {}, undefined, { ends_at: Date.now() - SECOND_MS }],
    ['without time for an answer', {}, 14_000, {}],
  ])('gets nothing %s', async (_, body, remainingMs, shadow) => {
    const { send, sent } = await setUp(answers, answers, { shadow });
    await send(body, remainingMs);
    expect(sent.map(({ target }) => target.endpoint)).toEqual(['old']);
    expect(await report()).toEqual(NO_COUNTS);
  });

  test('gets no request that has failed, or whose answer was cut off', async () => {
    const failing = await setUp(fails(new UpstreamFailed('upstream_error', '')), answers);
    await expect(failing.send()).rejects.toMatchObject({ status: 503 });
    const silent = await setUp(silentAfter(text('Hello')), answers);
    await silent.send({}, 20_050);
    expect(await report()).toEqual(NO_COUNTS);
    expect(silent.sent).toHaveLength(1);
  });

  test('gets no body that is too large', async () => {
    const { send, sent } = await setUp(answers, answers);
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', description: 'x'.repeat(1_000_000) } } }];
    await send({ tools });
    expect(sent).toHaveLength(1);
    expect(await report()).toEqual(NO_COUNTS);
  });

  test('gets nothing once the budget is used, and the environment then writes nothing more', async () => {
    const reserve = jest.fn(shadows().reserve);
    const store = { ...shadows(), reserve };
    const { send, sent, bodies } = await setUp(answers, answers, { shadow: { max_requests: 2 }, store });
    for (let i = 0; i < 5; i++) await send();
    // Each has an id of its own.
    expect(new Set(bodies().map(({ request_id }) => request_id)).size).toBe(7);
    expect(sent.filter(({ target }) => target.endpoint === 'next')).toHaveLength(2);
    expect(reserve).toHaveBeenCalledTimes(3);
    expect(await report()).toMatchObject({ requests: 2, isUsedUp: true, counts: { compared: 2 } });
  });

  test('gets one request at a time from an environment', async () => {
    let release = (): void => undefined;
    let arrived = (): void => undefined;
    const atWork = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const slow: Invoke = async function* () {
      arrived();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      yield END;
    };
    const { send, sent } = await setUp(answers, slow);
    const first = send();
    await atWork;
    await send();
    release();
    await first;
    expect(sent.map(({ target }) => target.endpoint)).toEqual(['old', 'next', 'old']);
    expect((await report()).requests).toBe(1);
  });
});

describe('a failure', () => {
  test('to reserve or record does not reach the caller', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('The database is away.');
    };
    const unreserved = await setUp(answers, answers, { store: { ...shadows(), reserve: failing } });
    expect(JSON.parse(await unreserved.send())).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect(unreserved.sent).toHaveLength(1);
    const unrecorded = await setUp(answers, answers, { store: { ...shadows(), record: failing } });
    await unrecorded.send();
    expect(await report()).toMatchObject({ requests: 1, counts: {} });
    expect(lines.join('')).toContain('shadow_failed');
  });

  test('to load the comparison does not reach the caller', async () => {
    const { send, events } = await setUp(answers, answers, { change: { shadow: noShadow } });
    await send({ stream: true });
    expect(await events()).toMatchObject([{ outcome: 'completed' }]);
  });
});

test('a request without a comparison makes no call of its own and loads nothing', async () => {
  const { database } = pipeline.database;
  const counted = { ...database, update: jest.fn(database.update), put: jest.fn(database.put) };
  const { send, sent, events } = await setUp(answers, answers, { shadow: null, change: { shadow: noShadow }, store: shadows(counted) });
  await send();
  await send({ stream: true });
  expect(sent.map(({ target }) => target.endpoint)).toEqual(['old', 'old']);
  expect(counted.update).not.toHaveBeenCalled();
  expect(counted.put).not.toHaveBeenCalled();
  expect(lines.join('')).not.toContain('shadow');
  expect(await events()).toHaveLength(2);
});
