import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { callsOf, startUsers, TEMPORARY, type Users, untilNextSecond } from './user-fixtures.ts';

let users: Users;
let run: Users['run'];
let control: Users['control'];
let admin: Users['admin'];
let organization: Users['organization'];
let owner: Users['owner'];
beforeAll(async () => {
  users = await startUsers();
  ({ run, control, admin, organization, owner } = users);
});
afterAll(async () => {
  await users.run.close();
});

const { invite, login, lastCodeTo, actionsOf, tokenStatuses } = callsOf(() => users);

describe('a user', () => {
  test('is invited by email without a temporary password, and can be invited again', async () => {
    const email = 'mailed@example.com';
    const { id } = await control.done('POST', '/v1/users', { token: owner.token, body: { email } });
    const first = (await lastCodeTo(email)) as string;
    expect((await control.call('POST', `/v1/users/${id}/invitation`, { token: owner.token })).status).toBe(202);
    const second = (await lastCodeTo(email)) as string;
    expect(second).not.toBe(first);
    expect((await login(email, first)).status).toBe(401);
    expect((await login(email, second)).body.challenge).toBe('new_password');
    expect((await control.call('POST', `/v1/users/${owner.id}/invitation`, { token: owner.token })).body.error.code).toBe(
      'already_logged_in',
    );
  });

  test('cannot have the address of another user, in any case and any organization: 409', async () => {
    const { id: other } = await control.createOrganization('Other');
    await invite('taken@example.com', { organization: other }, admin);
    const { status, body } = await invite('Taken@Example.com');
    expect([status, body.error]).toMatchObject([409, { code: 'email_taken', param: 'email' }]);
  });

  test('who was left incomplete by a crash can be invited again, and their old password no longer works', async () => {
    const email = 'half@example.com';
    await run.identity.createUser(email, 'Password-of-before-1');
    expect((await login(email, 'Password-of-before-1')).status).toBe(401);
    expect((await invite(email)).status).toBe(201);
    expect((await login(email, 'Password-of-before-1')).status).toBe(401);
    expect((await login(email, TEMPORARY)).body.challenge).toBe('new_password');
  });

  test('invited twice at the same time is created once', async () => {
    const answers = await Promise.all([invite('twice@example.com'), invite('twice@example.com')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await login('twice@example.com', TEMPORARY)).body.challenge).toBe('new_password');
  });

  test('loses access at once when disabled, and can log in again when enabled', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const me = () => control.call('GET', '/v1/me', { token: user.token });
    const set = (status: string) => control.done('PATCH', `/v1/users/${user.id}`, { token: owner.token, body: { status } });
    expect((await me()).status).toBe(200);
    await untilNextSecond();
    await set('disabled');
    expect((await me()).status).toBe(401);
    expect((await control.call('POST', '/v1/auth/refresh', { body: { refresh_token: user.refreshToken } })).status).toBe(401);
    await set('active');
    // Earlier tokens stay invalid.
    expect(await tokenStatuses(user)).toEqual([401, 401]);
    expect((await login(user.email, user.password)).status).toBe(200);
  });

  test('loses access when deleted, and can be invited again with another password', async () => {
    const user = await control.createUser({ role: 'member', organization });
    expect(await control.done('DELETE', `/v1/users/${user.id}`, { token: owner.token })).toEqual({
      id: user.id,
      object: 'user',
      deleted: true,
      open_api_keys: [],
    });
    expect((await control.call('GET', '/v1/me', { token: user.token })).status).toBe(401);
    expect((await login(user.email, user.password)).status).toBe(401);
    expect((await control.call('GET', `/v1/users/${user.id}`, { token: owner.token })).status).toBe(404);
    expect((await invite(user.email)).status).toBe(201);
    expect((await login(user.email, user.password)).status).toBe(401);
    expect((await login(user.email, TEMPORARY)).body.challenge).toBe('new_password');
  });

  test('gets the rights of a new role at the next request', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const list = () => control.call('GET', '/v1/users', { token: user.token });
    expect((await list()).status).toBe(403);
    await control.done('PATCH', `/v1/users/${user.id}`, { token: owner.token, body: { role: 'owner' } });
    expect((await list()).status).toBe(200);
  });

  test('cannot change their own role or status, or make anyone an admin', async () => {
    const patch = (id: string, body: object, { token } = owner) => control.call('PATCH', `/v1/users/${id}`, { token, body });
    expect((await patch(owner.id, { role: 'member' })).body.error.code).toBe('own_rights');
    expect((await patch(admin.id, { status: 'disabled' }, admin)).body.error.code).toBe('own_rights');
    expect((await control.call('DELETE', `/v1/users/${admin.id}`, { token: admin.token })).body.error.code).toBe('own_rights');
    const user = await control.createUser({ role: 'member', organization });
    expect((await patch(user.id, { role: 'admin' })).body.error.code).toBe('role_not_changeable');
    expect((await invite('root@example.com', { role: 'admin' })).status).toBe(403);
    expect((await patch(owner.id, { name: 'Ada' })).body).toMatchObject({ name: 'Ada', role: 'owner' });
  });

  test('changed twice with the same ETag is changed once, and the other change gets 412', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const { headers } = await control.call('GET', `/v1/users/${user.id}`, { token: owner.token });
    const rename = (name: string) =>
      control.call('PATCH', `/v1/users/${user.id}`, {
        token: owner.token,
        body: { name },
        headers: { 'if-match': headers.get('etag') as string },
      });
    const answers = await Promise.all([rename('a'), rename('b')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});

describe('the API keys of a user', () => {
  const createKey = async (token: string, of?: string): Promise<{ id: string; secret: string }> =>
    control.done('POST', '/v1/api-keys', { token, body: { name: 'key', ...(of && { organization: of }) } });
  const opens = async (secret: string): Promise<boolean> =>
    (await fetch(`${run.base_url}/v1/key`, { headers: { authorization: `Bearer ${secret}` } })).status === 200;

  test('still work when the user is disabled, which names them, until they are revoked as well', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const [first, revoked, second] = [await createKey(user.token), await createKey(user.token), await createKey(user.token)];
    await control.done('DELETE', `/v1/api-keys/${revoked.id}`, { token: user.token });
    const others = await createKey(owner.token);
    const set = (body: object) => control.done('PATCH', `/v1/users/${user.id}`, { token: owner.token, body });
    expect((await set({ name: 'Grace' })).open_api_keys).toBeUndefined();
    expect((await set({ status: 'disabled' })).open_api_keys.sort()).toEqual([first.id, second.id].sort());
    expect([await opens(first.secret), await opens(second.secret)]).toEqual([true, true]);
    expect((await set({ status: 'disabled', revoke_keys: true })).open_api_keys).toEqual([]);
    expect([await opens(first.secret), await opens(second.secret), await opens(others.secret)]).toEqual([false, false, true]);
    expect((await actionsOf()).filter((action) => action === 'api_key.revoked').length).toBeGreaterThanOrEqual(3);
  });

  test('can be revoked only when the user loses access', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const { status, body } = await control.call('PATCH', `/v1/users/${user.id}`, {
      token: owner.token,
      body: { name: 'Grace', revoke_keys: true },
    });
    expect([status, body.error.param]).toEqual([400, 'revoke_keys']);
  });

  test('are named or revoked when the user is deleted', async () => {
    for (const revokes of [false, true]) {
      const user = await control.createUser({ role: 'member', organization });
      const { id, secret } = await createKey(user.token);
      const deleted = await control.done('DELETE', `/v1/users/${user.id}?revoke_keys=${revokes}`, { token: owner.token });
      expect(deleted.open_api_keys).toEqual(revokes ? [] : [id]);
      expect(await opens(secret)).toBe(!revokes);
    }
  });

  test('are found in every organization if the user is an admin', async () => {
    const user = await control.createUser({ role: 'admin' });
    const { id: other } = await control.createOrganization('Other');
    const keys = [await createKey(user.token, organization), await createKey(user.token, other), await createKey(user.token, other)];
    await control.done('DELETE', `/v1/api-keys/${keys[2]?.id}`, { token: user.token });
    const disable = (body: object = {}) =>
      control.done('PATCH', `/v1/users/${user.id}`, { token: admin.token, body: { status: 'disabled', ...body } });
    expect((await disable()).open_api_keys.sort()).toEqual([keys[0]?.id, keys[1]?.id].sort());
    expect((await disable({ revoke_keys: true })).open_api_keys).toEqual([]);
    for (const { secret } of keys) expect(await opens(secret)).toBe(false);
  });
});

