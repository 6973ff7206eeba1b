import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { inviteUser, NewUser, resendInvitation } from '../../../../functions/control/users/invitations.ts';
import { changeUser, deleteUser } from '../../../../functions/control/users/remove-access.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import { identityProvider } from '../../../shared/single-sign-on/identity-providers.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { storeIdentityProvider } from '../../../support/fixtures/scim/store-identity-provider.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

let database: TestDatabase;
let owner: Actor;
let otherOwner: Actor;
const mailed: string[] = [];

const userPool = {
  ...acceptingUserPool,
  createUser: async ({ email, temporaryPassword }: { email: string; temporaryPassword?: string }) => {
    if (temporaryPassword === undefined) mailed.push(email);
    return { subject: newId('user'), isNew: true };
  },
  isInvited: async () => true,
  resendInvitation: async (email: string) => mailed.push(email) > 0,
} as Partial<UserPool> as UserPool;

const dependencies = () => ({ ...accountStores(database), userPool, issuer: ISSUER, now: Date.now });

beforeAll(async () => {
  database = await startTestDatabase();
  const deps = dependencies();
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  const newOwner = async (name: string): Promise<Actor> =>
    storeUser(deps, { role: 'owner', organization: (await createOrganization(deps, admin.origin, { name })).id });
  owner = await newOwner('Acme');
  otherOwner = await newOwner('Other');
});
afterAll(() => database.close());
beforeEach(() => {
  mailed.length = 0;
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const invite = (by: Actor, fields: object = {}) =>
  inviteUser(dependencies(), by, NewUser.parse({ email: `${newId('user').toLowerCase()}@example.com`, ...fields }));

// One after the other.
const statusesOf = async (times: number, attempt: () => Promise<unknown>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++)
    statuses.push(
      await attempt().then(
        () => 200,
        ({ status }: { status: number }) => status,
      ),
    );
  return statuses;
};

test('an address gets at most three invitations in an hour, and everyone else still gets theirs', async () => {
  const { id, email } = await invite(owner);
  const statuses = await statusesOf(10, () => resendInvitation(dependencies(), owner, id));
  expect(statuses).toEqual([200, 200, ...Array(8).fill(429)]);
  expect(mailed).toEqual([email, email, email]);
  await expect(resendInvitation(dependencies(), owner, id)).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
    message: expect.stringContaining('This email address can get 3 invitations an hour.'),
  });
  expect((await invite(owner)).status).toBe('active');
});

test('an address is counted for each sent invitation, whoever sends it, and not without an email', async () => {
  const email = `${newId('user').toLowerCase()}@example.com`;
  const inviteAndDelete = (by: Actor, fields: object = {}) =>
    statusesOf(1, async () => {
      const { id } = await invite(by, { email, ...fields });
      await deleteUser(dependencies(), by, id, { revokes: false });
    });
  const { id } = await invite(owner, { email });
  expect(await statusesOf(5, () => invite(otherOwner, { email }))).toEqual(Array(5).fill(409));
  await deleteUser(dependencies(), owner, id, { revokes: false });
  const statuses = [];
  for (const by of [otherOwner, owner, otherOwner, owner]) statuses.push(...(await inviteAndDelete(by)));
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect(mailed).toEqual([email, email, email]);
  expect(await inviteAndDelete(owner, { temporary_password: 'For-the-first-day-1' })).toEqual([200]);
});

test('an invitation is in the audit log before it is sent again', async () => {
  const deps = dependencies();
  const { id } = await invite(owner);
  const logged = async (): Promise<string[]> =>
    (await deps.audit.list(owner.organization, { limit: 100 })).data
      .filter(({ target }) => target.id === id)
      .map(({ action }) => action)
      .sort();
  let whileSending: string[] = [];
  const resending = {
    ...userPool,
    resendInvitation: async () => {
      whileSending = await logged();
      return true;
    },
  };
  await resendInvitation({ ...deps, userPool: resending }, owner, id);
  expect(whileSending).toEqual(['user.invited', 'user.invited_again']);
  expect(await logged()).toEqual(whileSending);
});

