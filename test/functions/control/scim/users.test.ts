import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { changeUser } from '../../../../functions/control/users/remove-access.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { originOf } from '../../../../shared/identity/request-origin.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { createScimWorld, type ScimTenant, type ScimWorld } from './scim-world.ts';

let database: TestDatabase;
let world: ScimWorld;
let tenant: ScimTenant;
let number = 0;
beforeAll(async () => {
  database = await startTestDatabase();
  world = await createScimWorld(database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  tenant = await world.createTenant();
  world.calls.length = 0;
});

const address = (name = `grace${++number}`): string => `${name}@${tenant.domain}`;
const patchOf = (...Operations: unknown[]) => ({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations });
const DEACTIVATE = patchOf({ op: 'replace', value: { active: false } });
const ACTIVATE = patchOf({ op: 'replace', value: { active: true } });

const storedUser = async (id: string) => {
  const user = await world.deps.users.get(id);
  if (!user) throw new Error(`${id} does not exist.`);
  return user;
};

const keysOf = async (id: string, count: number): Promise<string[]> => {
  const user = await storedUser(id);
  const caller = { ipAddress: '192.0.2.1', requestId: 'req_1', receivedAtMs: Date.now(), serverName: '', serverPath: '' };
  const { id: userId, email, role, organization } = user;
  const actor = { userId, email, role, organization, maxApiKeys: 5, origin: originOf(caller, user) };
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await createApiKey(world.deps, actor, NewApiKey.parse({ name: `${i}` }))).id);
  return ids;
};

const statusOfKey = async (id: string): Promise<string | undefined> => (await database.limiters.get(id))?.status;

describe.each(['okta', 'entra'] as const)('the requests of %s', (from) => {
  test('create a user once, find them, change them, and deactivate and activate them', async () => {
    const facts = { userName: address(), externalId: `ext-${++number}`, random: '3f7d' };
    const probe = await tenant.sendRecorded(from, 'probe', facts);
    expect([probe.status, probe.body.totalResults, probe.body.Resources]).toEqual([200, 0, []]);
    expect((await tenant.sendRecorded(from, 'find', facts)).body.totalResults).toBe(0);
    const created = await tenant.sendRecorded(from, 'create', facts);
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: facts.userName,
      externalId: facts.externalId,
      displayName: 'Grace Hopper',
      name: { givenName: 'Grace', familyName: 'Hopper' },
      active: true,
      groups: [],
      meta: { resourceType: 'User', location: `https://control.example.com/live/scim/v2/Users/${id}` },
    });
    expect(created.headers).toMatchObject({ 'content-type': 'application/scim+json', location: created.body.meta.location });
    expect(JSON.stringify(created.body)).not.toContain('1mz050nq');
    expect((await tenant.sendRecorded(from, 'create', facts)).body).toMatchObject({ status: '409', scimType: 'uniqueness' });
    const found = await tenant.sendRecorded(from, 'find', facts);
    expect(found.body).toMatchObject({ totalResults: 1, itemsPerPage: 1, startIndex: 1, Resources: [{ id }] });
    const update = await tenant.sendRecorded(from, from === 'okta' ? 'replace' : 'update', { ...facts, id });
    expect([update.status, update.body.name.familyName, update.body.active]).toEqual([200, 'Murray', true]);
    expect((await tenant.sendRecorded(from, 'deactivate', { ...facts, id })).body.active).toBe(false);
    expect((await tenant.send('GET', `/Users/${id}`)).body).toMatchObject({ id, active: false, externalId: facts.externalId });
    expect((await storedUser(id)).status).toBe('disabled');
    expect((await tenant.sendRecorded(from, 'reactivate', { ...facts, id })).body.active).toBe(true);
    expect((await storedUser(id)).status).toBe('active');
    expect(world.calls).toEqual([`create ${facts.userName}`, 'disable', 'sign out', 'enable']);
  });
});

