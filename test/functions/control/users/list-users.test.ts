import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { listUsers, UsersQuery } from '../../../../functions/control/users/list-users.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { StoredUser } from '../../../../shared/identity/user-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());

const newOrganization = async () => {
  const stores = accountStores(database);
  const organization = newId('organization');
  const [owner, member] = [
    await storeUser(stores, { role: 'owner', organization }),
    await storeUser(stores, { role: 'member', organization }),
  ];
  return { organization, owner, member };
};

const change = async ({ userId }: Actor, fields: Partial<StoredUser>): Promise<void> => {
  const { users } = accountStores(database);
  const before = (await users.get(userId)) as StoredUser;
  await transact(database.database, [users.toReplace({ ...before, ...fields }, before)]);
};

const idsOf = async (actor: Actor, query: object): Promise<string[]> =>
  (await listUsers(accountStores(database), actor, UsersQuery.parse(query))).data.map(({ id }) => id);

describe('listUsers', () => {
  test('finds users by role and status', async () => {
    const { owner, member } = await newOrganization();
    expect(await idsOf(owner, { role: 'member' })).toEqual([member.userId]);
    await change(member, { status: 'disabled' });
    expect(await idsOf(owner, { status: 'disabled' })).toEqual([member.userId]);
    expect(await idsOf(owner, { status: 'active', role: 'member' })).toEqual([]);
  });

  test('finds a user by a part of their name, address and id, in any case', async () => {
    const { owner, member } = await newOrganization();
    await change(member, { name: 'Ada Lovelace' });
    for (const q of ['lovelace', 'ADA L', member.email.toUpperCase(), member.userId])
      expect(await idsOf(owner, { q })).toEqual([member.userId]);
  });

  test('searches the users of the platform for an admin', async () => {
    const { member } = await newOrganization();
    const admin = await storeUser(accountStores(database), { role: 'admin', organization: null });
    expect(await idsOf(admin, { organization: 'platform', q: admin.email })).toEqual([admin.userId]);
    expect(await idsOf(admin, { organization: 'platform', q: member.email })).toEqual([]);
  });

  test('finds nobody of another organization', async () => {
    const { owner } = await newOrganization();
    const other = await newOrganization();
    expect(await idsOf(owner, { q: other.member.email })).toEqual([]);
    await expect(idsOf(owner, { organization: other.organization })).rejects.toMatchObject({ status: 404 });
  });
});
