import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { InputItemsQuery, listInputItems } from '../../../../shared/responses/input-items.ts';
import type { StoredResponse } from '../../../../shared/responses/response-store.ts';
import { wide } from '../../../support/fixtures/callers.ts';
import { answers } from '../../../support/fixtures/pipeline.ts';
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

describe('an item reference', () => {
  test('is replaced by the item, if it is in a response of the same organization', async () => {
    const { sent, invoke } = listening();
    const { create, call } = await route.setUp(invoke);
    const { output } = await create();
    const reference = { type: 'item_reference', id: output[0]?.id };
    await create({ input: [{ role: 'user', content: 'Hi' }, reference, { role: 'user', content: 'And then?' }] });
    expect(sent.at(-1)?.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And then?' },
    ]);
    const stranger = await route.setUp(invoke, { org: 'org_other' });
    for (const input of [[reference], [{ ...reference, id: 'msg_nothing_0' }], [{ ...reference, id: 'x' }]]) {
      const asking = input[0]?.id === reference.id ? stranger.call : call;
      await expect(asking({ input: [{ role: 'user', content: 'Hi' }, ...input] })).rejects.toMatchObject({
        status: 404,
        code: 'item_not_found',
        param: 'input[1].id',
      });
    }
  });

  test.each([{}, { type: null }])('can be an id with %j', async (type) => {
    const { sent, invoke } = listening();
    const { create } = await route.setUp(invoke);
    const { output } = await create();
    await create({
      input: [
        { id: output[0]?.id, ...type },
        { role: 'user', content: 'And then?' },
      ],
    });
    expect(sent.at(-1)?.messages).toEqual([
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And then?' },
    ]);
  });

  test('can name an input item, with the id that it is listed with', async () => {
    const { sent, invoke } = listening();
    const { create, call } = await route.setUp(invoke);
    const { id } = await create({
      input: [
        { role: 'user', content: 'One' },
        { role: 'user', id: 'msg_own', content: 'Two' },
      ],
    });
    const listed = listInputItems(
      (await route.store.get(wide.org, id as string)) as StoredResponse,
      InputItemsQuery.parse({ order: 'asc' }),
    );
    const [first, second] = (listed.data as { id: string }[]).map((item) => ({ type: 'item_reference', id: item.id }));
    await create({ input: [first, { role: 'user', content: 'And?' }] });
    expect(sent.at(-1)?.messages).toEqual(['One', 'And?'].map((content) => ({ role: 'user', content })));
    // An id that the caller chose does not tell which response has the item.
    await expect(call({ input: [second] })).rejects.toMatchObject({ status: 404, param: 'input[0].id' });
  });

  test('is a 400 if it repeats more characters than a body may have', async () => {
    const { create, call } = await route.setUp(answers);
    const { id } = await create({ input: [{ role: 'user', content: 'a'.repeat(100_000) }] });
    const reference = { type: 'item_reference', id: `${(id as string).replace('resp_', 'item_')}_0` };
    const refer = (times: number) => call({ input: Array(times).fill(reference) });
    expect((await refer(2)).statusCode).toBe(200);
    await expect(refer(50)).rejects.toMatchObject({ status: 400, param: 'input', message: expect.stringContaining('4000000 characters') });
  });

  test('is a 400 if there are references to too many responses', async () => {
    const { call } = await route.setUp(answers);
    const input = Array.from({ length: 33 }, (_, i) => ({ type: 'item_reference', id: `msg_${i}_0` }));
    await expect(call({ input })).rejects.toMatchObject({ status: 400, param: 'input' });
  });
});

describe('a key that refers to stored responses too often', () => {
  test.each([
    ['previous_response_id', { previous_response_id: 'resp_none' }],
    ['an item reference', { input: [{ type: 'item_reference', id: 'msg_none_0' }] }],
  ])('gets a 429 for %s, but not for requests that read nothing', async (_, body) => {
    const nowMs = Date.now();
    const { call } = await route.setUp(answers, { now: () => nowMs });
    for (let i = 0; i < 100; i++) await expect(call(body)).rejects.toMatchObject({ status: 404 });
    await expect(call(body)).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after-ms': '100' } });
    expect((await call({})).statusCode).toBe(200);
  });

  test('is not limited in requests that are admitted', async () => {
    const nowMs = Date.now();
    const { call, create } = await route.setUp(answers, { now: () => nowMs });
    const { id } = await create();
    for (let i = 0; i < 110; i++) expect((await call({ previous_response_id: id, store: false })).statusCode).toBe(200);
  });
});
