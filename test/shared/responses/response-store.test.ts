import { randomBytes } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { continueResponse } from '../../../functions/inference/responses/continue-response.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { newId } from '../../../shared/ids/id.ts';
import type { Item } from '../../../shared/responses/item.ts';
import { createResponseStore, KEPT_DAYS, type StoredResponse } from '../../../shared/responses/response-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';
import { called, read, result, thought, user } from '../../support/responses-requests.ts';
import { unreliable } from '../../support/unreliable-database.ts';

let database: TestDatabase;
let nowMs = 1_700_000_000_000;
const stores = () => createResponseStore(database.database, database.tables.Responses as string, () => nowMs);
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const answer = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Ho' }] };
const stored = (change: Partial<StoredResponse> = {}, output: unknown[] = [answer]): StoredResponse => ({
  response: { id: newId('response'), object: 'response', output: output as StoredResponse['response']['output'] },
  input: [{ type: 'message', role: 'user', content: 'Hi' }],
  before: [],
  depth: 1,
  ...change,
});

describe('the store', () => {
  test('gives back what was put, to the organization that put it and to nobody else', async () => {
    const store = stores();
    const kept = stored();
    expect(await store.put('org_1', kept)).toBe('kept');
    expect(await store.get('org_1', kept.response.id)).toEqual(kept);
    expect(await store.get('org_2', kept.response.id)).toBeUndefined();
    expect(await store.delete('org_2', kept.response.id)).toBe(false);
    expect(await store.get('org_1', kept.response.id)).toEqual(kept);
  });

  test('deletes once', async () => {
    const store = stores();
    const { response, ...rest } = stored();
    await store.put('org_1', { response, ...rest });
    expect(await store.delete('org_1', response.id)).toBe(true);
    expect(await store.get('org_1', response.id)).toBeUndefined();
    expect(await store.delete('org_1', response.id)).toBe(false);
  });

  test('forgets after 30 days, also what DynamoDB has not removed yet', async () => {
    const store = stores();
    const kept = stored();
    await store.put('org_1', kept);
    const began = nowMs;
    nowMs = began + KEPT_DAYS * 24 * 3_600_000 - 1_000;
    expect(await store.get('org_1', kept.response.id)).toEqual(kept);
    nowMs += 1_000;
    expect(await store.get('org_1', kept.response.id)).toBeUndefined();
    expect(await store.delete('org_1', kept.response.id)).toBe(false);
    nowMs = began;
  });

  test('keeps a long conversation, and says so when one is too large', async () => {
    const store = stores();
    const long = stored({ before: [{ role: 'user', content: 'the river runs by the gate '.repeat(150_000) }] as Item[] });
    expect(await store.put('org_1', long)).toBe('kept');
    expect(await store.get('org_1', long.response.id)).toEqual(long);
    const noise = stored({ before: [{ role: 'user', content: randomBytes(400_000).toString('base64') }] as Item[] });
    expect(await store.put('org_1', noise)).toBe('too_large');
    expect(await store.get('org_1', noise.response.id)).toBeUndefined();
    const vast = stored({ before: [{ role: 'user', content: 'a'.repeat(6 * 1024 * 1024) }] as Item[] });
    expect(await store.put('org_1', vast)).toBe('too_large');
    const wide = stored({ before: [{ role: 'user', content: '€'.repeat(2 * 1024 * 1024) }] as Item[] });
    expect(await store.put('org_1', wide)).toBe('too_large');
  });

  test('keeps nothing that would open into more values than a body may have, however small it is', async () => {
    const store = stores();
    const parts = (count: number) => Array.from({ length: count }, () => ({ type: 'input_text', text: '' }));
    const many = (count: number) => stored({ before: Array.from({ length: 30 }, () => user(parts(count))) as Item[] });
    expect(await store.put('org_1', many(1_500))).toBe('kept');
    expect(await store.put('org_1', many(1_800))).toBe('too_large');
  });

  test('does not keep a response that was deleted while it was made, whatever is sent again', async () => {
    const store = stores();
    const kept = stored();
    const { id } = kept.response;
    expect(await store.delete('org_1', id)).toBe(false);
    expect(await store.put('org_2', kept)).toBe('kept');
    expect(await store.put('org_1', kept)).toBe('deleted');
    expect(await store.get('org_1', id)).toBeUndefined();
    expect(await store.delete('org_1', id)).toBe(false);
    expect(await store.delete('org_2', id)).toBe(true);
    expect(await store.put('org_2', kept)).toBe('deleted');
  });

  test('remembers a deletion for as long as the response may still be on its way, in a few bytes', async () => {
    const id = newId('response');
    await stores().delete('org_1', id);
    const { Item: row } = await database.database.send(
      new GetCommand({ TableName: database.tables.Responses as string, Key: { id: `org_1#${id}` } }),
    );
    expect((row?.expires_at as number) - nowMs / 1_000).toBe(15 * 60);
    expect(JSON.stringify(row).length).toBeLessThan(200);
  });

  test.each(['', 'resp_', 'x'.repeat(5_000), 'chatcmpl-1', 'resp_a#b'])('knows without asking that %.20j is nobody’s', async (id) => {
    const silent = createResponseStore({ send: () => Promise.reject(new Error('asked')) } as never, 't', Date.now);
    expect(await silent.get('org_1', id)).toBeUndefined();
    expect(await silent.delete('org_1', id)).toBe(false);
  });

  test('deletes and puts again over a bad line without harm', async () => {
    let call = 0;
    const faults = { random: () => (call++ % 2 === 0 ? 0.4 : 0.9), lostRequests: 0, lostReplies: 0.5, crash: () => false };
    const kept = stored();
    const bad = createResponseStore(unreliable(database.database, faults), database.tables.Responses as string, () => nowMs);
    expect(await bad.put('org_1', kept)).toBe('kept');
    expect(await stores().get('org_1', kept.response.id)).toEqual(kept);
    expect(await bad.delete('org_1', kept.response.id)).toBe(true);
    expect(await stores().get('org_1', kept.response.id)).toBeUndefined();
    expect(await stores().delete('org_1', kept.response.id)).toBe(false);
  });
});

