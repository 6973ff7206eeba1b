import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { switchOffSecondFactor } from '../../../../functions/control/users/switch-off-second-factor.ts';
import { updateUser } from '../../../../functions/control/users/update-user.ts';
import type { StoredUser } from '../../../../shared/identity/user-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let owner: Actor;
let member: Actor;

beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator);
  const admin = await storeUser(stores, { role: 'admin', organization: null });
  const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
  owner = await storeUser(stores, { role: 'owner', organization });
  member = await storeUser(stores, { role: 'member', organization });
});
afterAll(() => emulator.close());

const stored = async ({ userId }: Actor): Promise<StoredUser> => (await stores.users.get(userId)) as StoredUser;

const withFactor = async (actor: Actor): Promise<StoredUser> => {
  await stores.users.noteSecondFactor(await stored(actor), true);
  return stored(actor);
};

const switchOff = (actor: Actor, user: StoredUser, stopTotp: () => Promise<void>) =>
  switchOffSecondFactor(
    { ...stores, userPool: { stopTotp } },
    actor,
    user,
    actor.userId === user.id ? 'user.totp_disabled' : 'user.totp_reset',
  );

const entriesOf = async ({ id, organization }: StoredUser, action: string): Promise<number> =>
  (await stores.audit.list(organization, { limit: 100 })).data.filter((entry) => entry.action === action && entry.target.id === id).length;

test.each(['user.totp_reset', 'user.totp_disabled'])('%s is in the audit log before the user pool is called', async (action) => {
  const user = await withFactor(member);
  const before = await entriesOf(user, action);
  let whileStopping = 0;
  await switchOff(action === 'user.totp_reset' ? owner : member, user, async () => {
    whileStopping = await entriesOf(user, action);
  });
  expect([whileStopping, await entriesOf(user, action)]).toEqual([before + 1, before + 1]);
  expect((await stored(member)).second_factor).toBe('off');
});

test('an owner who has just lost the role switches off nothing', async () => {
  const admin = await storeUser(stores, { role: 'admin', organization: null });
  const demoted = await storeUser(stores, { role: 'owner', organization: owner.organization });
  await updateUser({ ...stores, userPool: acceptingUserPool, issuer: ISSUER }, admin, demoted.userId, { role: 'member' });
  const user = await withFactor(member);
  const before = await entriesOf(user, 'user.totp_reset');
  let stopped = 0;
  const stopping = switchOff(demoted, user, async () => void stopped++);
  await expect(stopping).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
  expect([stopped, await entriesOf(user, 'user.totp_reset'), (await stored(member)).second_factor]).toEqual([0, before, 'on']);
});