test('finds a user by the id and by the address that Entra uses', async () => {
  const facts = { userName: address(), externalId: `Ext-${++number}` };
  const { id } = (await tenant.sendRecorded('entra', 'create', facts)).body;
  for (const name of ['findByExternalId', 'findByAddress'])
    expect((await tenant.sendRecorded('entra', name, facts)).body.Resources).toMatchObject([{ id }]);
  const otherCase = { externalId: facts.externalId.toLowerCase(), userName: facts.userName.toUpperCase() };
  expect((await tenant.sendRecorded('entra', 'findByExternalId', otherCase)).body.totalResults).toBe(0);
  expect((await tenant.sendRecorded('entra', 'findByAddress', otherCase)).body.totalResults).toBe(1);
  expect((await tenant.sendRecorded('entra', 'find', otherCase)).body.totalResults).toBe(1);
  const renamed = await tenant.sendRecorded('entra', 'updateWithoutPath', { ...facts, id });
  expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Grace Brewster']);
  const removed = await tenant.sendRecorded('entra', 'removeName', { ...facts, id });
  expect(removed.body.name).toMatchObject({ givenName: 'Grace', familyName: null });
});

describe('a leaver', () => {
  test('has lost sessions and keys when the reply is sent, if the connection revokes keys', async () => {
    await world.changeConnection(tenant.provider, { deactivation_revokes_keys: true });
    const id = await tenant.createUser(address());
    const keys = await keysOf(id, 3);
    const before = Math.floor(Date.now() / 1_000);
    expect((await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE)).status).toBe(200);
    const { status, tokens_valid_from } = await storedUser(id);
    expect([status, tokens_valid_from > before]).toEqual(['disabled', true]);
    expect(world.calls).toContain('sign out');
    expect(await Promise.all(keys.map(statusOfKey))).toEqual(['revoked', 'revoked', 'revoked']);
  });

  test('keeps keys that the organization’s programs use, if the connection does not revoke keys', async () => {
    const id = await tenant.createUser(address());
    const [key = ''] = await keysOf(id, 1);
    await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE);
    expect(await statusOfKey(key)).toBe('active');
  });

  test.each<[string, unknown]>([
    ['a PATCH of Okta', patchOf({ op: 'replace', value: { active: false, displayName: 7, name: 'Grace', externalId: 'x'.repeat(300) } })],
    ['a PATCH of Entra', patchOf({ op: 'Replace', path: 'active', value: 'False' }, { op: 'Replace', path: 'userName', value: '' })],
    ['a PUT', { active: false, displayName: ['Grace'], 'urn:example/staff:2.0:User': { floor: 3 } }],
  ])('is deactivated by %s with wrong values of other attributes', async (_, body) => {
    const id = await tenant.createUser(address());
    expect((await tenant.send('Operations' in (body as object) ? 'PATCH' : 'PUT', `/Users/${id}`, body)).status).toBe(200);
    expect(await storedUser(id)).toMatchObject({ status: 'disabled' });
  });

  test('is deactivated, whatever else the request has', async () => {
    const id = await tenant.createUser(address());
    const replaced = { userName: 'married@another.example.com', displayName: 'Grace M.', active: false };
    expect((await tenant.send('PUT', `/Users/${id}`, replaced)).body).toMatchObject({ active: false, displayName: 'Grace M.' });
  });

  test('is still to be closed if there was no time for all keys, which the reply says', async () => {
    await world.changeConnection(tenant.provider, { deactivation_revokes_keys: true });
    const id = await tenant.createUser(address());
    const [key = ''] = await keysOf(id, 1);
    world.clock.aheadMs = 60_000;
    expect((await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE)).body).toMatchObject({ status: '503' });
    world.clock.aheadMs = 0;
    expect((await storedUser(id)).status).toBe('disabled');
    expect((await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE)).status).toBe(200);
    expect(await statusOfKey(key)).toBe('revoked');
  });

  test('is in the audit log, with the connection as actor', async () => {
    const id = await tenant.createUser(address());
    await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE);
    const { data } = await world.deps.audit.list(tenant.organization, { limit: 10 });
    const entry = data.find(({ action, target }) => action === 'user.updated' && target.id === id);
    expect(entry).toMatchObject({
      actor: { type: 'system', id: `scim:${tenant.provider.id}` },
      ip_address: '192.0.2.7',
      changes: { status: { from: 'active', to: 'disabled' } },
    });
    expect(data.find(({ action, target }) => action === 'user.provisioned' && target.id === id)).toBeDefined();
  });
});

