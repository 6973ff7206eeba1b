import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { type ApiKeyWithSecret, NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { KeysQuery, listApiKeys } from '../../../../functions/control/api-keys/list-api-keys.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 6);
const NOW = NOW_MS / 1_000;
const DAY = 86_400;

let database: TestDatabase;
let admin: Actor;
let owner: Actor;
let member: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(accountStores(database), { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { id: organization } = await createOrganization(accountStores(database), admin.origin, { name: 'Acme' });
  owner = await storeUser(accountStores(database), { role: 'owner', organization, nowMs: NOW_MS });
  member = await storeUser(accountStores(database), { role: 'member', organization, nowMs: NOW_MS });
});

const create = (by: Actor, fields: object = {}): Promise<ApiKeyWithSecret> =>
  createApiKey(accountStores(database), by, NewApiKey.parse({ name: 'key', ...fields }));
const list = (by: Actor, query: object = {}) => listApiKeys(accountStores(database), by, KeysQuery.parse(query));
const idsOf = async (by: Actor, query: object = {}): Promise<string[]> => (await list(by, query)).data.map(({ id }) => id);

describe('listApiKeys', () => {
  test('finds keys by status, creator and scope of their models', async () => {
    const [open, revoked] = [await create(owner, { models: ['qwen'] }), await create(owner, { models: ['llama'] })];
    const own = await create(member);
    await revokeApiKey(accountStores(database), owner, revoked.id);
    expect(await idsOf(owner)).toEqual(expect.arrayContaining([open.id, revoked.id, own.id]));
    expect(await idsOf(owner, { status: 'revoked' })).toEqual([revoked.id]);
    expect(await idsOf(owner, { created_by: member.userId })).toEqual([own.id]);
    expect((await idsOf(owner, { model: 'qwen' })).toSorted()).toEqual([open.id, own.id].toSorted());
    expect(await idsOf(owner, { model: 'qwen', status: 'active', created_by: owner.userId })).toEqual([open.id]);
  });

  test('finds a key by a part of its name, its hint and its id, in any case', async () => {
    const { id, hint } = await create(owner, { name: 'Batch Production' });
    await create(owner, { name: 'other' });
    for (const q of ['batch p', 'PRODUCTION', hint, hint.slice(-4), id, id.slice(4, 12)]) expect(await idsOf(owner, { q })).toContain(id);
    expect(await idsOf(owner, { q: 'batch' })).toEqual([id]);
    expect(await idsOf(owner, { q: 'sk-nothing' })).toEqual([]);
  });

  test('finds keys that expire before a time, without those that never do', async () => {
    const soon = await create(owner, { expires_at: NOW + DAY });
    await create(owner, { expires_at: NOW + 2 * DAY });
    await create(owner);
    expect(await idsOf(owner, { expires_before: String(NOW + 2 * DAY) })).toEqual([soon.id]);
  });

  test('finds keys that have not been used since a time, if they existed then', async () => {
    const [used, unused, never] = [await create(owner), await create(owner), await create(owner)];
    await noteUse(database, used.id, NOW_MS + 10 * DAY * 1_000);
    await noteUse(database, unused.id, NOW_MS + 2 * DAY * 1_000);
    expect((await idsOf(owner, { unused_since: String(NOW + 5 * DAY) })).toSorted()).toEqual([unused.id, never.id].toSorted());
    expect(await idsOf(owner, { unused_since: String(NOW) })).toEqual([]);
  });

  test('shows a member only their own keys, whatever the filters', async () => {
    const [own, { id, hint }] = [await create(member), await create(owner, { name: 'secret project' })];
    for (const query of [{ created_by: owner.userId }, { q: 'secret' }, { q: hint }, { q: id }])
      expect(await idsOf(member, query)).toEqual([]);
    expect(await idsOf(member, { status: 'active' })).toEqual([own.id]);
  });

  test('returns each key once, in pages, whatever is between them', async () => {
    const wanted: string[] = [];
    for (let i = 0; i < 7; i++) {
      const { id } = await create(owner, { name: i % 2 === 0 ? `wanted ${i}` : `other ${i}` });
      if (i % 2 === 0) wanted.push(id);
    }
    const found: string[] = [];
    let after: string | undefined;
    do {
      const { data, next } = await list(owner, { q: 'wanted', limit: 3, ...(after !== undefined && { after }) });
      found.push(...data.map(({ id }) => id));
      after = next ?? undefined;
    } while (after !== undefined);
    expect(found.toSorted()).toEqual(wanted.toSorted());
    expect(found).toHaveLength(4);
  });
});
