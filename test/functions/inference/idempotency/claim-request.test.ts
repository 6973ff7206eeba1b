import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { ModelNotFound } from '../../../../shared/models/errors.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { answers, END, read, startTestPipeline, type TestPipeline, text } from '../../../support/fixtures/pipeline.ts';
import { counting } from './counting-upstream.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

const KEY = { 'idempotency-key': 'order-1' };

const textOf = (stream: string): string =>
  stream
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '')
    .join('');

describe('a request repeated with its idempotency key', () => {
  test('gets the first result, and is billed once', async () => {
    const { counted, requestCount } = counting(answers);
    const { call, events, inFlight } = await pipeline.setUp(counted);
    const first = await call({}, 600_000, KEY);
    const again = await call({}, 600_000, KEY);
    expect(again).toMatchObject({ statusCode: 200, body: first.body });
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'content-type': 'application/json' });
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(again.headers['x-sluice-original-request-id']).toBe(first.headers['x-request-id']);
    expect(requestCount()).toBe(1);
    expect(await events()).toHaveLength(1);
    expect(await inFlight()).toBe(0);
  });

  test('has the limits of its key in the reply, also if it is another request', async () => {
    const { counted } = counting(answers);
    const { call } = await pipeline.setUp(counted);
    const { headers } = await call({}, 600_000, KEY);
    const limits = Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-ratelimit-(?:limit|remaining)-requests$/.test(name)));
    expect(Object.keys(limits)).toHaveLength(2);
    expect((await call({}, 600_000, KEY)).headers).toMatchObject(limits);
    await expect(call({ n: 2 }, 600_000, KEY)).rejects.toMatchObject({ status: 422, headers: limits });
  });

  test('gets the first result also if its path ends with a slash', async () => {
    const { counted, requestCount } = counting(answers);
    const { eventOf, serveEvent } = await pipeline.setUp(counted);
    const first = await serveEvent(eventOf({}, KEY));
    const event = eventOf({}, KEY);
    const again = await serveEvent({ ...event, path: `${event.path}/` });
    expect(again).toMatchObject({ statusCode: 200, body: first.body, headers: { 'idempotent-replayed': 'true' } });
    expect(requestCount()).toBe(1);
  });

  test.each([{}, { model: 'unknown' }])('has the limits of its key in the 400 for an invalid idempotency key: %j', async (body) => {
    const { call } = await pipeline.setUp(answers);
    const limited = expect.objectContaining({ 'x-ratelimit-remaining-requests': expect.any(String) });
    const refused = { status: 400, code: 'invalid_idempotency_key', headers: limited };
    await expect(call(body, 600_000, { 'idempotency-key': 'a b' })).rejects.toMatchObject(refused);
  });

  test('is a stream again if the first was a stream', async () => {
    const many: Invoke = async function* () {
      for (const word of ['Hel', 'lo ', 'you']) yield text(word);
      yield END;
    };
    const { counted, requestCount } = counting(many);
    const { call, events } = await pipeline.setUp(counted);
    const body = { stream: true, stream_options: { include_usage: true }, typical_p: 0.5 };
    const first = await call(body, 600_000, KEY);
    const original = await read(first);
    const again = await call(body, 600_000, KEY);
    const repeated = String(again.body);
    expect(again.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-sluice-ignored': first.headers['x-sluice-ignored'],
    });
    expect(textOf(repeated)).toBe('Hello you');
    expect(repeated.endsWith('data: [DONE]\n\n')).toBe(true);
    const last = (stream: string) => JSON.parse((stream.split('\n\n').at(-3) ?? '').slice(6));
    expect(last(repeated)).toEqual(last(original));
    expect(repeated.length).toBeLessThan(original.length);
    expect(requestCount()).toBe(1);
    expect(await events()).toHaveLength(1);
  });

  test('gets its response even if the reply to its claim was lost', async () => {
    const { database } = pipeline;
    const store = createIdempotencyStore(database.database, database.tables.Responses as string, Date.now);
    let isLost = true;
    const idempotency: typeof store = {
      ...store,
      claim: async (request) => {
        const claimed = await store.claim(request);
        if (!isLost) return claimed;
        isLost = false;
        throw new DatabaseUnavailable(new Error('timeout'));
      },
    };
    const { call, events } = await pipeline.setUp(answers, { idempotency });
    await expect(call({}, 600_000, KEY)).rejects.toMatchObject({ status: 503 });
    expect(await call({}, 600_000, KEY)).toMatchObject({ statusCode: 200 });
    expect(await events()).toHaveLength(1);
  });

  test('writes no claim while requests are rejected by limits', async () => {
    const { database } = pipeline;
    const store = createIdempotencyStore(database.database, database.tables.Responses as string, Date.now);
    let claims = 0;
    const claim: typeof store.claim = (request) => {
      claims++;
      return store.claim(request);
    };
    // At one time: a refusal is remembered for only seconds, and the minute's tokens come back meanwhile.
    const nowMs = Date.now();
    const keys = makeCaller(pipeline.database.limiters, () => nowMs);
    const { call } = await pipeline.setUp(answers, { keys, idempotency: { ...store, claim } }, { tokens_per_minute: 70 });
    for (let i = 0; i < 10; i++)
      await call({}, 600_000, { 'idempotency-key': `flood-${i}` }).catch((error) => expect(error).toMatchObject({ status: 429 }));
    // Two were admitted, and the third was the first to be rejected.
    expect(claims).toBe(3);
  });

  test('is a new request without an idempotency key', async () => {
    const { counted, requestCount } = counting(answers);
    const { call, events } = await pipeline.setUp(counted);
    await call({}, 600_000, KEY);
    await call({});
    await call({}, 600_000, { 'Idempotency-Key': 'order-2' });
    expect(requestCount()).toBe(3);
    expect(await events()).toHaveLength(3);
  });

  test('is a 422 with a different body, and invokes no model', async () => {
    const { counted, requestCount } = counting(answers);
    const { call } = await pipeline.setUp(counted);
    await call({}, 600_000, KEY);
    await expect(call({ temperature: 0 }, 600_000, KEY)).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    expect(requestCount()).toBe(1);
  });

  test('gets the first result even if its model was deleted', async () => {
    let isGone = false;
    const inventory = createInventory(pipeline.database.models, SERVERLESS_POOL, Date.now);
    const route: typeof inventory.route = async (name, affinityOf) => {
      if (isGone) throw new ModelNotFound(name);
      return inventory.route(name, affinityOf);
    };
    const { call, keyId } = await pipeline.setUp(answers, { modelsOf: () => ({ ...inventory, route }) });
    const first = await call({}, 600_000, KEY);
    const replayed = async (): Promise<unknown> => {
      const written = jest.spyOn(process.stdout, 'write').mockClear();
      const { headers, body } = await call({}, 600_000, KEY);
      expect(body).toBe(first.body);
      const [line] = written.mock.calls.map(([text]) => JSON.parse(String(text)));
      expect(line).toMatchObject({ request_id: headers['x-request-id'], original_request_id: first.headers['x-request-id'] });
      return [line.message, line.key_id, line.org_id];
    };
    expect(await replayed()).toEqual(['replayed', keyId, wide.org]);
    isGone = true;
    expect(await replayed()).toEqual(['replayed', keyId, wide.org]);
    await expect(call({}, 600_000, { 'idempotency-key': 'order-2' })).rejects.toMatchObject({ status: 404 });
  });

  test('is a 409 that says when to retry while the first is in progress', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow: Invoke = async function* () {
      await held;
      yield text('Hello');
      yield END;
    };
    const { counted, requestCount } = counting(slow);
    const { call, events } = await pipeline.setUp(counted);
    let refused = 0;
    const all = Array.from({ length: 12 }, async () => {
      try {
        return (await call({}, 600_000, KEY)).statusCode;
      } catch (error) {
        expect(error).toMatchObject({ status: 409, code: 'idempotency_in_progress', headers: { 'retry-after': '10' } });
        refused++;
        // All others were rejected while the first was still in progress.
        if (refused === 11) release();
        return 'refused';
      }
    });
    const results = await Promise.all(all);
    expect(results.filter((result) => result === 200)).toHaveLength(1);
    expect(requestCount()).toBe(1);
    expect(await events()).toHaveLength(1);
  });

  test('runs again if the first failed, and both have their usage event', async () => {
    const failing: Invoke = async function* () {
      yield* [];
      throw new Error('The model is away.');
    };
    let isFirst = true;
    const once: Invoke = (invocation) => {
      const invoke = isFirst ? failing : answers;
      isFirst = false;
      return invoke(invocation);
    };
    const { call, events } = await pipeline.setUp(once);
    await expect(call({}, 600_000, KEY)).rejects.toThrow();
    expect(await call({}, 600_000, KEY)).toMatchObject({ statusCode: 200 });
    expect((await events()).map(({ outcome }) => outcome).sort()).toEqual(['completed', 'upstream_failed']);
  });

  test('is admitted again if a limit rejected the first', async () => {
    const { call, events } = await pipeline.setUp(answers, {}, { requests_per_minute: 0 });
    await expect(call({}, 600_000, KEY)).rejects.toMatchObject({ status: 429 });
    await expect(call({}, 600_000, KEY)).rejects.toMatchObject({ status: 429 });
    expect(await events()).toEqual([]);
  });

  test('is a 409 without another charge if the result was too large to store', async () => {
    const noise = Array.from({ length: 120_000 }, (_, i) => ((i * 2_654_435_761) % 2 ** 32).toString(36)).join('');
    const large: Invoke = async function* () {
      yield text(noise);
      yield END;
    };
    const { counted, requestCount } = counting(large);
    const { call, events } = await pipeline.setUp(counted);
    expect((await call({}, 600_000, KEY)).headers).toMatchObject({ 'x-sluice-idempotency': 'not-stored' });
    await expect(call({}, 600_000, KEY)).rejects.toMatchObject({ status: 409, code: 'idempotent_result_not_stored' });
    expect(requestCount()).toBe(1);
    expect(await events()).toHaveLength(1);
  });

  test('is a 409 without another charge if the organization does not allow content to be stored', async () => {
    const { counted, requestCount } = counting(answers);
    const { call, keyId } = await pipeline.setUp(counted);
    await pipeline.database.limiters.configure(keyId, { no_content: true });
    const reply = await call({ stream: true }, 600_000, KEY);
    expect(reply.headers).toMatchObject({ 'x-sluice-idempotency': 'not-stored' });
    expect(await read(reply)).toContain('Hello');
    await expect(call({ stream: true }, 600_000, KEY)).rejects.toMatchObject({ code: 'idempotent_result_not_stored' });
    expect(requestCount()).toBe(1);
  });
});

