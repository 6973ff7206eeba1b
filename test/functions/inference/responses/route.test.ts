import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies, Serve } from '../../../../functions/inference/pipeline/dependencies.ts';
import { serve } from '../../../../functions/inference/pipeline/pipeline.ts';
import type { ReplyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import { createTargetHealth } from '../../../../functions/inference/pipeline/target-health.ts';
import { responses } from '../../../../functions/inference/responses/route.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { InputItemsQuery, listInputItems } from '../../../../shared/responses/input-items.ts';
import { createResponseStore, type ResponseStore, type StoredResponse } from '../../../../shared/responses/response-store.ts';
import { toUpstreamError, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invoke.ts';
import { createCacheSalt } from '../../../../shared/upstream/request-body.ts';
import { makeCaller, wide } from '../../../support/callers.ts';
import { createKey } from '../../../support/create-key.ts';
import { newId } from '../../../support/new-id.ts';
import { openReply } from '../../../support/open-reply.ts';
import {
  answers,
  noCapacity,
  noQueue,
  noTokenizer,
  read,
  silentAfter,
  startTestPipeline,
  type TestPipeline,
  text,
} from '../../../support/pipeline.ts';
import { parseEvents, type Whole } from '../../../support/responses-replies.ts';

let pipeline: TestPipeline;
let store: ResponseStore;
beforeAll(async () => {
  pipeline = await startTestPipeline();
  store = createResponseStore(pipeline.database.database, pipeline.database.tables.Responses as string, Date.now);
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await pipeline.close();
});

interface Caller {
  org?: string;
  kept?: ResponseStore;
  now?: () => number;
  no_content?: true;
}

const setUp = async (invoke: Invoke, { org = wide.org, kept = store, now = Date.now, ...rules }: Caller = {}) => {
  const { database } = pipeline;
  const { secret, key_id } = await createKey(database.limiters, { ...wide, org, ...rules });
  const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
  const deps: Dependencies = {
    host: { scope: 'serverless' },
    modelsOf: () => inventory,
    keys: makeCaller(database.limiters, now),
    usage: database.usage,
    settlements: noQueue,
    tokenizer: noTokenizer,
    invoke,
    health: createTargetHealth(Date.now),
    idempotency: createIdempotencyStore(database.database, database.tables.Responses as string, Date.now),
    cacheSalt: createCacheSalt('secret'),
    capacity: noCapacity,
    now: Date.now,
  };
  const respond = serve('/v1/responses', responses({ structuredOutputs: false, store: kept, now: Date.now }), deps);
  const call = (body: Record<string, unknown>, headers: Record<string, string> = {}, remainingMs = 600_000): ReturnType<Serve> =>
    respond(
      {
        headers: { Authorization: `Bearer ${secret}`, ...headers },
        body: JSON.stringify({ model: 'm', input: 'Hi', ...body }),
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs: Date.now(),
      } as unknown as ApiEvent,
      { getRemainingTimeInMillis: () => remainingMs },
    );
  const create = async (body: Record<string, unknown> = {}): Promise<Whole> => JSON.parse((await call(body)).body as string) as Whole;
  const events = () => database.recentEvents(key_id);
  return { call, create, events, keyId: key_id };
};

/** Answers, and records its requests. */
const listening = () => {
  const sent: { messages: unknown[] }[] = [];
  const invoke: Invoke = async function* (invocation: Invocation) {
    sent.push(JSON.parse(invocation.body as string) as { messages: unknown[] });
    yield* answers(invocation);
  };
  return { sent, invoke };
};

describe('the deadline of a function', () => {
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: { output_tokens: 3 } };

  test('ends a response as incomplete, bills what was generated and keeps it', async () => {
    const { call, events } = await setUp(silentAfter(text('Hello there')));
    const response = JSON.parse((await call({}, {}, 20_050)).body as string) as Whole;
    expect(response).toMatchObject({ ...incomplete, output: [{ status: 'incomplete', content: [{ text: 'Hello there' }] }] });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', completion_tokens: 3 })]);
    expect((await store.get(wide.org, String(response.id)))?.response).toMatchObject(incomplete);
  });

  test('ends a stream as incomplete', async () => {
    const { call, events } = await setUp(silentAfter(text('Hello there')));
    const sent = parseEvents(await read(await call({ stream: true }, {}, 20_050)));
    expect(sent.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', completion_tokens: 3 })]);
  });
});

describe('POST /v1/responses', () => {
  test('answers without streaming, settles, and stores the response', async () => {
    const { create, events } = await setUp(answers);
    const made = await create({ metadata: { a: 'b' } });
    expect(made).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'Hello' }] }],
      usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
    });
    expect(await events()).toEqual([expect.objectContaining({ route: '/v1/responses', outcome: 'completed', prompt_tokens: 7 })]);
    expect((await store.get(wide.org, made.id as string))?.response).toEqual(made);
  });

  test('streams, and stores the response before it sends the last event', async () => {
    const { call } = await setUp(answers);
    const events = parseEvents(await read(await call({ stream: true })));
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { store: true, output: [{ content: [{ text: 'Hello' }] }] } });
    expect((await store.get(wide.org, last?.response.id as string))?.response).toEqual(last?.response);
  });

  test('continues a response with the whole conversation, but without its instructions', async () => {
    const { sent, invoke } = listening();
    const { create } = await setUp(invoke);
    const first = await create({ instructions: 'Old.' });
    const second = await create({ previous_response_id: first.id, input: 'More' });
    await create({ previous_response_id: second.id, input: 'Last', instructions: 'New.' });
    expect(second.previous_response_id).toBe(first.id);
    const turns = (...pairs: string[]) => pairs.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }));
    expect(sent.map(({ messages }) => messages)).toEqual([
      [{ role: 'system', content: 'Old.' }, ...turns('Hi')],
      turns('Hi', 'Hello', 'More'),
      [{ role: 'system', content: 'New.' }, ...turns('Hi', 'Hello', 'More', 'Hello', 'Last')],
    ]);
  });

  test('is a 404 that admits nothing for a response of another organization, or one that was not stored', async () => {
    const own = await setUp(answers);
    const other = await setUp(answers, { org: 'org_other' });
    const missing = { status: 404, code: 'previous_response_not_found' };
    const kept = await own.create();
    await expect(other.call({ previous_response_id: kept.id })).rejects.toMatchObject(missing);
    const unkept = await own.create({ store: false });
    await expect(own.call({ previous_response_id: unkept.id })).rejects.toMatchObject(missing);
    expect(await other.events()).toEqual([]);
    expect(await own.events()).toHaveLength(2);
  });

  test('returns a response that can’t be stored with store: false', async () => {
    const failing = { ...store, put: () => Promise.reject(new Error('no database')) };
    const { create, call, events } = await setUp(answers, { kept: failing });
    expect(await create()).toMatchObject({ status: 'completed', store: false });
    expect(parseEvents(await read(await call({ stream: true }))).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { store: false },
    });
    expect(await events()).toHaveLength(2);
  });

  test('returns a response that is deleted while in progress with store: false, and does not store it', async () => {
    const { call } = await setUp(async function* () {
      yield text('Hel');
      await deleted;
      yield* answers({} as Invocation);
    });
    let isDeleted = (): void => undefined;
    const deleted = new Promise<void>((resolve) => (isDeleted = resolve));
    const { stream } = openReply((await call({ stream: true })).body as ReplyBody);
    let events = '';
    for await (const part of stream) {
      events += part;
      const [id] = /resp_[0-9A-Za-z]+/.exec(events) ?? [];
      if (id) expect(await store.delete(wide.org, id)).toBe(false);
      isDeleted();
    }
    const last = parseEvents(events).at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { store: false } });
    expect(await store.get(wide.org, last?.response.id as string)).toBeUndefined();
  });

  test('ends a stream that fails with response.failed, settles it, and stores nothing', async () => {
    const { call, events } = await setUp(async function* () {
      yield text('Hel');
      throw new UpstreamFailed('upstream_error', 'broken');
    });
    const last = parseEvents(await read(await call({ stream: true }))).at(-1);
    expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'upstream_error' } } });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed' })]);
    expect(await store.get(wide.org, last?.response.id as string)).toBeUndefined();
  });

  test('uses its own field names in the errors of the runtime', async () => {
    const OriginalMessage = 'This model has a maximum context length of 9 tokens.';
    const { call } = await setUp(({ names }) => {
      throw toUpstreamError(Object.assign(new Error(), { name: 'ModelError', facts: { OriginalStatusCode: 400, OriginalMessage } }), names);
    });
    await expect(call({})).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' });
  });

  test('reports the sampling that was sent: its own, or the model’s default', async () => {
    const model = (await pipeline.database.models.list(SERVERLESS_POOL)).get('m') as Model;
    await pipeline.database.models.put(SERVERLESS_POOL, { ...model, name: 'cool', default_temperature: 0.6, default_top_p: 0.95 });
    const { sent, invoke } = listening();
    const { create } = await setUp(invoke);
    const cases: [Record<string, unknown>, object][] = [
      [{}, { temperature: 1, top_p: 1 }],
      [{ model: 'cool' }, { temperature: 0.6, top_p: 0.95 }],
      [
        { model: 'cool', temperature: 0, top_p: null },
        { temperature: 0, top_p: 0.95 },
      ],
    ];
    for (const [body, sampling] of cases) {
      expect(await create(body)).toMatchObject(sampling);
      expect(sent.at(-1)).toMatchObject(sampling);
    }
  });

  test('reports a user only if the request has one', async () => {
    const { create } = await setUp(answers);
    expect(await create({ user: null })).not.toHaveProperty('user');
    expect(await create({ user: 'u' })).toHaveProperty('user', 'u');
  });

  test('lists ignored fields and tools in a header', async () => {
    const { call } = await setUp(answers);
    const { headers } = await call({ tools: [{ type: 'web_search' }], client_metadata: {} });
    expect(headers['x-sluice-ignored']).toBe('client_metadata, tools.web_search');
  });

  test.each([
    ['background', { background: true }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }] }],
  ])('is a 400 that names %s', async (param, body) => {
    const { call } = await setUp(answers);
    await expect(call(body)).rejects.toMatchObject({ status: 400, param });
  });
});

