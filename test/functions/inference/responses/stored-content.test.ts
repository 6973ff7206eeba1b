import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { createResponseStore, type ResponseStore } from '../../../../shared/responses/response-store.ts';
import { parseEvents } from '../../../support/clients/responses-replies.ts';
import { wide } from '../../../support/fixtures/callers.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { answers, read } from '../../../support/fixtures/pipeline.ts';
import { type ResponsesRoute, startResponsesRoute } from './route-fixtures.ts';

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

const IDEMPOTENT = { 'idempotency-key': 'order-1' };
const NOT_STORED = { status: 409, code: 'idempotent_result_not_stored' };

describe('content that must not be stored', () => {
  test('is not stored for a key with no_content: its responses have store: false', async () => {
    const { create, call, events } = await route.setUp(answers, { no_content: true });
    const made = await create({ store: true });
    expect(made).toMatchObject({ status: 'completed', store: false });
    expect(await route.store.get(wide.org, made.id as string)).toBeUndefined();
    const streamed = parseEvents(await read(await call({ stream: true })));
    expect(streamed.flatMap(({ response }) => (response ? [response.store] : []))).toEqual([false, false, false]);
    expect(await route.store.get(wide.org, streamed.at(-1)?.response.id as string)).toBeUndefined();
    expect(await events()).toHaveLength(2);
  });

  test('does not prevent a key with no_content from continuing a stored response of its organization', async () => {
    const { id } = await (await route.setUp(answers)).create();
    const { create } = await route.setUp(answers, { no_content: true });
    const made = await create({ previous_response_id: id });
    expect(made).toMatchObject({ previous_response_id: id, store: false });
    expect(await route.store.get(wide.org, made.id as string)).toBeUndefined();
  });

  test.each([
    ['without streaming', false],
    ['streamed', true],
  ])('leaves the claim of its idempotency key, but no result, with store: false (%s)', async (_, stream) => {
    const { call, events, keyId } = await route.setUp(answers);
    const reply = await call({ store: false, stream }, IDEMPOTENT);
    expect(reply.headers).toMatchObject({ 'x-sluice-idempotency': 'not-stored' });
    if (stream) await read(reply);
    await expect(call({ store: false, stream }, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect(await events()).toHaveLength(1);
    expect(await route.rowsWithContent(keyId)).toEqual([]);
  });
});

describe('a deleted response', () => {
  test.each([
    ['without streaming', false],
    ['streamed', true],
  ])('is not replayed under its idempotency key, and nothing of it stays in the table (%s)', async (_, stream) => {
    const org = newId('organization');
    const { call, events, keyId } = await route.setUp(answers, { org });
    const first = await call({ stream }, IDEMPOTENT);
    const body = stream ? await read(first) : (first.body as string);
    const [id = ''] = /resp_[0-9A-Za-z]+/.exec(body) ?? [];
    expect(String((await call({ stream }, IDEMPOTENT)).body)).toContain(id);
    expect(await route.store.delete(org, id)).toBe(true);
    await expect(call({ stream }, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await route.rowsWithContent(org)), ...(await route.rowsWithContent(keyId))]).toEqual([]);
    expect(await events()).toHaveLength(1);
  });

  test('is not stored under its idempotency key if it is deleted between its two writes', async () => {
    const org = newId('organization');
    const responseStore: ResponseStore = {
      ...route.store,
      put: async (...stored) => {
        const outcome = await route.store.put(...stored);
        expect(await route.store.delete(org, stored[1].response.id)).toBe(true);
        return outcome;
      },
    };
    const { call, keyId } = await route.setUp(answers, { org, responseStore });
    expect(await call({}, IDEMPOTENT)).toMatchObject({ statusCode: 200, headers: { 'x-sluice-idempotency': 'not-stored' } });
    await expect(call({}, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await route.rowsWithContent(org)), ...(await route.rowsWithContent(keyId))]).toEqual([]);
  });

  test('is deleted completely if the first try breaks off between its writes', async () => {
    const org = newId('organization');
    const { database, tables } = route.database;
    let writes = 0;
    const breaking: typeof database = {
      ...database,
      put: async (input) => {
        if (writes++ === 1) throw new DatabaseUnavailable(new Error('outage'));
        return database.put(input);
      },
    };
    const { call, keyId } = await route.setUp(answers, { org });
    const { id } = JSON.parse((await call({}, IDEMPOTENT)).body as string) as { id: string };
    await expect(createResponseStore(breaking, tables.Responses as string, Date.now).delete(org, id)).rejects.toMatchObject({
      status: 503,
    });
    expect(await route.store.delete(org, id)).toBe(true);
    await expect(call({}, IDEMPOTENT)).rejects.toMatchObject(NOT_STORED);
    expect([...(await route.rowsWithContent(org)), ...(await route.rowsWithContent(keyId))]).toEqual([]);
  });
});
