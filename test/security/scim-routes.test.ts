import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createScimToken, deleteScimToken, listScimTokens } from '../../functions/control/scim/manage-tokens.ts';
import { scimRoutes } from '../../functions/control/scim/scim-routes.ts';
import { newScimToken } from '../../functions/control/scim/token.ts';
import { createScimWorld, type ScimReply, type ScimTenant, type ScimWorld } from '../functions/control/scim/scim-world.ts';
import { startTestDatabase, type TestDatabase } from '../support/emulators/database.ts';
import { newId } from '../support/fixtures/new-id.ts';

let database: TestDatabase;
let world: ScimWorld;
let tenant: ScimTenant;
let other: ScimTenant;
let userId: string;
let groupId: string;
beforeAll(async () => {
  database = await startTestDatabase();
  world = await createScimWorld(database);
  tenant = await world.createTenant();
  other = await world.createTenant();
  userId = await tenant.createUser(`grace@${tenant.domain}`);
  groupId = (await tenant.send('POST', '/Groups', { displayName: 'Acme group', members: [{ value: userId }] })).body.id;
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const BODIES: Readonly<Record<string, unknown>> = {
  'POST /Users': { userName: 'mallory@example.com' },
  'PUT /Users/{id}': { active: false },
  'PATCH /Users/{id}': { Operations: [{ op: 'replace', value: { active: false } }] },
  'POST /Groups': { displayName: 'Mallory' },
  'PUT /Groups/{id}': { displayName: 'Mallory', members: [] },
  'PATCH /Groups/{id}': { Operations: [{ op: 'remove', path: 'members' }] },
};

const named = scimRoutes.map(({ method, path }) => `${method} ${path.slice('/scim/v2'.length)}`);

const sendRoute = (token: string, name: string): Promise<ScimReply> => {
  const [method = '', path = ''] = name.split(' ');
  const id = path.startsWith('/Users') ? userId : path.startsWith('/Groups') ? groupId : 'User';
  return world.send(token, method, path.replace('{id}', id), BODIES[name]);
};

const altered = (token: string, at: number): string => token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1);

describe.each(named)('%s', (name) => {
  test.each<[string, () => string]>([
    ['no token', () => ''],
    ['a malformed token', () => 'scim_none'],
    ['an API key', () => 'sk-s0000'],
    ['a JWT', () => 'eyJhbGciOiJSUzI1NiJ9.e30.AAAA'],
    ['a token with another checksum', () => altered(tenant.token, tenant.token.length - 1)],
    ['a token that was never issued', () => newScimToken(tenant.provider.id, newId('scimToken')).token],
    ['another secret of a live token', () => newScimToken(tenant.provider.id, tenant.tokenId).token],
    ['a live token for another connection', () => newScimToken(other.provider.id, tenant.tokenId).token],
  ])('rejects %s', async (_, token) => {
    const { status, headers, body } = await sendRoute(token(), name);
    expect([status, headers['content-type'], headers['www-authenticate']]).toEqual([401, 'application/scim+json', 'Bearer']);
    expect(body).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '401',
      detail: expect.any(String),
      code: 'invalid_token',
      request_id: 'req_1',
    });
  });

  test('shows another organization nothing, and changes nothing of it', async () => {
    const before = await world.deps.users.get(userId);
    const { status, body } = await sendRoute(other.token, name);
    if (/\/(?:Users|Groups)\/\{id\}/.test(name)) expect(status).toBe(404);
    expect(JSON.stringify(body ?? {})).not.toMatch(/Acme|grace@/);
    expect(await world.deps.users.get(userId)).toEqual(before);
    expect((await tenant.send('GET', `/Groups/${groupId}`)).body.members).toMatchObject([{ value: userId }]);
  });
});