describe('continuing', () => {
  const continued = async (kept: StoredResponse, input: unknown = 'And?', organization = 'org_1') => {
    await stores().put('org_1', kept);
    return continueResponse(stores(), read({ input, previous_response_id: kept.response.id, instructions: 'New.' }), organization);
  };

  test('puts everything said before the input, and counts', async () => {
    const kept = stored({ before: [{ type: 'message', role: 'user', content: 'First' }] as Item[], depth: 4 });
    const request = await continued(kept);
    expect(request.before).toEqual({ items: [...kept.before, ...kept.input, answer], depth: 4 });
    expect(request.asked).toMatchObject({ instructions: 'New.', input: [{ content: 'And?' }] });
  });

  test('takes results of calls that were made before, and only those', async () => {
    const kept = stored({}, [{ id: 'fc_1', status: 'completed', ...called('a') }]);
    expect((await continued(kept, [result('a')])).before.items).toHaveLength(2);
    await expect(continued(kept, [user('Hi'), result('b')])).rejects.toMatchObject({ status: 400, param: 'input[1].call_id' });
  });

  test('needs something that the model is told: reasoning alone is nothing, wherever it comes from', async () => {
    const kept = stored({ input: [thought('Why?')] as Item[] }, [thought('Hm')]);
    const nothing = { status: 400, param: 'input', message: expect.stringContaining('at least one item beside reasoning') };
    await stores().put('org_1', kept);
    const ask = (body: object) => continueResponse(stores(), read({ input: [thought('Hm')], ...body }), 'org_1');
    await expect(ask({ previous_response_id: kept.response.id })).rejects.toMatchObject(nothing);
    expect((await ask({ previous_response_id: kept.response.id, instructions: 'Speak.' })).before.items).toHaveLength(2);
    const { id } = kept.response;
    const thinking = { ...thought('Hm'), id: `rs_${id.slice('resp_'.length)}_0` };
    await stores().put('org_1', { ...kept, response: { ...kept.response, output: [thinking] as never } });
    await expect(ask({ input: [{ type: 'item_reference', id: thinking.id }] })).rejects.toMatchObject(nothing);
  });

  test('is a 404 for what is not there, or another’s', async () => {
    const missing = { status: 404, code: 'previous_response_not_found', param: 'previous_response_id' };
    await expect(continued(stored(), 'And?', 'org_2')).rejects.toMatchObject(missing);
    await expect(continueResponse(stores(), read({ previous_response_id: newId('response') }), 'org_1')).rejects.toMatchObject(missing);
  });

  test('ends after 100 responses, or 4,096 items', async () => {
    expect((await continued(stored({ depth: 99 }))).before.depth).toBe(99);
    await expect(continued(stored({ depth: 100 }))).rejects.toMatchObject({ status: 400, code: 'conversation_too_long' });
    const many = Array.from({ length: 4_095 }, () => user('Hi')) as Item[];
    await expect(continued(stored({ before: many }))).rejects.toMatchObject({ status: 400, code: 'conversation_too_long' });
  });

  test('is a 503 while the database is away', async () => {
    const away = { get: () => Promise.reject(new ServiceUnavailable()) };
    await expect(continueResponse(away, read({ previous_response_id: newId('response') }), 'org_1')).rejects.toMatchObject({ status: 503 });
  });
});