test('activates users whom the connection has disabled, but none whom an owner has disabled', async () => {
  const id = await tenant.createUser(address());
  await changeUser(world.deps, tenant.owner, id, { status: 'disabled' });
  expect((await tenant.send('PATCH', `/Users/${id}`, ACTIVATE)).body.active).toBe(false);
  await tenant.send('PATCH', `/Users/${id}`, DEACTIVATE);
  expect((await tenant.send('PATCH', `/Users/${id}`, ACTIVATE)).body.active).toBe(true);
});

test('creates an inactive user', async () => {
  const id = await tenant.createUser(address(), { active: 'False' });
  expect((await storedUser(id)).status).toBe('disabled');
  expect(world.calls.at(-1)).toBe('disable');
});

describe('the user name', () => {
  test.each<[string, (domain: string) => string]>([
    ['of another domain', () => 'grace@another.example.com'],
    ['of a domain below', (domain) => `grace@mail.${domain}`],
    ['of a domain that only ends like it', (domain) => `grace@evil${domain}`],
    ['with two addresses', (domain) => `grace@another.example.com@${domain}`],
    ['that is no address', () => 'grace'],
  ])('is rejected if it is an address %s', async (_, userName) => {
    const { status, body } = await tenant.send('POST', '/Users', { userName: userName(tenant.domain) });
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    expect(world.calls).toEqual([]);
  });

  test('is rejected if its domain is not verified yet', async () => {
    await world.changeConnection(tenant.provider, { domains: [{ ...tenant.provider.domains[0], verified_at: null } as never] });
    expect((await tenant.send('POST', '/Users', { userName: address() })).status).toBe(400);
  });

  test('cannot be changed, in another case it is the same', async () => {
    const userName = address();
    const id = await tenant.createUser(userName);
    const { status, body } = await tenant.send('PUT', `/Users/${id}`, { userName: address() });
    expect([status, body.scimType]).toEqual([400, 'mutability']);
    expect((await tenant.send('PUT', `/Users/${id}`, { userName: userName.toUpperCase() })).status).toBe(200);
  });
});