describe('an item reference', () => {
  test('is replaced by the item, if it is in a response of the same organization', async () => {
    const { sent, invoke } = listening();
    const { create, call } = await setUp(invoke);
    const { output } = await create();
    const reference = { type: 'item_reference', id: output[0]?.id };
    await create({ input: [{ role: 'user', content: 'Hi' }, reference, { role: 'user', content: 'And then?' }] });
    expect(sent.at(-1)?.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And then?' },
    ]);
    const stranger = await setUp(invoke, { org: 'org_other' });
    for (const input of [[reference], [{ ...reference, id: 'msg_nothing_0' }], [{ ...reference, id: 'x' }]]) {
      const asking = input[0]?.id === reference.id ? stranger.call : call;
      await expect(asking({ input: [{ role: 'user', content: 'Hi' }, ...input] })).rejects.toMatchObject({
        status: 404,
        code: 'item_not_found',
        param: 'input[1].id',
      });
    }
  });

  test('can name an input item, with the id that it is listed with', async () => {
    const { sent, invoke } = listening();
    const { create, call } = await setUp(invoke);
    const { id } = await create({
      input: [
        { role: 'user', content: 'One' },
        { role: 'user', id: 'msg_own', content: 'Two' },
      ],
    });
    const listed = listInputItems((await store.get(wide.org, id as string)) as StoredResponse, InputItemsQuery.parse({ order: 'asc' }));
    const [first, second] = (listed.data as { id: string }[]).map((item) => ({ type: 'item_reference', id: item.id }));
    await create({ input: [first, { role: 'user', content: 'And?' }] });
    expect(sent.at(-1)?.messages).toEqual(['One', 'And?'].map((content) => ({ role: 'user', content })));
    // An id that the caller chose does not tell which response has the item.
    await expect(call({ input: [second] })).rejects.toMatchObject({ status: 404, param: 'input[0].id' });
  });

  test('is a 400 if it repeats more characters than a body may have', async () => {
    const { create, call } = await setUp(answers);
    const { id } = await create({ input: [{ role: 'user', content: 'a'.repeat(100_000) }] });
    const reference = { type: 'item_reference', id: `${(id as string).replace('resp_', 'item_')}_0` };
    const refer = (times: number) => call({ input: Array(times).fill(reference) });
    expect((await refer(2)).statusCode).toBe(200);
    await expect(refer(50)).rejects.toMatchObject({ status: 400, param: 'input', message: expect.stringContaining('4000000 characters') });
  });

  test('is a 400 if there are references to too many responses', async () => {
    const { call } = await setUp(answers);
    const input = Array.from({ length: 33 }, (_, i) => ({ type: 'item_reference', id: `msg_${i}_0` }));
    await expect(call({ input })).rejects.toMatchObject({ status: 400, param: 'input' });
  });
});

