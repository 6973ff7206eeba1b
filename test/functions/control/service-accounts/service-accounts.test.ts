import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  listServiceAccounts,
  updateServiceAccount,
} from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import { createSecret, deleteSecret, listSecrets } from '../../../../functions/control/service-accounts/secrets.ts';
import { NewSecret, NewServiceAccount } from '../../../../functions/control/service-accounts/service-account.ts';
import { visibleServiceAccount } from '../../../../functions/control/service-accounts/service-account-rights.ts';
import { inviteUser, NewUser, resendInvitation } from '../../../../functions/control/users/invitations.ts';
import { deleteUser } from '../../../../functions/control/users/remove-access.ts';
import { resetTotp } from '../../../../functions/control/users/reset-totp.ts';
import { updateUser, visibleUser } from '../../../../functions/control/users/update-user.ts';
import { permissionsOfServiceAccount } from '../../../../shared/hosts/permissions.ts';
import { parseServiceAccountSecret } from '../../../../shared/service-accounts/secret.ts';
import type { StoredServiceAccount } from '../../../../shared/service-accounts/service-account-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { acceptingUserPool, storeUser } from '../../../support/fixtures/stored-users.ts';
import { serviceAccountStores } from './service-account-stores.ts';

let database: TestDatabase;
let deps: ReturnType<typeof dependencies>;
let admin: Actor;
let owner: Actor;
let otherOwner: Actor;

const dependencies = (client = database.database) => ({
  ...serviceAccountStores(database, client),
  userPool: { ...acceptingUserPool, createSilentUser: async () => ({ subject: newId('user'), isNew: true }) },
});

beforeAll(async () => {
  database = await startTestDatabase();
  deps = dependencies(await database.as('control'));
  admin = await storeUser(deps, { role: 'admin', organization: null });
  const newOwner = async (name: string): Promise<Actor> =>
    storeUser(deps, { role: 'owner', organization: (await createOrganization(deps, admin.origin, { name })).id });
  owner = await newOwner('Acme');
  otherOwner = await newOwner('Other');
});
afterAll(() => database.close());
beforeEach(() => {
  // A request revokes keys for 15 s after its arrival.
  owner = { ...owner, origin: { ...owner.origin, nowMs: Date.now() } };
});

const create = (by: Actor, fields: object = {}) => createServiceAccount(deps, by, NewServiceAccount.parse({ name: 'ci', ...fields }));
const secretOf = (by: Actor, id: string, fields: object = {}) => createSecret(deps, by, id, NewSecret.parse(fields));
const asActor = ({ id, email, role, organization, permissions }: StoredServiceAccount): Actor => ({
  userId: id,
  email,
  role,
  organization,
  kind: 'service_account',
  permissions: permissionsOfServiceAccount(role, permissions),
  maxApiKeys: 5,
  origin: { ...owner.origin, actor: { type: 'user', id, email, organization } },
});
const actorOf = async (id: string): Promise<Actor> => asActor((await deps.serviceAccounts.find(id)) as StoredServiceAccount);