describe('a user who existed before', () => {
  const invite = async (organization: string | null, role: 'member' | 'admin' = 'member') => {
    const actor = await world.storeUser(role, organization);
    return { actor, filter: `/Users?filter=${encodeURIComponent(`userName eq "${actor.email}"`)}` };
  };
  // All stored users have this domain.
  beforeEach(async () => {
    await world.changeConnection(tenant.provider, { domains: [{ domain: 'example.com', token: 'token', verified_at: 1 }] as never });
  });

  test('is found in the same organization, and managed from the first change on', async () => {
    const { actor, filter } = await invite(tenant.organization);
    expect((await tenant.send('GET', filter)).body.Resources).toMatchObject([{ id: actor.userId }]);
    expect((await tenant.send('GET', '/Users')).body.totalResults).toBe(0);
    await tenant.send('PATCH', `/Users/${actor.userId}`, patchOf({ op: 'add', path: 'externalId', value: 'x' }));
    expect((await tenant.send('GET', '/Users')).body.Resources).toMatchObject([{ id: actor.userId, externalId: 'x' }]);
  });

  test.each<[string, () => Promise<string>]>([
    ['in another organization', async () => (await invite((await world.createTenant()).organization)).actor.userId],
    ['of the platform', async () => (await invite(null, 'admin')).actor.userId],
    ['who does not exist', async () => 'user_0q8Xc2VwQy41mTzNbR'],
    ['with a malformed id', async () => 'user%20or%201'],
    [
      'whom another connection manages',
      async () => {
        const { actor } = await invite(tenant.organization);
        const other = await world.createConnection(tenant.organization, 'other.example.com');
        await database.database.put({
          TableName: database.tables.Accounts as string,
          Item: { account: other.id, record: `scim-user#${actor.userId}` },
        });
        return actor.userId;
      },
    ],
  ])('returns 404 and stays unchanged if they are one %s', async (_, prepare) => {
    const id = await prepare();
    const before = await world.deps.users.get(id);
    for (const [method, body] of [['GET'], ['PATCH', DEACTIVATE], ['PUT', { active: false }], ['DELETE']] as const) {
      const { status } = await tenant.send(method, `/Users/${id}`, body);
      expect([method, status]).toEqual([method, 404]);
    }
    expect(await world.deps.users.get(id)).toEqual(before);
    if (!before) return;
    expect((await tenant.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${before.email}"`)}`)).body.totalResults).toBe(0);
    expect((await tenant.send('POST', '/Users', { userName: before.email })).body).toMatchObject({ status: '409', scimType: 'uniqueness' });
  });
});

describe('an owner', () => {
  const remove = (id: string) => [() => tenant.send('PATCH', `/Users/${id}`, DEACTIVATE), () => tenant.send('DELETE', `/Users/${id}`)];

  test('is neither deactivated nor deleted as the last one, or as the break-glass owner', async () => {
    await world.changeConnection(tenant.provider, { domains: [{ domain: 'example.com', token: 'token', verified_at: 1 }] as never });
    const { userId } = tenant.owner;
    for (const send of remove(userId)) expect((await send()).body).toMatchObject({ status: '409', code: 'last_owner' });
    await world.newOwner(tenant.organization);
    await world.changeConnection(tenant.provider, { break_glass: userId });
    for (const send of remove(userId)) expect((await send()).body).toMatchObject({ status: '409', code: 'break_glass' });
    expect((await storedUser(userId)).status).toBe('active');
    await world.changeConnection(tenant.provider, { break_glass: null });
    expect((await remove(userId)[0]?.())?.status).toBe(200);
  });

  test('is left if two are deactivated at the same time', async () => {
    await world.changeConnection(tenant.provider, { domains: [{ domain: 'example.com', token: 'token', verified_at: 1 }] as never });
    const { userId: other } = await world.newOwner(tenant.organization);
    const replies = await Promise.all([tenant.owner.userId, other].map((id) => tenant.send('PATCH', `/Users/${id}`, DEACTIVATE)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const statuses = await Promise.all([tenant.owner.userId, other].map(async (id) => (await storedUser(id)).status));
    expect(statuses.toSorted()).toEqual(['active', 'disabled']);
  });
});

describe('a deleted user', () => {
  test('is gone for the connection and for the organization, and can be created again', async () => {
    const userName = address();
    const id = await tenant.createUser(userName);
    expect((await tenant.sendRecorded('entra', 'delete', { id })).status).toBe(204);
    expect((await tenant.send('GET', `/Users/${id}`)).status).toBe(404);
    expect((await tenant.send('DELETE', `/Users/${id}`)).status).toBe(404);
    expect(await world.deps.users.get(id)).toBeUndefined();
    expect(await tenant.createUser(userName)).not.toBe(id);
  });

  test('disappears from the lists if an owner has deleted them', async () => {
    const kept = await tenant.createUser(address());
    const id = await tenant.createUser(address());
    const user = await storedUser(id);
    await database.database.delete({ TableName: database.tables.Accounts as string, Key: { account: user.id, record: 'user' } });
    expect((await tenant.send('GET', '/Users')).body).toMatchObject({ totalResults: 1, Resources: [{ id: kept }] });
    expect(await world.deps.scim.findUser(tenant.provider.id, id)).toBeUndefined();
  });

  // A deletion that crashed leaves the user at the user pool, and with it the id.
  test('disappears from the lists if another organization has them now, with the same id', async () => {
    const kept = await tenant.createUser(address());
    const id = await tenant.createUser(address());
    const other = await world.createTenant();
    await createRecordTable(database.database, database.tables.Accounts as string).set(
      { account: id, record: 'user' },
      'organization',
      other.organization,
    );
    expect((await tenant.send('GET', '/Users')).body).toMatchObject({ totalResults: 1, Resources: [{ id: kept }] });
    expect(await world.deps.scim.findUser(tenant.provider.id, id)).toBeUndefined();
    expect(await storedUser(id)).toMatchObject({ organization: other.organization, status: 'active' });
  });
});

test('lists users in pages, by startIndex and count', async () => {
  const ids = [await tenant.createUser(address()), await tenant.createUser(address()), await tenant.createUser(address())].toSorted();
  const page = async (query: string) => {
    const { body } = await tenant.send('GET', `/Users?${query}`);
    return [body.totalResults, body.startIndex, body.itemsPerPage, body.Resources.map(({ id }: { id: string }) => id)];
  };
  expect(await page('startIndex=2&count=1')).toEqual([3, 2, 1, [ids[1]]]);
  expect(await page('startIndex=0&count=200')).toEqual([3, 1, 3, ids]);
  expect(await page('startIndex=9')).toEqual([3, 9, 0, []]);
  expect(await page('count=0')).toEqual([3, 1, 0, []]);
  expect((await tenant.send('GET', '/Users?count=many')).body).toMatchObject({ status: '400', scimType: 'invalidValue' });
});

test.each([
  'startIndex=1&startIndex=2',
  'count=1&count=2',
  `filter=${encodeURIComponent('id eq "a"')}&filter=${encodeURIComponent('id eq "b"')}`,
])('refuses a parameter of a list that is sent twice (%s)', async (query) => {
  const [name] = query.split('=');
  for (const list of ['/Users', '/Groups']) {
    const { status, body } = await tenant.send('GET', `${list}?${query}`);
    expect([status, body.scimType, body.detail]).toEqual([400, 'invalidValue', `Invalid value for '${name}': expected it once.`]);
  }
});

test('lists each of 250 users once in pages of at most 100, although some were deleted by an owner', async () => {
  const id = await tenant.createUser(address());
  const [user, row] = [await storedUser(id), await world.deps.scim.findUser(tenant.provider.id, id)];
  const accounts = createRecordTable(database.database, database.tables.Accounts as string);
  const ids = [id, ...Array.from({ length: 253 }, () => newId('user'))].toSorted();
  const deleted = new Set([ids[3], ids[50], ids[110], ids[240]].filter((each) => each !== id));
  for (const each of ids) {
    await accounts.put({ account: tenant.provider.id, record: `scim-user#${each}` }, { ...row, id: each });
    if (!deleted.has(each)) await accounts.put({ account: each, record: 'user' }, { ...user, id: each });
  }
  const found: string[] = [];
  const pages: number[][] = [];
  for (let startIndex = 1; startIndex <= 250; startIndex += 100) {
    const { body } = await tenant.send('GET', `/Users?startIndex=${startIndex}&count=200`);
    found.push(...body.Resources.map((each: { id: string }) => each.id));
    pages.push([body.totalResults, body.itemsPerPage]);
  }
  const kept = ids.filter((each) => !deleted.has(each));
  expect(found).toEqual(kept);
  expect(pages).toEqual([100, 100, kept.length - 200].map((each) => [kept.length, each]));
});

test.each(['displayName eq "Grace"', 'active eq true', 'userName co "g"', 'title eq "x" and userName eq "g"'])(
  'rejects the filter %s, which would read every user',
  async (filter) => {
    const { body } = await tenant.send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(body).toMatchObject({ status: '400', scimType: 'invalidFilter', detail: expect.stringContaining('userName eq') });
  },
);