test('a user without a pending invitation gets none, which is neither recorded nor counted', async () => {
  const deps = dependencies();
  const { id, email } = await invite(owner);
  const uninvited = { ...deps, userPool: { ...userPool, isInvited: async () => false } };
  const statuses = await statusesOf(3, () => resendInvitation(uninvited, owner, id));
  expect([statuses, mailed]).toEqual([[409, 409, 409], [email]]);
  const { data } = await deps.audit.list(owner.organization, { limit: 100 });
  expect(data.filter(({ target }) => target.id === id).map(({ action }) => action)).toEqual(['user.invited']);
  expect(await statusesOf(2, () => resendInvitation(deps, owner, id))).toEqual([200, 200]);
});

test('a disabled user gets no invitation again', async () => {
  const { id, email } = await invite(owner);
  await changeUser(dependencies(), owner, id, { status: 'disabled' });
  await expect(resendInvitation(dependencies(), owner, id)).rejects.toMatchObject({ status: 409, code: 'user_disabled' });
  expect(mailed).toEqual([email]);
});

test('an organization can have 1,000 users, and another one after a deletion', async () => {
  const { database: over, users } = dependencies();
  const { id: organization } = await createOrganization(dependencies(), owner.origin, { name: 'Large' });
  const large = await storeUser(dependencies(), { role: 'owner', organization });
  const { id } = await invite(large, { temporary_password: 'For-the-first-day-1' });
  // As 998 more invitations would leave it.
  const accounts = createRecordTable(over, database.tables.Accounts as string);
  const counted = accounts.toCount({ account: organization, record: 'users' }, 998, 1_000, () => new Error('There are too many.'));
  await transact(over, [counted]);
  const next = () => invite(large, { temporary_password: 'For-the-first-day-1' });
  await expect(next()).rejects.toMatchObject({ status: 409, code: 'too_many_users' });
  await deleteUser(dependencies(), large, id, { revokes: false });
  expect(await users.get((await next()).id)).toMatchObject({ organization, status: 'active' });
  await expect(next()).rejects.toMatchObject({ status: 409, code: 'too_many_users' });
});

test.each(['sa-0a1b2c3d4e@service.invalid', 'SA-0a1b2c3d4e@Service.Invalid'])(
  'nobody is invited with the address of a service account (%s)',
  async (email) => {
    await expect(invite(owner, { email })).rejects.toMatchObject({
      status: 400,
      param: 'email',
      message: expect.stringContaining('reserved'),
    });
    expect(mailed).toEqual([]);
  },
);

test('an address in a verified domain is invited only by owners of its organization and by admins', async () => {
  const deps = dependencies();
  const domain = `${newId('user').slice(5).toLowerCase()}.example.com`;
  const provider = await storeIdentityProvider(database, { organization: otherOwner.organization as string, domain });
  await transact(deps.database, [deps.identityProviders.toHoldDomain(provider, domain)]);
  const email = (name: string): string => `${name}@${domain}`;
  await expect(invite(owner, { email: email('ada') })).rejects.toMatchObject({
    status: 409,
    code: 'domain_of_another_organization',
    param: 'email',
    message: expect.stringContaining(`verified the domain ${domain}`),
  });
  expect(await deps.users.idOfEmail(email('ada'))).toBeUndefined();
  expect(mailed).toEqual([]);
  expect((await invite(otherOwner, { email: email('ada') })).status).toBe('active');
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  expect(await invite(admin, { email: email('bob'), organization: owner.organization })).toMatchObject({
    organization: owner.organization,
  });
  expect((await invite(owner, { email: `ada@sub.${domain}` })).status).toBe('active');
});

test('an invitation while an identity provider is enforced is not emailed, and not sent again', async () => {
  const deps = dependencies();
  const { id: organization } = await createOrganization(deps, owner.origin, { name: 'Enforced' });
  const enforcing = await storeUser(deps, { role: 'owner', organization });
  const provider = identityProvider({ organization, enforced: true, break_glass: enforcing.userId });
  await transact(deps.database, deps.identityProviders.toCreate(provider));
  const { id } = await invite(enforcing);
  await expect(resendInvitation(dependencies(), enforcing, id)).rejects.toMatchObject({ code: 'single_sign_on_enforced' });
  expect(mailed).toEqual([]);
  await invite(owner);
  expect(mailed).toHaveLength(1);
});