describe('a service account', () => {
  test('is listed apart from users, and is no user', async () => {
    const account = await create(owner, { role: 'viewer', permissions: ['usage:read'] });
    expect(account).toMatchObject({ object: 'service_account', permissions: ['usage:read'], effective_permissions: ['usage:read'] });
    const { data } = await listServiceAccounts(deps, owner, { limit: 100 });
    expect(data.map(({ id }) => id)).toContain(account.id);
    expect((await deps.users.list(owner.organization, { limit: 100 })).data.map(({ id }) => id)).not.toContain(account.id);
    await expect(visibleUser(deps, owner, account.id)).rejects.toMatchObject({ status: 404 });
    await expect(visibleUser(deps, await actorOf(account.id), account.id)).rejects.toMatchObject({ status: 404 });
  });

  test('does not exist for another organization', async () => {
    const { id } = await create(owner);
    const { secret, id: secretId } = await secretOf(owner, id);
    expect(secret).toMatch(/^sas_/);
    for (const attempt of [
      visibleServiceAccount(deps, otherOwner, id),
      updateServiceAccount(deps, otherOwner, id, { name: 'taken' }),
      deleteServiceAccount(deps, otherOwner, id, { revokes: false }),
      secretOf(otherOwner, id),
      listSecrets(deps, otherOwner, id),
      deleteSecret(deps, otherOwner, { id, secretId }, { endsSessions: true }),
    ])
      await expect(attempt).rejects.toMatchObject({ status: 404, code: 'service_account_not_found' });
    await expect(visibleServiceAccount(deps, owner, owner.userId)).rejects.toMatchObject({ status: 404 });
  });

  test('never has the permissions that only people have', async () => {
    const { effective_permissions } = await create(owner, { role: 'owner' });
    for (const permission of ['account:write', 'service_accounts:write', 'identity_providers:write'])
      expect(effective_permissions).not.toContain(permission);
    expect(effective_permissions).toContain('billing:read');
    await expect(create(owner, { role: 'owner', permissions: ['service_accounts:write'] })).rejects.toMatchObject({ status: 400 });
    await expect(create(owner, { role: 'viewer', permissions: ['keys:write'] })).rejects.toMatchObject({ status: 400 });
  });

  test('has at most the rights of the one who creates, changes, enables or gives out a secret of it', async () => {
    await expect(create(owner, { role: 'admin' })).rejects.toMatchObject({ status: 403, param: 'role' });
    const ofContent = await create(owner, { role: 'owner' });
    const organization = owner.organization ?? undefined;
    await expect(create(admin, { role: 'owner', organization })).rejects.toMatchObject({ status: 403, param: 'role' });
    await expect(secretOf(admin, ofContent.id)).rejects.toMatchObject({ status: 403 });
    await expect(updateServiceAccount(deps, admin, ofContent.id, { permissions: ['payloads:read'] })).rejects.toMatchObject({
      status: 403,
    });
    await updateServiceAccount(deps, admin, ofContent.id, { status: 'disabled' });
    await expect(updateServiceAccount(deps, admin, ofContent.id, { status: 'active' })).rejects.toMatchObject({ status: 403 });
    await create(admin, { role: 'member', organization });
    expect(await create(admin, { role: 'support' })).toMatchObject({ organization: null });
    await expect(updateServiceAccount(deps, admin, ofContent.id, { role: 'support' })).rejects.toMatchObject({
      code: 'role_not_changeable',
    });
  });

  test('gains no rights through users', async () => {
    const { id } = await create(owner, { role: 'owner', permissions: ['users:write', 'users:read', 'keys:read'] });
    const program = await actorOf(id);
    const { organization } = owner;
    const colleague = await storeUser(deps, { role: 'owner', organization });
    const viewer = await storeUser(deps, { role: 'viewer', organization });
    const rejected = { status: 403, code: 'people_only' };
    await expect(inviteUser(deps, program, NewUser.parse({ email: 'a@example.com', role: 'owner' }))).rejects.toMatchObject(rejected);
    await expect(inviteUser(deps, program, NewUser.parse({ email: 'a@example.com' }))).rejects.toMatchObject(rejected);
    await expect(updateUser(deps, program, viewer.userId, { role: 'owner' })).rejects.toMatchObject(rejected);
    await expect(updateUser(deps, program, colleague.userId, { status: 'disabled' })).rejects.toMatchObject(rejected);
    await expect(deleteUser(deps, program, colleague.userId, { revokes: false })).rejects.toMatchObject(rejected);
    await expect(resendInvitation(deps, program, colleague.userId)).rejects.toMatchObject(rejected);
    await expect(resetTotp({ ...deps, wait: async () => undefined }, program, colleague.userId)).rejects.toMatchObject(rejected);
    const whole = await actorOf((await create(owner, { role: 'owner' })).id);
    await updateUser(deps, whole, viewer.userId, { role: 'member' });
  });

  test('loses its sessions with a change of its rights, and only then', async () => {
    const { id, version } = await create(owner);
    const before = await deps.serviceAccounts.find(id);
    await updateServiceAccount(deps, owner, id, { name: 'renamed', description: 'text' }, [version]);
    expect((await deps.serviceAccounts.find(id))?.tokens_valid_from).toBe(before?.tokens_valid_from);
    const nowSeconds = Math.floor(owner.origin.nowMs / 1_000);
    expect(await updateServiceAccount(deps, owner, id, { permissions: ['keys:read'] })).toMatchObject({
      version: 3,
      permissions: ['keys:read'],
    });
    expect((await deps.serviceAccounts.find(id))?.tokens_valid_from).toBe(nowSeconds + 1);
    await expect(updateServiceAccount(deps, owner, id, { name: 'late' }, [1])).rejects.toMatchObject({ status: 412 });
  });

  test('is deleted with its secrets, and its keys are named or revoked', async () => {
    const { id } = await create(owner);
    await secretOf(owner, id);
    const { id: key } = await createApiKey(deps, await actorOf(id), NewApiKey.parse({ name: 'by a program' }));
    expect(await updateServiceAccount(deps, owner, id, { status: 'disabled' })).toMatchObject({ open_api_keys: [key] });
    expect(await deleteServiceAccount(deps, owner, id, { revokes: true })).toMatchObject({ deleted: true, open_api_keys: [] });
    expect(await deps.serviceAccounts.find(id)).toBeUndefined();
    expect(await deps.serviceAccounts.secretsOf(id)).toEqual([]);
    await expect(deleteServiceAccount(deps, owner, id, { revokes: true })).rejects.toMatchObject({ status: 404 });
  });

  test('is one of at most a hundred, also if they are created at once', async () => {
    const full = await storeUser(deps, {
      role: 'owner',
      organization: (await createOrganization(deps, admin.origin, { name: 'Full' })).id,
    });
    for (let i = 0; i < 98; i++) await create(full);
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => create(full)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(create(full)).rejects.toMatchObject({ code: 'too_many_service_accounts' });
  });
});

