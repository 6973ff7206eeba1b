import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createScimToken } from '../../../../functions/control/scim/manage-tokens.ts';
import { changeUser } from '../../../../functions/control/users/remove-access.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { createScimWorld, type ScimTenant, type ScimWorld } from './scim-world.ts';

let database: TestDatabase;
let world: ScimWorld;
let tenant: ScimTenant;
// Fails the transaction with this number, counted from 1.
let crashAt = Number.POSITIVE_INFINITY;
let transactions = 0;
let number = 0;
beforeAll(async () => {
  database = await startTestDatabase();
  const crashing: Database = {
    ...database.database,
    transactWrite: async (input) => {
      if (++transactions === crashAt) throw new Crash();
      await database.database.transactWrite(input);
    },
  };
  world = await createScimWorld(database, crashing);
  tenant = await world.createTenant();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  crashAt = Number.POSITIVE_INFINITY;
});

const newUser = (): Promise<string> => tenant.createUser(`grace${++number}@${tenant.domain}`);
const newGroup = async (displayName: string, members?: readonly string[]): Promise<string> => {
  const { status, body } = await tenant.send('POST', '/Groups', {
    displayName,
    ...(members && { members: members.map((value) => ({ value })) }),
  });
  expect(status).toBe(201);
  return body.id;
};
const roleOf = async (id: string): Promise<string | undefined> => (await world.deps.users.get(id))?.role;
const membersOf = async (group: string): Promise<string[]> =>
  (await tenant.send('GET', `/Groups/${group}`)).body.members.map(({ value }: { value: string }) => value);

describe('the requests of Okta', () => {
  test('push a group, rename it, and change its members', async () => {
    const [id, other] = [await newUser(), await newUser()];
    const facts = { id, userName: `a@${tenant.domain}`, displayName: 'Sluice viewers' };
    const created = await tenant.sendRecorded('okta', 'createGroup', facts);
    expect(created.body).toMatchObject({ displayName: 'Sluice viewers', members: [{ value: id }], meta: { resourceType: 'Group' } });
    const group = created.body.id;
    expect((await tenant.sendRecorded('okta', 'findGroup', { ...facts, displayName: 'sluice VIEWERS' })).body.Resources).toMatchObject([
      { id: group },
    ]);
    expect(await roleOf(id)).toBe('viewer');
    await tenant.sendRecorded('okta', 'addMember', { ...facts, group, id: other });
    expect((await membersOf(group)).toSorted()).toEqual([id, other].toSorted());
    await tenant.sendRecorded('okta', 'removeMember', { ...facts, group });
    expect(await membersOf(group)).toEqual([other]);
    expect([await roleOf(id), await roleOf(other)]).toEqual(['member', 'viewer']);
    await tenant.sendRecorded('okta', 'replaceMembers', { ...facts, group });
    expect(await membersOf(group)).toEqual([id]);
    await tenant.sendRecorded('okta', 'renameGroup', { ...facts, group, displayName: 'Others' });
    expect([await membersOf(group), await roleOf(id)]).toEqual([[id], 'member']);
    await tenant.sendRecorded('okta', 'replaceGroup', { ...facts, group, id: other });
    expect([await membersOf(group), await roleOf(id), await roleOf(other)]).toEqual([[other], 'member', 'viewer']);
  });
});

