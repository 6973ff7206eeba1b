import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor, UserRole } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const MORNING = Date.UTC(2026, 10, 21, 6);
const HOURS_LEFT = 18;

let database: TestDatabase;
let organization: string;
beforeAll(async () => {
  database = await startTestDatabase();
  const stores = accountStores(database);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: MORNING });
  organization = (await createOrganization(stores, admin.origin, { name: 'Acme' })).id;
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const create = (by: Actor) => createApiKey(accountStores(database), by, NewApiKey.parse({ name: 'key' }));
const revoke = (by: Actor, id: string) => revokeApiKey(accountStores(database), by, id);
const user = (role: UserRole, fields: { maxApiKeys?: number } = {}): Promise<Actor> =>
  storeUser(accountStores(database), { role, organization, nowMs: MORNING, ...fields });
const at = (actor: Actor, nowMs: number): Actor => ({ ...actor, origin: { ...actor.origin, nowMs } });

const setCount = (account: string, record: string, count: number) =>
  database.database.put({ TableName: database.tables.Accounts as string, Item: { account, record, count } });

const reached = { status: 409, code: 'too_many_keys', message: expect.stringContaining('owner') };

describe('a member', () => {
  test('has at most five active keys, however many are created at the same time', async () => {
    const member = await user('member');
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => create(member)));
    const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(created).toHaveLength(5);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(reached);
    // A key that is revoked twice makes room for one other key.
    for (let i = 0; i < 2; i++) await revoke(member, created[0]?.id as string);
    await create(member);
    await expect(create(member)).rejects.toMatchObject(reached);
  });

  test.each([0, 7])('has at most as many keys as its quota of %i', async (maxApiKeys) => {
    const member = await user('member', { maxApiKeys });
    for (let i = 0; i < maxApiKeys; i++) await create(member);
    await expect(create(member)).rejects.toMatchObject(reached);
  });

  test('creates at most twenty keys a day, also if they are revoked', async () => {
    const member = await user('member');
    for (let i = 0; i < 20; i++) await revoke(member, (await create(member)).id);
    await expect(create(member)).rejects.toMatchObject({ status: 429, headers: { 'retry-after': String(HOURS_LEFT * 3_600) } });
    await create(at(member, MORNING + HOURS_LEFT * 3_600_000));
  });

  test('is not charged for a creation that failed', async () => {
    const member = await user('member', { maxApiKeys: 1 });
    const { id } = await create(member);
    for (let i = 0; i < 25; i++) await expect(create(member)).rejects.toMatchObject(reached);
    await revoke(member, id);
    await create(member);
  });

  test('cannot use up the keys that an organization can ever have', async () => {
    const member = await user('member');
    await setCount(member.userId, 'keys-ever', 1_000);
    await expect(create(member)).rejects.toMatchObject({ ...reached, message: expect.stringContaining('including revoked ones') });
    await create(await user('member'));
  });
});

test('an organization creates at most a thousand keys a day, whoever of its users creates them', async () => {
  const stores = accountStores(database);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: MORNING });
  const { id } = await createOrganization(stores, admin.origin, { name: 'Busy' });
  const owner = await storeUser(stores, { role: 'owner', organization: id, nowMs: MORNING });
  const member = await storeUser(stores, { role: 'member', organization: id, nowMs: MORNING });
  const count = (): Promise<void> =>
    transact(database.database, [
      stores.quotas.toCount({ kind: 'api_key', span: 'day', account: id, max: 1_000 }, MORNING, () => new Error('full')),
    ]);
  for (let i = 0; i < 998; i++) await count();
  await create(owner);
  const last = await create(member);
  await revoke(member, last.id);
  for (const by of [owner, member])
    await expect(create(by)).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('1000 API keys per day'),
      headers: { 'retry-after': String(HOURS_LEFT * 3_600) },
    });
  await createApiKey(stores, admin, NewApiKey.parse({ name: 'key', organization: id }));
  await create(at(owner, MORNING + HOURS_LEFT * 3_600_000));
});

test('an owner has no quota of their own, but has reached one after becoming a member', async () => {
  const owner = await user('owner');
  const keys = [];
  for (let i = 0; i < 6; i++) keys.push((await create(owner)).id);
  await database.database.update({
    TableName: database.tables.Accounts as string,
    Key: { account: owner.userId, record: 'user' },
    UpdateExpression: 'SET #role = :member',
    ExpressionAttributeNames: { '#role': 'role' },
    ExpressionAttributeValues: { ':member': 'member' },
  });
  const member: Actor = { ...owner, role: 'member' };
  await expect(create(member)).rejects.toMatchObject(reached);
  for (const id of keys.slice(0, 2)) await revoke(member, id);
  await create(member);
});

test('revoking a key from before members were counted gives its creator no additional one', async () => {
  const member = await user('member', { maxApiKeys: 1 });
  const { id } = await create(member);
  await database.database.update({
    TableName: database.tables.Accounts as string,
    Key: { account: organization, record: `key#${id}` },
    UpdateExpression: 'REMOVE counted_for',
  });
  await revoke(member, id);
  await expect(create(member)).rejects.toMatchObject(reached);
});
