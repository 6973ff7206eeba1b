import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ConversationItem } from '../../../shared/responses/item.ts';
import { createResponseStore, KEPT_DAYS } from '../../../shared/responses/response-store.ts';
import { user } from '../../support/clients/responses-requests.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { failing, unreliable } from '../../support/faults/unreliable-database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { stored } from '../../support/fixtures/stored-response.ts';

let database: TestDatabase;
let nowMs = 1_700_000_000_000;
const stores = () => createResponseStore(database.database, database.tables.Responses as string, () => nowMs);
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

describe('the response store', () => {
  test('returns a stored response to its organization and to no other', async () => {
    const store = stores();
    const kept = stored();
    expect(await store.put('org_1', kept)).toBe('stored');
    expect(await store.get('org_1', kept.response.id)).toEqual(kept);
    expect(await store.get('org_2', kept.response.id)).toBeUndefined();
    expect(await store.delete('org_2', kept.response.id)).toBe(false);
    expect(await store.get('org_1', kept.response.id)).toEqual(kept);
  });

  test('deletes a response once', async () => {
    const store = stores();
    const { response, ...rest } = stored();
    await store.put('org_1', { response, ...rest });
    expect(await store.delete('org_1', response.id)).toBe(true);
    expect(await store.get('org_1', response.id)).toBeUndefined();
    expect(await store.delete('org_1', response.id)).toBe(false);
  });

  test('hides a response after 30 days, even before DynamoDB removes it', async () => {
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

  test('stores a long conversation, and reports one that is too large', async () => {
    const store = stores();
    const long = stored({ before: [{ role: 'user', content: 'the river runs by the gate '.repeat(150_000) }] as ConversationItem[] });
    expect(await store.put('org_1', long)).toBe('stored');
    expect(await store.get('org_1', long.response.id)).toEqual(long);
    const noise = stored({ before: [{ role: 'user', content: randomBytes(400_000).toString('base64') }] as ConversationItem[] });
    expect(await store.put('org_1', noise)).toBe('too_large');
    expect(await store.get('org_1', noise.response.id)).toBeUndefined();
    const vast = stored({ before: [{ role: 'user', content: 'a'.repeat(6 * 1024 * 1024) }] as ConversationItem[] });
    expect(await store.put('org_1', vast)).toBe('too_large');
    const wide = stored({ before: [{ role: 'user', content: '€'.repeat(2 * 1024 * 1024) }] as ConversationItem[] });
    expect(await store.put('org_1', wide)).toBe('too_large');
  });

  test('stores nothing that has more JSON values than a body may have, however small it is', async () => {
    const store = stores();
    const parts = (count: number) => Array.from({ length: count }, () => ({ type: 'input_text', text: '' }));
    const many = (count: number) => stored({ before: Array.from({ length: 30 }, () => user(parts(count))) as ConversationItem[] });
    expect(await store.put('org_1', many(1_500))).toBe('stored');
    expect(await store.put('org_1', many(1_800))).toBe('too_large');
  });

  test('does not store a response that was deleted while it was being created', async () => {
    const store = stores();
    const kept = stored();
    const { id } = kept.response;
    expect(await store.delete('org_1', id)).toBe(false);
    expect(await store.put('org_2', kept)).toBe('stored');
    expect(await store.put('org_1', kept)).toBe('deleted');
    expect(await store.get('org_1', id)).toBeUndefined();
    expect(await store.delete('org_1', id)).toBe(false);
    expect(await store.delete('org_2', id)).toBe(true);
    expect(await store.put('org_2', kept)).toBe('deleted');
  });

  test('remembers a deletion for 15 minutes, in less than 200 bytes', async () => {
    const id = newId('response');
    await stores().delete('org_1', id);
    const { Item: row } = await database.database.get({
      TableName: database.tables.Responses as string,
      Key: { id: `org_1#${id}` },
    });
    expect((row?.expires_at as number) - nowMs / 1_000).toBe(15 * 60);
    expect(JSON.stringify(row).length).toBeLessThan(200);
  });

  test.each(['', 'resp_', 'x'.repeat(5_000), 'chatcmpl-1', 'resp_a#b'])(
    'treats the invalid id %.20j as missing without a call to the database',
    async (id) => {
      const silent = createResponseStore(failing(new Error('unexpected call')), 't', Date.now);
      expect(await silent.get('org_1', id)).toBeUndefined();
      expect(await silent.delete('org_1', id)).toBe(false);
    },
  );

  test('stores and deletes correctly when lost replies cause repeated calls', async () => {
    let call = 0;
    const faults = { random: () => (call++ % 2 === 0 ? 0.4 : 0.9), lostRequests: 0, lostReplies: 0.5, crash: () => false };
    const kept = stored();
    const bad = createResponseStore(unreliable(database.database, faults), database.tables.Responses as string, () => nowMs);
    expect(await bad.put('org_1', kept)).toBe('stored');
    expect(await stores().get('org_1', kept.response.id)).toEqual(kept);
    expect(await bad.delete('org_1', kept.response.id)).toBe(true);
    expect(await stores().get('org_1', kept.response.id)).toBeUndefined();
    expect(await stores().delete('org_1', kept.response.id)).toBe(false);
  });
});