describe('a secret of a service account', () => {
  test('is returned once, and only its hash is stored', async () => {
    const { id } = await create(owner);
    const { secret, ...wire } = await secretOf(owner, id);
    expect(parseServiceAccountSecret(secret)).toMatchObject({ id: wire.id });
    expect(wire).toMatchObject({ hint: `sas_…${secret.slice(-4)}`, last_used_at: null, expires_at: wire.created_at + 90 * 86_400 });
    expect((await listSecrets(deps, owner, id)).data).toEqual([wire]);
    const { secret: stored } = await deps.serviceAccounts.findWithSecret(id, wire.id);
    expect(JSON.stringify(stored)).not.toContain(secret.slice(-34));
    const { data } = await deps.audit.list(owner.organization, { limit: 100 });
    expect(data.map(({ action }) => action)).toContain('service_account.secret_created');
    expect(JSON.stringify(data)).not.toContain(secret);
  });

  test('is one of at most two that have not expired, also if they are created at once', async () => {
    const { id } = await create(owner);
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => secretOf(owner, id, { expires_in_seconds: 60 })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(secretOf(owner, id)).rejects.toMatchObject({ code: 'too_many_secrets' });
    const later = { ...owner, origin: { ...owner.origin, nowMs: owner.origin.nowMs + 61_000 } };
    const { id: third } = await secretOf(later, id);
    await secretOf(later, id);
    expect((await listSecrets(deps, owner, id)).data).toHaveLength(2);
    await expect(secretOf(later, id)).rejects.toMatchObject({ code: 'too_many_secrets' });
    await deleteSecret(deps, owner, { id, secretId: third }, { endsSessions: false });
    await secretOf(later, id);
  });

  test('ends the sessions when it is deleted, if asked to', async () => {
    const { id } = await create(owner);
    const { id: secretId } = await secretOf(owner, id);
    const beforeSeconds = Math.floor(Date.now() / 1_000);
    await deleteSecret(deps, owner, { id, secretId }, { endsSessions: true });
    expect((await deps.serviceAccounts.find(id))?.tokens_valid_from).toBeGreaterThan(beforeSeconds);
    expect((await listSecrets(deps, owner, id)).data).toEqual([]);
    await expect(deleteSecret(deps, owner, { id, secretId }, { endsSessions: true })).rejects.toMatchObject({ status: 404 });
  });

  test('ends the sessions also if the request crashes when the secret is gone', async () => {
    const { id } = await create(owner);
    const { id: secretId } = await secretOf(owner, id);
    const beforeSeconds = Math.floor(Date.now() / 1_000);
    const crashing = { ...deps, serviceAccounts: { ...deps.serviceAccounts, endSessions: () => Promise.reject(new Error('crashed')) } };
    await expect(deleteSecret(crashing, owner, { id, secretId }, { endsSessions: true })).rejects.toThrow('crashed');
    expect((await listSecrets(deps, owner, id)).data).toEqual([]);
    expect((await deps.serviceAccounts.find(id))?.tokens_valid_from).toBeGreaterThan(beforeSeconds);
  });
});
