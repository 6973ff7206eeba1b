import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { updateOrganization } from '../../../../functions/control/organizations/update-organization.ts';
import { inviteUser, NewUser } from '../../../../functions/control/users/invitations.ts';
import { type AccessDependencies, deleteUser } from '../../../../functions/control/users/remove-access.ts';
import { updateUser } from '../../../../functions/control/users/update-user.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

const RACES = 12;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const dependenciesOver = (over: Database) => ({
  ...accountStores(database, over),
  userPool: acceptingUserPool,
  issuer: ISSUER,
  now: Date.now,
});

// The first two transactions start only when both are known: each was planned without the other.
const withPairedTransactions = (): Database => {
  const { promise: bothArrived, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return {
    ...database.database,
    transactWrite: async (input) => {
      arrived += 1;
      if (arrived === 2) resolve();
      await bothArrived;
      await database.database.transactWrite(input);
    },
  };
};

const twoOwners = async (): Promise<readonly [Actor, Actor]> => {
  const deps = dependenciesOver(database.database);
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  const { id: organization } = await createOrganization(deps, admin.origin, { name: 'Acme' });
  return [await storeUser(deps, { role: 'owner', organization }), await storeUser(deps, { role: 'owner', organization })];
};

type Change = (deps: AccessDependencies, by: Actor, whom: Actor) => Promise<unknown>;
const demote: Change = (deps, by, { userId }) => updateUser(deps, by, userId, { role: 'member' });
const disable: Change = (deps, by, { userId }) => updateUser(deps, by, userId, { status: 'disabled' });
const remove: Change = (deps, by, { userId }) => deleteUser(deps, by, userId, { revokes: false });

const isActiveOwner = async ({ users }: AccessDependencies, { userId }: Actor): Promise<boolean> => {
  const user = await users.get(userId);
  return user?.role === 'owner' && user.status === 'active';
};

describe('two owners', () => {
  test.each<[string, Change, Change]>([
    ['demote each other', demote, demote],
    ['demote and disable each other', demote, disable],
    ['demote and delete each other', demote, remove],
    ['delete each other', remove, remove],
  ])('leave the organization with one of them if they %s at the same time', async (_, one, other) => {
    for (let race = 0; race < RACES; race++) {
      const [ada, grace] = await twoOwners();
      const deps = dependenciesOver(withPairedTransactions());
      const results = await Promise.allSettled([one(deps, ada, grace), other(deps, grace, ada)]);
      const [lost] = results.filter((result) => result.status === 'rejected');
      expect(lost?.reason).toMatchObject({ status: 403, code: 'rights_changed', message: expect.stringContaining('nothing was changed') });
      const left = await Promise.all([ada, grace].map((owner) => isActiveOwner(deps, owner)));
      expect(left.filter(Boolean)).toHaveLength(1);
    }
  });
});

test('an owner who is demoted at the same time cannot invite another owner', async () => {
  const [ada, grace] = await twoOwners();
  const deps = {
    ...dependenciesOver(database.database),
    userPool: {
      ...acceptingUserPool,
      createUser: async () => {
        await demote(dependenciesOver(database.database), ada, grace);
        return { subject: 'invited', isNew: true };
      },
    },
  };
  const invited = inviteUser(deps, grace, NewUser.parse({ email: 'friend@example.com', role: 'owner' }));
  await expect(invited).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
  expect(await deps.users.idOfEmail('friend@example.com')).toBeUndefined();
});

test('an owner who is demoted at the same time cannot change what the organization requires of logins', async () => {
  const [ada, grace] = await twoOwners();
  const organization = ada.organization as string;
  const deps = dependenciesOver({
    ...database.database,
    transactWrite: async (input) => {
      await demote(dependenciesOver(database.database), ada, grace);
      await database.database.transactWrite(input);
    },
  });
  const before = await deps.organizations.get(organization);
  const changed = updateOrganization(deps, grace, organization, { fresh_login_minutes: 60 });
  await expect(changed).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
  expect(await deps.organizations.get(organization)).toEqual(before);
});