test('concurrent invitations of an address create one user, with the password of the one that succeeded', async () => {
  const { id: other } = await control.createOrganization('Rival');
  for (let round = 0; round < 6; round++) {
    const email = `raced-${round}@example.com`;
    const inviteWith = (password: string, fields: object) =>
      control.call('POST', '/v1/users', { token: admin.token, body: { email, temporary_password: password, ...fields } });
    const passwords = ['Password-of-the-first-1', 'Password-of-the-second-2', 'Password-of-the-third-3'];
    const answers = await Promise.all(passwords.map((text, i) => inviteWith(text, { organization: i % 2 ? other : organization })));
    const winner = answers.findIndex(({ status }) => status === 201);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    for (const [i, password] of passwords.entries()) expect((await login(email, password)).status).toBe(i === winner ? 200 : 401);
  }
});

test('a token of a deleted user is rejected after their address is invited again', async () => {
  const user = await control.createUser({ role: 'member', organization });
  await untilNextSecond();
  // The state after a crash during a deletion: deleted here, but not at the identity provider.
  const stored = (await run.accounts.users.get(user.id)) as StoredUser;
  await transact(run.database, run.accounts.users.toDelete(stored, 'died', Date.now() - 120_000));
  const { id: other } = await control.createOrganization('Next');
  expect((await invite(user.email, { role: 'owner', organization: other }, admin)).body.id).toBe(user.id);
  expect((await control.call('GET', '/v1/me', { token: user.token })).status).toBe(401);
  expect((await login(user.email, user.password)).status).toBe(401);
});

