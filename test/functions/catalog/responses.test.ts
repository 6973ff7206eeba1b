import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deleteResponse, listInputItems, type ResponsesDependencies, retrieveResponse } from '../../../functions/catalog/responses.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { route } from '../../../shared/http/router.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import type { ConversationItem } from '../../../shared/responses/item.ts';
import { createResponseStore } from '../../../shared/responses/response-store.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { makeCaller, wide } from '../../support/fixtures/callers.ts';
import { createKey } from '../../support/fixtures/create-key.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase;
let deps: ResponsesDependencies;
let secret: string;
let stranger: string;
let id: string;
const input = [
  { type: 'message', role: 'user', content: 'One' },
  { type: 'message', id: 'msg_own', role: 'assistant', content: 'Two' },
  { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  { role: 'user', content: [{ type: 'input_text', text: 'Four' }] },
] as ConversationItem[];

beforeAll(async () => {
  database = await startTestDatabase();
  const store = createResponseStore(database.database, database.tables.Responses as string, Date.now);
  deps = { host: { scope: 'serverless' }, keys: makeCaller(database.limiters, Date.now), store };
  ({ secret } = await createKey(database.limiters, wide));
  stranger = (await createKey(database.limiters, { ...wide, org: 'org_stranger' })).secret;
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  id = newId('response');
  await deps.store.put(wide.org, { response: { id, object: 'response', output: [] }, input, before: [], depth: 1 });
});

interface Asked {
  path?: string;
  query?: Record<string, string>;
  /** Each parameter with all its values, if some are sent more than once. */
  repeated?: Record<string, string[]>;
  key?: string;
  keys?: ResponsesDependencies['keys'];
}

const ask = async (httpMethod: 'GET' | 'DELETE', more: Asked = {}) => {
  const { path = `/v1/responses/${id}`, query, repeated = null, key = secret, keys = deps.keys } = more;
  const own = { ...deps, keys };
  const handle = route({
    '/v1/responses/{id}': { GET: retrieveResponse(own), DELETE: deleteResponse(own) },
    '/v1/responses/{id}/input_items': { GET: listInputItems(own) },
  });
  const headers = { Authorization: `Bearer ${key}` };
  const queries = { queryStringParameters: query ?? null, multiValueQueryStringParameters: repeated };
  const event = { ...eventOf(path, { method: httpMethod, headers }), ...queries };
  const reply = await handle({ ...event, requestId: newRequestId(Date.now()) } as ApiEvent);
  return { ...reply, body: JSON.parse(reply.body) as Record<string, unknown> & { data: { id: string }[] } };
};
const askAll = (key?: string) => {
  const more = key === undefined ? {} : { key };
  return [() => ask('GET', more), () => ask('DELETE', more), () => ask('GET', { ...more, path: `/v1/responses/${id}/input_items` })];
};

describe('a stored response', () => {
  test('is returned to its organization, with the limits of the key', async () => {
    const { statusCode, body, headers } = await ask('GET');
    expect(statusCode).toBe(200);
    expect(body).toEqual({
      id,
      object: 'response',
      output: [],
      access_programs: null,
      moderation: null,
      presence_penalty: 0,
      frequency_penalty: 0,
      service_tier: 'default',
    });
    expect(headers['x-ratelimit-limit-requests']).toBeDefined();
    const missing = ask('GET', { path: '/v1/responses/resp_missing' });
    await expect(missing).rejects.toMatchObject({ status: 404, headers: { 'x-ratelimit-limit-requests': expect.any(String) } });
  });

  test('has all counts of its usage, even if an older release stored it', async () => {
    const own = newId('response');
    const usage = { input_tokens: 5, input_tokens_details: { cached_tokens: 3 } };
    await deps.store.put(wide.org, { response: { id: own, object: 'response', output: [], usage }, input, before: [], depth: 1 });
    const { body } = await ask('GET', { path: `/v1/responses/${own}` });
    expect(body.usage).toEqual({ input_tokens: 5, input_tokens_details: { cache_write_tokens: 0, cached_tokens: 3 } });
  });

  test('can be deleted once, and then returns 404', async () => {
    expect((await ask('DELETE')).body).toEqual({ id, object: 'response', deleted: true });
    for (const call of askAll()) await expect(call()).rejects.toMatchObject({ status: 404, code: 'response_not_found' });
  });

  test('returns 404 for another organization and 401 for an invalid key', async () => {
    for (const call of askAll(stranger)) await expect(call()).rejects.toMatchObject({ status: 404 });
    for (const call of askAll('sk-nonsense')) await expect(call()).rejects.toMatchObject({ status: 401 });
    expect((await ask('GET')).statusCode).toBe(200);
  });

  test('returns 429 to a key that asks too often', async () => {
    const { secret: busy } = await createKey(database.limiters, { ...wide, org: 'org_busy' });
    // At one time: each second, ten more are allowed.
    const nowMs = Date.now();
    const keys = makeCaller(database.limiters, () => nowMs);
    const statuses = await Promise.all(
      Array.from({ length: 150 }, async () => ask('GET', { key: busy, keys }).catch((error: { status: number }) => error.status)),
    );
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(100);
  });

  test('cannot be streamed', async () => {
    await expect(ask('GET', { query: { stream: 'true' } })).rejects.toMatchObject({ status: 400, param: 'stream' });
  });

  test('returns 404 for a malformed id', async () => {
    await expect(ask('GET', { path: '/v1/responses/what%20is' })).rejects.toMatchObject({ status: 404 });
  });
});

describe('its input items', () => {
  const list = (query: Record<string, string> = {}) =>
    ask('GET', { path: `/v1/responses/${id}/input_items`, query }).then(({ body }) => body);

  test('are listed newest first, each with an id and its content in parts', async () => {
    const { data, ...page } = await list();
    expect(page).toEqual({ object: 'list', first_id: data[0]?.id, last_id: data[3]?.id, has_more: false });
    expect(data).toEqual([
      { type: 'message', id: expect.any(String), role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Four' }] },
      { type: 'function_call', id: expect.any(String), call_id: 'a', name: 'f', arguments: '{}', status: 'completed' },
      {
        type: 'message',
        id: 'msg_own',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Two', annotations: [], logprobs: [] }],
      },
      { type: 'message', id: expect.any(String), role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'One' }] },
    ]);
    expect(new Set(data.map((item) => item.id)).size).toBe(4);
  });

  test('are returned in pages', async () => {
    const first = await list({ order: 'asc', limit: '3' });
    expect(first).toMatchObject({ has_more: true, data: [{}, { id: 'msg_own' }, { type: 'function_call' }] });
    const second = await list({ order: 'asc', limit: '3', after: first.last_id as string });
    expect(second).toMatchObject({ has_more: false, data: [{ content: [{ text: 'Four' }] }] });
    expect(await list({ order: 'asc', after: second.last_id as string })).toMatchObject({ data: [], first_id: null, last_id: null });
  });

  test('get unique ids in the list if several have the same id', async () => {
    const own = newId('response');
    const twice = ['a', 'b', 'a', 'c', 'a'].map((name) => ({ role: 'user', id: `msg_${name}`, content: name })) as ConversationItem[];
    await deps.store.put(wide.org, { response: { id: own, object: 'response', output: [] }, input: twice, before: [], depth: 1 });
    const seen: string[] = [];
    for (let after: string | undefined; seen.length < 10; after = seen.at(-1)) {
      const query = { order: 'asc', limit: '1', ...(after && { after }) };
      const { body } = await ask('GET', { path: `/v1/responses/${own}/input_items`, query });
      seen.push(...body.data.map((item) => item.id));
      if (!body.has_more) break;
    }
    expect(seen).toEqual([
      'msg_a',
      'msg_b',
      own.replace('resp_', 'item_').concat('_2'),
      'msg_c',
      own.replace('resp_', 'item_').concat('_4'),
    ]);
  });

  test.each([
    ['limit', { limit: '0' }],
    ['limit', { limit: 'many' }],
    ['order', { order: 'up' }],
    ['after', { after: 'msg_unknown' }],
  ])('return 400 for an invalid %s', async (param, query) => {
    await expect(list(query as unknown as Record<string, string>)).rejects.toMatchObject({ status: 400, param });
  });

  test.each(['limit', 'order', 'after'])('return 400 for a repeated %s, but not for a parameter that has no effect', async (param) => {
    const path = `/v1/responses/${id}/input_items`;
    const query = { limit: '1', order: 'asc', after: 'msg_own' };
    const twice = ask('GET', { path, query, repeated: { [param]: ['x', query[param as keyof typeof query]] } });
    await expect(twice).rejects.toMatchObject({ status: 400, param, message: `Invalid value for '${param}': expected it once.` });
    expect(await ask('GET', { path, query, repeated: { 'include[]': ['a', 'b'], [param]: ['x'] } })).toMatchObject({ statusCode: 200 });
  });
});