/** The ids of all rows of an organization or a key that have a content. */
const rowsWithContent = async (owner: string): Promise<string[]> => {
  const { sdk, tables } = pipeline.database;
  const { Items = [] } = await sdk.scan({ TableName: tables.Responses as string });
  return Items.flatMap(({ id, content }) => (content !== undefined && String(id).includes(owner) ? [String(id)] : []));
};

const IDEMPOTENT = { 'idempotency-key': 'order-1' };
const NOT_STORED = { status: 409, code: 'idempotent_result_not_stored' };

describe('content that must not be stored', () => {
  test('is not stored for a key with no_content: its responses have store: false', async () => {
    const { create, call, events } = await setUp(answers, { no_content: true });
    const made = await create({ store: true });
    expect(made).toMatchObject({ status: 'completed', store: false });
    expect(await store.get(wide.org, made.id as string)).toBeUndefined();
    const streamed = parseEvents(await read(await call({ stream: true })));
    expect(streamed.flatMap(({ response }) => (response ? [response.store] : []))).toEqual([false, false, false]);
    expect(await store.get(wide.org, streamed.at(-1)?.response.id as string)).toBeUndefined();
    expect(await events()).toHaveLength(2);
  });

  test('does not prevent a key with no_content from continuing a stored response of its organization', async () => {
    const { id } = await (await setUp(answers)).create();
    const { create } = await setUp(answers, { no_content: true });
    const made = await create({ previous_response_id: id });
    expect(made).toMatchObject({ previous_response_id: id, store: false });
    expect(await store.get(wide.org, made.id as string)).toBeUndefined();
  });

  test.each([
    ['without streaming', false],
    ['streamed', true],
  ])('with store: false leaves the claim of its idempotency key, but no result (%s)', async (_, stream) => {
    const { call, events, keyId } = await setUp(answers);
    const reply = await call({ store: false, stream }, IDEMPOTENT);
    expect(reply.headers).toMatchObject({ 'x-sluice-idempotency': 'not-stored' });
    if (stream) await read(reply);
    await expect(call({ store: false, stream }, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect(await events()).toHaveLength(1);
    expect(await rowsWithContent(keyId)).toEqual([]);
  });
});

describe('a deleted response', () => {
  test.each([
    ['without streaming', false],
    ['streamed', true],
  ])('is not replayed under its idempotency key, and nothing of it stays in the table (%s)', async (_, stream) => {
    const org = newId('organization');
    const { call, events, keyId } = await setUp(answers, { org });
    const first = await call({ stream }, IDEMPOTENT);
    const body = stream ? await read(first) : (first.body as string);
    const [id = ''] = /resp_[0-9A-Za-z]+/.exec(body) ?? [];
    expect(String((await call({ stream }, IDEMPOTENT)).body)).toContain(id);
    expect(await store.delete(org, id)).toBe(true);
    await expect(call({ stream }, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await rowsWithContent(org)), ...(await rowsWithContent(keyId))]).toEqual([]);
    expect(await events()).toHaveLength(1);
  });

  test('is not stored under its idempotency key if it is deleted between its two writes', async () => {
    const org = newId('organization');
    const kept: ResponseStore = {
      ...store,
      put: async (...stored) => {
        const outcome = await store.put(...stored);
        expect(await store.delete(org, stored[1].response.id)).toBe(true);
        return outcome;
      },
    };
    const { call, keyId } = await setUp(answers, { org, kept });
    expect(await call({}, IDEMPOTENT)).toMatchObject({ statusCode: 200, headers: { 'x-sluice-idempotency': 'not-stored' } });
    await expect(call({}, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await rowsWithContent(org)), ...(await rowsWithContent(keyId))]).toEqual([]);
  });

  test('is deleted completely if the first try breaks off between its writes', async () => {
    const org = newId('organization');
    const { database, tables } = pipeline.database;
    let writes = 0;
    const breaking: typeof database = {
      ...database,
      put: async (input) => {
        if (writes++ === 1) throw new DatabaseUnavailable(new Error('outage'));
        return database.put(input);
      },
    };
    const { call, keyId } = await setUp(answers, { org });
    const { id } = JSON.parse((await call({}, IDEMPOTENT)).body as string) as { id: string };
    await expect(createResponseStore(breaking, tables.Responses as string, Date.now).delete(org, id)).rejects.toMatchObject({
      status: 503,
    });
    expect(await store.delete(org, id)).toBe(true);
    await expect(call({}, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await rowsWithContent(org)), ...(await rowsWithContent(keyId))]).toEqual([]);
  });
});

describe('a key that refers to stored responses too often', () => {
  test.each([
    ['previous_response_id', { previous_response_id: 'resp_none' }],
    ['an item reference', { input: [{ type: 'item_reference', id: 'msg_none_0' }] }],
  ])('gets a 429 for %s, but not for requests that read nothing', async (_, body) => {
    const nowMs = Date.now();
    const { call } = await setUp(answers, { now: () => nowMs });
    for (let i = 0; i < 100; i++) await expect(call(body)).rejects.toMatchObject({ status: 404 });
    await expect(call(body)).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after-ms': '100' } });
    expect((await call({})).statusCode).toBe(200);
  });

  test('is not limited in requests that are admitted', async () => {
    const nowMs = Date.now();
    const { call, create } = await setUp(answers, { now: () => nowMs });
    const { id } = await create();
    for (let i = 0; i < 110; i++) expect((await call({ previous_response_id: id, store: false })).statusCode).toBe(200);
  });
});
