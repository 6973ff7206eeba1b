import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ReplyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { toUpstreamError, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation } from '../../../../shared/upstream/invocation.ts';
import { parseEvents, type Whole } from '../../../support/clients/responses-replies.ts';
import { openReply } from '../../../support/emulators/open-reply.ts';
import { wide } from '../../../support/fixtures/callers.ts';
import { answers, read, silentAfter, text } from '../../../support/fixtures/pipeline.ts';
import { listening, type ResponsesRoute, startResponsesRoute } from './route-fixtures.ts';

let route: ResponsesRoute;
beforeAll(async () => {
  route = await startResponsesRoute();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => route.close());

describe('the deadline of a function', () => {
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: { output_tokens: 3 } };

  test('ends a response as incomplete, bills what was generated and keeps it', async () => {
    const { call, events } = await route.setUp(silentAfter(text('Hello there')));
    const response = JSON.parse((await call({}, {}, 20_050)).body as string) as Whole;
    expect(response).toMatchObject({ ...incomplete, output: [{ status: 'incomplete', content: [{ text: 'Hello there' }] }] });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', completion_tokens: 3 })]);
    expect((await route.store.get(wide.org, String(response.id)))?.response).toMatchObject(incomplete);
  });

  test('advises to lower max_output_tokens, by that name, if nothing was generated', async () => {
    const { call } = await route.setUp(silentAfter());
    const message = expect.stringContaining('Lower max_output_tokens. The limit');
    await expect(call({}, {}, 20_050)).rejects.toMatchObject({ status: 503, code: 'upstream_timeout', message });
  });

  test('ends a stream as incomplete', async () => {
    const { call, events } = await route.setUp(silentAfter(text('Hello there')));
    const sent = parseEvents(await read(await call({ stream: true }, {}, 20_050)));
    expect(sent.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', completion_tokens: 3 })]);
  });
});

describe('POST /v1/responses', () => {
  test('answers without streaming, settles, and stores the response', async () => {
    const { create, events } = await route.setUp(answers);
    const made = await create({ metadata: { a: 'b' } });
    expect(made).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'Hello' }] }],
      usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
    });
    expect(await events()).toEqual([expect.objectContaining({ route: '/v1/responses', outcome: 'completed', prompt_tokens: 7 })]);
    expect((await route.store.get(wide.org, made.id as string))?.response).toEqual(made);
  });

  test('streams, and stores the response before it sends the last event', async () => {
    const { call } = await route.setUp(answers);
    const events = parseEvents(await read(await call({ stream: true })));
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { store: true, output: [{ content: [{ text: 'Hello' }] }] } });
    expect((await route.store.get(wide.org, last?.response.id as string))?.response).toEqual(last?.response);
  });

  test('continues a response with the whole conversation, but without its instructions', async () => {
    const { sent, invoke } = listening();
    const { create } = await route.setUp(invoke);
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
    const own = await route.setUp(answers);
    const other = await route.setUp(answers, { org: 'org_other' });
    const missing = { status: 404, code: 'previous_response_not_found' };
    const stored = await own.create();
    await expect(other.call({ previous_response_id: stored.id })).rejects.toMatchObject(missing);
    const unkept = await own.create({ store: false });
    await expect(own.call({ previous_response_id: unkept.id })).rejects.toMatchObject(missing);
    expect(await other.events()).toEqual([]);
    expect(await own.events()).toHaveLength(2);
  });

  test('returns a response that can’t be stored with store: false', async () => {
    const failing = { ...route.store, put: () => Promise.reject(new Error('no database')) };
    const { create, call, events } = await route.setUp(answers, { responseStore: failing });
    expect(await create()).toMatchObject({ status: 'completed', store: false });
    expect(parseEvents(await read(await call({ stream: true }))).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { store: false },
    });
    expect(await events()).toHaveLength(2);
  });

  test('returns a response that is deleted while in progress with store: false, and does not store it', async () => {
    const { call } = await route.setUp(async function* () {
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
      if (id) expect(await route.store.delete(wide.org, id)).toBe(false);
      isDeleted();
    }
    const last = parseEvents(events).at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { store: false } });
    expect(await route.store.get(wide.org, last?.response.id as string)).toBeUndefined();
  });

  test('ends a stream that fails with response.failed, settles it, and stores nothing', async () => {
    const { call, events } = await route.setUp(async function* () {
      yield text('Hel');
      throw new UpstreamFailed('upstream_error', 'broken');
    });
    const last = parseEvents(await read(await call({ stream: true }))).at(-1);
    expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'upstream_error' } } });
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed' })]);
    expect(await route.store.get(wide.org, last?.response.id as string)).toBeUndefined();
  });

  test('uses its own field names in the errors of the runtime', async () => {
    const OriginalMessage = 'This model has a maximum context length of 9 tokens.';
    const { call } = await route.setUp(({ names }) => {
      throw toUpstreamError(Object.assign(new Error(), { name: 'ModelError', facts: { OriginalStatusCode: 400, OriginalMessage } }), names);
    });
    await expect(call({})).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'input' });
  });

  test('reports the sampling that was sent: its own, or the model’s default', async () => {
    const model = (await route.database.models.list(SERVERLESS_POOL)).get('m') as Model;
    await route.database.models.put(SERVERLESS_POOL, { ...model, name: 'cool', default_temperature: 0.6, default_top_p: 0.95 });
    const { sent, invoke } = listening();
    const { create } = await route.setUp(invoke);
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
    const { create } = await route.setUp(answers);
    expect(await create({ user: null })).not.toHaveProperty('user');
    expect(await create({ user: 'u' })).toHaveProperty('user', 'u');
  });

  test('lists ignored fields and tools in a header', async () => {
    const { call } = await route.setUp(answers);
    const { headers } = await call({ tools: [{ type: 'web_search' }], client_metadata: {} });
    expect(headers['x-sluice-ignored']).toBe('client_metadata, tools.web_search');
  });

  test.each([
    ['background', { background: true }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }] }],
  ])('is a 400 that names %s', async (param, body) => {
    const { call } = await route.setUp(answers);
    await expect(call(body)).rejects.toMatchObject({ status: 400, param });
  });
});
