import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Actor, requirePermission } from '../../../../functions/control/access/actor.ts';
import { updateUser } from '../../../../functions/control/users/update-user.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { PERMISSIONS, type Role } from '../../../../shared/hosts/permissions.ts';
import { createUserDirectory } from '../../../../shared/identity/user-directory.ts';
import type { StoredUser } from '../../../../shared/identity/user-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

// The row of a release that was rolled back.
const LATER = 'auditor' as Role;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());

const dependencies = () => ({ ...accountStores(database), userPool: acceptingUserPool, issuer: ISSUER, now: Date.now });

const storeWithRole = async (role: Role, organization: string | null): Promise<StoredUser> => {
  const { users } = dependencies();
  const { userId } = await storeUser(dependencies(), { role: organization === null ? 'support' : 'member', organization });
  const before = (await users.get(userId)) as StoredUser;
  await transact(database.database, [users.toReplace({ ...before, role }, before)]);
  return (await users.get(userId)) as StoredUser;
};

describe('a user whose role this release does not know', () => {
  test('is read and listed, and has no permission', async () => {
    const organization = newId('organization');
    const user = await storeWithRole(LATER, organization);
    const { data } = await dependencies().users.list(organization, { limit: 10 });
    expect(data).toEqual([expect.objectContaining({ id: user.id, role: LATER })]);
    for (const permission of PERMISSIONS) expect(() => requirePermission({ role: user.role }, permission)).toThrow(`'${permission}'`);
  });

  test('is found by those who send emails', async () => {
    const organization = newId('organization');
    const { id } = await storeWithRole(LATER, organization);
    const directory = createUserDirectory(createRecordTable(database.database, database.tables.Accounts as string));
    expect(await directory.get(id)).toMatchObject({ role: LATER });
    expect(await directory.ownersOf(organization, 10)).toEqual([]);
  });

  test.each([
    ['of an organization', 'org', 'member', 'admin'],
    ['of the platform', null, 'support', 'member'],
  ] as const)('%s gets only roles of the same group', async (_, of, allowed, refused) => {
    const organization = of && newId('organization');
    const user = await storeWithRole(LATER, organization);
    const admin: Actor = await storeUser(dependencies(), { role: 'admin', organization: null });
    await expect(updateUser(dependencies(), admin, user.id, { role: refused })).rejects.toMatchObject({ code: 'role_not_changeable' });
    expect(await updateUser(dependencies(), admin, user.id, { role: allowed })).toMatchObject({ role: allowed });
  });
});