describe('the requests of Entra', () => {
  test('create a group without members, add and remove them one by one, and delete it', async () => {
    const id = await newUser();
    const facts = { id, externalId: 'g-1', displayName: 'Sluice owners' };
    expect((await tenant.sendRecorded('entra', 'findGroup', facts)).body.totalResults).toBe(0);
    const { status, body } = await tenant.sendRecorded('entra', 'createGroup', facts);
    expect([status, body.externalId, body.members]).toEqual([201, 'g-1', []]);
    const all = { ...facts, group: body.id };
    expect((await tenant.sendRecorded('entra', 'addMember', all)).status).toBe(204);
    expect(await roleOf(id)).toBe('owner');
    const withoutMembers = await tenant.sendRecorded('entra', 'readGroup', all);
    expect([withoutMembers.body.id, 'members' in withoutMembers.body]).toEqual([body.id, false]);
    expect('members' in (await tenant.sendRecorded('entra', 'findGroup', all)).body.Resources[0]).toBe(false);
    expect((await tenant.send('GET', `/Users/${id}`)).body.groups).toEqual([{ value: body.id, display: 'Sluice owners' }]);
    await tenant.sendRecorded('entra', 'removeMember', all);
    expect([await membersOf(body.id), await roleOf(id)]).toEqual([[], 'member']);
    await tenant.sendRecorded('entra', 'addMember', all);
    await tenant.sendRecorded('entra', 'removeMemberByFilter', all);
    expect([await membersOf(body.id), await roleOf(id)]).toEqual([[], 'member']);
    await tenant.sendRecorded('entra', 'addMember', all);
    await tenant.sendRecorded('entra', 'renameGroup', { ...all, displayName: 'Sluice viewers' });
    expect(await roleOf(id)).toBe('viewer');
    expect((await tenant.sendRecorded('entra', 'deleteGroup', all)).status).toBe(204);
    expect([(await tenant.sendRecorded('entra', 'readGroup', all)).status, await roleOf(id)]).toEqual([404, 'member']);
  });
});

describe('roles by groups', () => {
  test('follow the first entry of the mapping that names one of the groups', async () => {
    const id = await newUser();
    const viewers = await newGroup('Sluice viewers', [id]);
    const owners = await newGroup('Sluice owners', [id]);
    expect(await roleOf(id)).toBe('owner');
    await tenant.send('DELETE', `/Groups/${owners}`);
    expect(await roleOf(id)).toBe('viewer');
    await tenant.send('DELETE', `/Groups/${viewers}`);
    expect(await roleOf(id)).toBe('member');
  });

  test('leave a role that an owner gave until a group gives one', async () => {
    const id = await newUser();
    await changeUser(world.deps, tenant.owner, id, { role: 'billing' });
    await newGroup('Everyone', [id]);
    expect(await roleOf(id)).toBe('billing');
  });

  test('leave the last owner, and the one who can log in without single sign-on, an owner', async () => {
    const another = await world.createTenant();
    const id = await another.createUser(`grace@${another.domain}`);
    const { body } = await another.send('POST', '/Groups', { displayName: 'Sluice owners', members: [{ value: id }] });
    await changeUser(world.deps, another.owner, id, { name: 'Grace' });
    await world.changeConnection(another.provider, { break_glass: id });
    await another.send('DELETE', `/Groups/${body.id}`);
    expect(await roleOf(id)).toBe('owner');
  });

  test('appear in the audit log with the connection as actor', async () => {
    const id = await newUser();
    await newGroup('Sluice viewers', [id]);
    const { data } = await world.deps.audit.list(tenant.organization, { limit: 5 });
    expect(data.find(({ action, target }) => action === 'user.updated' && target.id === id)).toMatchObject({
      actor: { id: `scim:${tenant.provider.id}` },
      changes: { role: { from: 'member', to: 'viewer' } },
    });
  });
});

describe('members', () => {
  test('must be users of the connection', async () => {
    const another = await world.createTenant();
    const foreign = await another.createUser(`grace@${another.domain}`);
    const { status, body } = await tenant.send('POST', '/Groups', { displayName: 'Sluice owners', members: [{ value: foreign }] });
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    expect(await roleOf(foreign)).toBe('member');
  });

  test('are all added by many requests at the same time', async () => {
    const [id, ...others] = await Promise.all(Array.from({ length: 4 }, newUser));
    const groups = await Promise.all(['A', 'B', 'Sluice viewers'].map((name) => newGroup(name)));
    const add = (group: string, value: string) =>
      tenant.send('PATCH', `/Groups/${group}`, { Operations: [{ op: 'add', path: 'members', value: [{ value }] }] });
    const replies = await Promise.all([
      ...groups.map((group) => add(group, id as string)),
      ...others.map((other) => add(groups[0] as string, other)),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 204));
    expect((await tenant.send('GET', `/Users/${id}`)).body.groups).toHaveLength(3);
    expect((await membersOf(groups[0] as string)).toSorted()).toEqual([id, ...others].toSorted());
    expect(await roleOf(id as string)).toBe('viewer');
  });
});