describe('repeated requests with an idempotency key', () => {
  const NOW = Date.now();
  const TOO_MANY = { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after-ms': '100' } };
  // No time passes in this pipeline.
  const setUpFrozen = () => pipeline.setUp(answers, { keys: makeCaller(pipeline.database.limiters, () => NOW) });

  test('are limited to a hundred at once, whether they are replays or conflicts', async () => {
    const { call, events } = await setUpFrozen();
    await call({}, 600_000, KEY);
    for (let i = 0; i < 50; i++) expect((await call({}, 600_000, KEY)).statusCode).toBe(200);
    for (let i = 0; i < 50; i++) await expect(call({ temperature: 0 }, 600_000, KEY)).rejects.toMatchObject({ status: 422 });
    await expect(call({}, 600_000, KEY)).rejects.toMatchObject(TOO_MANY);
    await expect(call({ temperature: 0 }, 600_000, KEY)).rejects.toMatchObject(TOO_MANY);
    // A request without an idempotency key reads nothing before its admission.
    expect((await call({})).statusCode).toBe(200);
    expect(await events()).toHaveLength(2);
  });

  test('do not count if they are admitted', async () => {
    const { call } = await setUpFrozen();
    for (let i = 0; i < 120; i++) expect((await call({}, 600_000, { 'idempotency-key': `new-${i}` })).statusCode).toBe(200);
  });
});
