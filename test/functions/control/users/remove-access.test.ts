import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { rotateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { changeUser, deleteUser } from '../../../../functions/control/users/remove-access.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

let database: TestDatabase;
let organization: string;
let owner: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const deps = dependenciesOver(database.database);
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  organization = (await createOrganization(deps, admin.origin, { name: 'Acme' })).id;
  owner = await storeUser(deps, { role: 'owner', organization });
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  // A request revokes keys for 15 s after its arrival.
  owner = { ...owner, origin: { ...owner.origin, nowMs: Date.now() } };
});

const dependenciesOver = (over: Database) => ({
  ...accountStores(database, over),
  userPool: acceptingUserPool,
  issuer: ISSUER,
  now: Date.now,
});

const createKeys = async (by: Actor, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++)
    ids.push((await createApiKey(dependenciesOver(database.database), by, NewApiKey.parse({ name: `${i}` }))).id);
  return ids;
};

const memberWithKeys = async (count: number) => {
  const member = await storeUser(dependenciesOver(database.database), { role: 'member', organization });
  return { member, keys: await createKeys(member, count) };
};

const statusesOf = (keys: readonly string[]): Promise<string[]> =>
  Promise.all(keys.map(async (id) => (await database.limiters.get(id))?.status ?? 'missing'));

const crashingAt = (number: number): Database => {
  let transactions = 0;
  return {
    ...database.database,
    transactWrite: async (input) => {
      if (++transactions >= number) throw new Crash();
      await database.database.transactWrite(input);
    },
  };
};

const DISABLE = { status: 'disabled', revoke_keys: true } as const;

test('the deletion of a user takes their address out of the billing profile, which is in the audit log', async () => {
  const deps = dependenciesOver(database.database);
  const leaver = await storeUser(deps, { role: 'owner', organization });
  const before = await deps.settings.getProfile(organization);
  const emails = ['accounting@example.com', leaver.email];
  await transact(database.database, deps.settings.toReplaceProfile({ ...before, emails }, before));
  await deleteUser(deps, owner, leaver.userId, { revokes: false });
  expect((await deps.settings.getProfile(organization)).emails).toEqual(['accounting@example.com']);
  const { data } = await deps.audit.list(organization, { limit: 2 });
  expect(data.map(({ action }) => action).toSorted()).toEqual(['billing_profile.updated', 'user.deleted']);
  const changed = data.find(({ action }) => action === 'billing_profile.updated');
  expect(changed?.changes).toEqual({ emails: { from: emails, to: ['accounting@example.com'] } });
});

describe('a repeated request', () => {
  test.each([2, 3, 4])('completes disabling a user after a crash at transaction %i', async (number) => {
    const { member, keys } = await memberWithKeys(3);
    await expect(changeUser(dependenciesOver(crashingAt(number)), owner, member.userId, DISABLE)).rejects.toThrow(Crash);
    expect(await statusesOf(keys)).toContain('active');
    const { open_api_keys } = await changeUser(dependenciesOver(database.database), owner, member.userId, DISABLE);
    expect(open_api_keys).toEqual([]);
    expect(new Set(await statusesOf(keys))).toEqual(new Set(['revoked']));
  });

  test.each([2, 3, 4, 5])('completes deleting a user after a crash at transaction %i', async (number) => {
    const { member, keys } = await memberWithKeys(3);
    await expect(deleteUser(dependenciesOver(crashingAt(number)), owner, member.userId, { revokes: true })).rejects.toThrow(Crash);
    const deps = dependenciesOver(database.database);
    expect(await deps.users.get(member.userId)).toMatchObject({ status: 'disabled' });
    expect(await deleteUser(deps, owner, member.userId, { revokes: true })).toMatchObject({ deleted: true, open_api_keys: [] });
    expect(await deps.users.get(member.userId)).toBeUndefined();
    expect(new Set(await statusesOf(keys))).toEqual(new Set(['revoked']));
  });
});

describe('revoking the keys of a user who loses access', () => {
  test('ends in time: disabling names the keys that are left, deleting returns 503 and keeps the user', async () => {
    const { member, keys } = await memberWithKeys(2);
    const late = { ...dependenciesOver(database.database), now: () => owner.origin.nowMs + 60_000 };
    expect((await changeUser(late, owner, member.userId, DISABLE)).open_api_keys?.sort()).toEqual(keys.sort());
    await expect(deleteUser(late, owner, member.userId, { revokes: true })).rejects.toMatchObject({ status: 503 });
    expect(await late.users.get(member.userId)).toBeDefined();
    expect(await deleteUser(dependenciesOver(database.database), owner, member.userId, { revokes: true })).toMatchObject({ deleted: true });
    expect(new Set(await statusesOf(keys))).toEqual(new Set(['revoked']));
  });

  test('misses no key or secret that the user was creating at the same time', async () => {
    const { member, keys } = await memberWithKeys(1);
    let disabled = false;
    // Both requests were authorized before the user is disabled, and are written after it.
    const disableFirst: Database = {
      ...database.database,
      transactWrite: async (input) => {
        if (!disabled) {
          disabled = true;
          await changeUser(dependenciesOver(database.database), owner, member.userId, { status: 'disabled' });
        }
        await database.database.transactWrite(input);
      },
    };
    const late = dependenciesOver(disableFirst);
    await expect(createApiKey(late, member, NewApiKey.parse({ name: 'late' }))).rejects.toMatchObject({ code: 'rights_changed' });
    await expect(rotateApiKey(late, member, keys[0] as string, { overlap_seconds: 0 })).rejects.toMatchObject({ code: 'rights_changed' });
    const { open_api_keys } = await changeUser(late, owner, member.userId, { status: 'disabled' });
    expect(open_api_keys).toEqual(keys);
  });
});