describe('a request that dies in the middle', () => {
  test.each([1, 2, 3])('is completed by its repetition after a crash at transaction %i', async (at) => {
    const users = [await newUser(), await newUser(), await newUser()];
    const group = await newGroup('Others', users);
    const rename = { Operations: [{ op: 'Replace', path: 'displayName', value: 'Sluice viewers' }] };
    transactions = 0;
    crashAt = at;
    expect((await tenant.send('PATCH', `/Groups/${group}`, rename)).status).toBe(500);
    crashAt = Number.POSITIVE_INFINITY;
    expect((await tenant.send('PATCH', `/Groups/${group}`, rename)).status).toBe(204);
    expect(await Promise.all(users.map(roleOf))).toEqual(['viewer', 'viewer', 'viewer']);
    transactions = 0;
    crashAt = at;
    expect((await tenant.send('DELETE', `/Groups/${group}`)).status).toBe(500);
    crashAt = Number.POSITIVE_INFINITY;
    expect((await tenant.send('DELETE', `/Groups/${group}`)).status).toBe(204);
    expect(await Promise.all(users.map(roleOf))).toEqual(['member', 'member', 'member']);
  });

  test('returns a 503 if there was no time, and its repetition completes it', async () => {
    const id = await newUser();
    const group = await newGroup('Sluice viewers');
    const add = { Operations: [{ op: 'add', path: 'members', value: [{ value: id }] }] };
    world.clock.aheadMs = 60_000;
    expect((await tenant.send('PATCH', `/Groups/${group}`, add)).body).toMatchObject({ status: '503' });
    world.clock.aheadMs = 0;
    await tenant.send('PATCH', `/Groups/${group}`, add);
    expect(await roleOf(id)).toBe('viewer');
  });
});

describe('changes of an organization', () => {
  const MAX_CHANGES_A_MINUTE = 600;
  const countAllBut = async ({ provider }: ScimTenant, left: number): Promise<void> => {
    const { organization } = provider;
    const actor = { userId: provider.id, role: 'owner', organization } as Actor;
    for (let i = left; i < MAX_CHANGES_A_MINUTE; i++) await world.deps.calls.countCall(['scim_changes'], { actor }, Date.now());
  };

  test('are counted for all its identity providers together', async () => {
    const many = await world.createTenant();
    const other = await world.createConnection(many.organization, `other.${many.domain}`);
    const { token } = await createScimToken(world.deps, many.owner, { id: other.id, organization: undefined });
    await countAllBut(many, 1);
    expect((await many.send('POST', '/Groups', { displayName: 'Last' })).status).toBe(201);
    const refused = await world.send(token, 'POST', '/Groups', { displayName: 'Too many' });
    expect(refused.body).toMatchObject({ status: '429', detail: expect.stringContaining('600 SCIM changes a minute') });
  });

  test('count ten members of a group as one, and nothing is changed beyond the limit', async () => {
    const many = await world.createTenant();
    const members: { value: string }[] = [];
    for (let i = 0; i < 21; i++) members.push({ value: await many.createUser(`many${i}@${many.domain}`) });
    // 21 changes have created the users.
    await countAllBut(many, 2 + 21);
    expect((await many.send('POST', '/Groups', { displayName: 'Large', members })).status).toBe(429);
    expect((await many.send('GET', '/Groups')).body.totalResults).toBe(0);
  });
});

test('finds groups by their id and a member, as Entra checks a membership', async () => {
  const id = await newUser();
  const group = await newGroup('Found', [id]);
  const total = async (filter: string) => (await tenant.send('GET', `/Groups?filter=${encodeURIComponent(filter)}`)).body.totalResults;
  expect(await total(`id eq "${group}" and members eq "${id}"`)).toBe(1);
  expect(await total(`id eq "${group}" and members[value eq "user_none"]`)).toBe(0);
  expect(await total('title eq "a"')).toBeUndefined();
});

test.each([{ members: [] }, { displayName: '' }, { displayName: 'n'.repeat(257) }])('rejects the group %j', async (body) => {
  expect((await tenant.send('POST', '/Groups', body)).body).toMatchObject({ status: '400', scimType: 'invalidValue' });
});