test('anything but a user id returns 404, even if it is the key of another record', async () => {
  const hash = createHash('sha256').update(admin.email).digest('base64url');
  for (const id of [`email%23${hash}`, 'x'.repeat(2_000), 'user_%00', 'platform', '__proto__'])
    for (const { token } of [owner, admin]) expect((await control.call('GET', `/v1/users/${id}`, { token })).status).toBe(404);
});

test('two admins who disable each other at the same time cannot both succeed', async () => {
  const pair = [await control.createUser({ role: 'admin' }), await control.createUser({ role: 'admin' })] as const;
  const disable = (by: SignedIn, whom: SignedIn) =>
    control.call('PATCH', `/v1/users/${whom.id}`, { token: by.token, body: { status: 'disabled' } });
  await Promise.all([disable(pair[0], pair[1]), disable(pair[1], pair[0])]);
  const left = await Promise.all(pair.map(({ token }) => control.call('GET', '/v1/me', { token })));
  expect(left.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
});

test('admins can list the admins, and owners the users of their organization', async () => {
  const list = (query: string, { token } = admin) => control.call('GET', `/v1/users${query}`, { token });
  expect((await list('?organization=platform&limit=100')).body.data.map(({ id }: { id: string }) => id)).toContain(admin.id);
  expect((await list('', owner)).body.data.every((user: { organization: string }) => user.organization === organization)).toBe(true);
  expect((await list('?organization=platform', owner)).status).toBe(404);
  expect((await list('')).body.error.param).toBe('organization');
});

test('the audit log records who made each change, from where, and the earlier values', async () => {
  const user = await control.createUser({ role: 'member', organization });
  await login(user.email, 'Wrong-password-1');
  await control.done('PATCH', `/v1/users/${user.id}`, { token: owner.token, body: { role: 'owner' } });
  const { data } = await control.done('GET', '/v1/audit-log?limit=3', { token: owner.token });
  expect(data.map(({ action }: { action: string }) => action)).toEqual(['user.updated', 'session.refused', 'session.created']);
  expect(data[0]).toEqual({
    id: expect.stringMatching(/^evt_/),
    object: 'audit_entry',
    at: expect.any(Number),
    action: 'user.updated',
    actor: { type: 'user', id: owner.id, email: owner.email, organization },
    organization,
    target: { type: 'user', id: user.id },
    reason: null,
    changes: { role: { from: 'member', to: 'owner' } },
    request_id: expect.stringMatching(/^req_/),
    ip_address: '127.0.0.1',
  });
  expect(await actionsOf()).toContain('organization.created');
  // Organizations don't see the email and IP addresses of admins.
  const all = await control.done('GET', '/v1/audit-log?limit=100', { token: owner.token });
  const created = all.data.find(({ action }: { action: string }) => action === 'organization.created');
  expect(created).toMatchObject({ actor: { id: admin.id, email: null, organization: null }, ip_address: null });
});