test('describes what is supported', async () => {
  expect((await tenant.send('GET', '/ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
  });
  expect((await tenant.send('GET', '/ResourceTypes')).body.Resources).toMatchObject([{ endpoint: '/Users' }, { endpoint: '/Groups' }]);
  const { body } = await tenant.send('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User');
  expect(body.attributes.map(({ name }: { name: string }) => name)).toContain('active');
});

test.each<[string, string, number]>([
  ['GET', '/Nothing', 404],
  ['POST', '/Bulk', 404],
  ['DELETE', '/Users', 405],
])('answers %s %s in the shape of SCIM', async (method, path, status) => {
  const { body, headers } = await tenant.send(method, path);
  expect([body.status, body.schemas, headers['content-type']]).toEqual([
    String(status),
    ['urn:ietf:params:scim:api:messages:2.0:Error'],
    'application/scim+json',
  ]);
});

test('rejects tokens of a connection that is disabled or deleted', async () => {
  const third = await world.createTenant();
  await world.changeConnection(third.provider, { status: 'disabled' });
  expect((await third.send('GET', '/Users')).body).toMatchObject({ status: '403', code: 'identity_provider_disabled' });
  const row = { account: third.organization, record: `identity-provider#${third.provider.id}` };
  await database.database.delete({ TableName: database.tables.Accounts as string, Key: row });
  expect((await third.send('GET', '/Users')).status).toBe(401);
});

test('closes leavers also while the organization is suspended, but creates nobody', async () => {
  const third = await world.createTenant();
  const id = await third.createUser(`ada@${third.domain}`);
  const { Accounts: TableName } = database.tables as { Accounts: string };
  const update = {
    UpdateExpression: 'SET #s = :s',
    ExpressionAttributeNames: { '#s': 'status' },
    ExpressionAttributeValues: { ':s': 'suspended' },
  };
  await database.database.update({ TableName, Key: { account: third.organization, record: 'organization' }, ...update });
  expect((await third.send('POST', '/Users', { userName: `bob@${third.domain}` })).status).toBe(403);
  expect((await third.send('PATCH', `/Users/${id}`, BODIES['PATCH /Users/{id}'])).body.active).toBe(false);
});

describe('SCIM tokens', () => {
  const place = (of: ScimTenant) => ({ id: of.provider.id, organization: undefined });

  test('are stored as a hash, and at most two', async () => {
    const third = await world.createTenant();
    const second = await createScimToken(world.deps, third.owner, place(third));
    await expect(createScimToken(world.deps, third.owner, place(third))).rejects.toMatchObject({ code: 'too_many_scim_tokens' });
    const rows = await Array.fromAsync(createRows(third.provider.id));
    expect(JSON.stringify(rows)).not.toContain(second.token.slice(-34));
    await deleteScimToken(world.deps, third.owner, { ...place(third), token: third.tokenId });
    expect((await third.send('GET', '/Users')).status).toBe(401);
    expect((await world.send(second.token, 'GET', '/Users')).status).toBe(200);
    const { data } = await listScimTokens(world.deps, third.owner, place(third));
    expect(data).toEqual([{ ...second, token: undefined, last_used_at: expect.any(Number), last_ip_address: '192.0.2.7' }]);
    const actions = (await world.deps.audit.list(third.organization, { limit: 5 })).data.map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['scim_token.created', 'scim_token.deleted']));
  });

  test('return 404 for another organization', async () => {
    for (const run of [createScimToken, listScimTokens])
      await expect(run(world.deps, other.owner, place(tenant))).rejects.toMatchObject({ status: 404 });
    await expect(deleteScimToken(world.deps, other.owner, { ...place(tenant), token: tenant.tokenId })).rejects.toMatchObject({
      status: 404,
    });
  });
});

async function* createRows(account: string) {
  const { Items = [] } = await database.database.query({
    TableName: database.tables.Accounts as string,
    KeyConditionExpression: 'account = :account',
    ExpressionAttributeValues: { ':account': account },
  });
  yield* Items;
}
