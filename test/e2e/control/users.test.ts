import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredUser } from '../../../functions/control/users/user-store.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Control, controlOf, type SignedIn } from '../../support/control.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRun, type TestRun } from '../../support/local-run.ts';
import { totpOf, wrongTotpOf } from '../../support/totp.ts';

let run: TestRun;
let control: Control;
let admin: SignedIn;
let organization: string;
let owner: SignedIn;
beforeAll(async () => {
  run = await startTestRun();
  control = controlOf(run);
  admin = await control.asAdmin();
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
});
afterAll(async () => {
  await run.close();
});

const TEMPORARY = 'Temporary-Password-1';
const invite = (email: string, fields: object = {}, { token } = owner) =>
  control.call('POST', '/v1/users', { token, body: { email, temporary_password: TEMPORARY, ...fields } });
const login = (email: string, password: string) => control.call('POST', '/v1/auth/login', { body: { email, password } });
const lastCodeTo = async (email: string): Promise<string | undefined> => {
  const lines = (await readFile(path.join(run.state, 'logs', 'mail.log'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as { to: string; code: string }).findLast(({ to }) => to === email)?.code;
};
const actionsOf = async (of = organization): Promise<string[]> => {
  const { data } = await control.done('GET', `/v1/audit-log?organization=${of}&limit=100`, { token: admin.token });
  return data.map(({ action }: { action: string }) => action);
};

/** The response statuses for a user's access token and refresh token. */
const tokenStatuses = async ({ token, refreshToken }: SignedIn): Promise<number[]> => [
  (await control.call('GET', '/v1/me', { token })).status,
  (await control.call('POST', '/v1/auth/refresh', { body: { refresh_token: refreshToken } })).status,
];

/** Tokens carry only the second of issue: afterwards, earlier tokens are older than whatever happens next. */
const untilNextSecond = async (): Promise<void> => {
  const second = Math.floor(Date.now() / 1_000);
  await eventually(async () => Math.floor(Date.now() / 1_000) > second, 'the next second');
};

describe('a login', () => {
  test('ignores the case of the e-mail address', async () => {
    expect((await login(owner.email.toUpperCase(), owner.password)).body.user.id).toBe(owner.id);
  });

  test('that fails returns the same 401 for a wrong password, an unknown user and a disabled user', async () => {
    const disabled = await control.createUser({ role: 'member', organization });
    await control.done('PATCH', `/v1/users/${disabled.id}`, { token: owner.token, body: { status: 'disabled' } });
    const answers = [
      await login(owner.email, 'Wrong-password-1'),
      await login('nobody@example.com', 'Wrong-password-1'),
      await login(disabled.email, disabled.password),
      await login(disabled.email, 'Wrong-password-1'),
    ];
    const replies = answers.map(({ status, body: { request_id: _, ...body } }) => ({ status, body }));
    expect(replies).toEqual(Array(4).fill({ status: 401, body: { error: expect.any(String), code: 'login_refused' } }));
    expect(new Set(replies.map(({ body }) => body.error)).size).toBe(1);
  });

  test('can be tried ten times in five minutes, whether or not the user exists', async () => {
    for (const email of ['nobody-at-all@example.com', (await control.createUser({ role: 'member', organization })).email]) {
      const answers = await Promise.all(Array.from({ length: 14 }, () => login(email, 'Wrong-password-1')));
      const statuses = answers.map(({ status }) => status);
      // A new five-minute window can start in between.
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
      expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(10);
      const limited = answers.find(({ status }) => status === 429);
      expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('with a second factor requires a correct code', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const start = (current_password: string) => control.call('POST', '/v1/auth/totp', { token: user.token, body: { current_password } });
    // A token alone is not enough, because it can be stolen.
    expect((await start('Not-the-password-1')).body.error.param).toBe('current_password');
    const { secret, url } = (await start(user.password)).body;
    expect(url).toBe(`otpauth://totp/Sluice:${encodeURIComponent(user.email)}?secret=${secret}&issuer=Sluice`);
    const verify = (code: string) => control.call('POST', '/v1/auth/totp/verify', { token: user.token, body: { code } });
    expect((await verify(wrongTotpOf(secret))).body.error.param).toBe('code');
    expect((await verify(totpOf(secret))).status).toBe(204);
    const { body: challenge } = await login(user.email, user.password);
    expect(challenge).toEqual({ object: 'challenge', challenge: 'totp', session: expect.any(String) });
    const answer = (code: string) =>
      control.call('POST', '/v1/auth/challenge', { body: { email: user.email, session: challenge.session, code } });
    expect((await answer(wrongTotpOf(secret))).status).toBe(401);
    expect((await answer(totpOf(secret))).body.object).toBe('session');
    const stop = (current_password: string) =>
      control.call('POST', '/v1/auth/totp/disable', { token: user.token, body: { current_password } });
    expect((await stop('Not-the-password-1')).status).toBe(400);
    expect((await stop(user.password)).status).toBe(204);
    expect((await login(user.email, user.password)).body.object).toBe('session');
  });

  test('works without a lost second factor once an owner resets it, which ends all sessions', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const { secret } = await control.done('POST', '/v1/auth/totp', { token: user.token, body: { current_password: user.password } });
    await control.done('POST', '/v1/auth/totp/verify', { token: user.token, body: { code: totpOf(secret) } });
    await untilNextSecond();
    const reset = (id: string) => control.call('POST', `/v1/users/${id}/totp-reset`, { token: owner.token });
    // Switching off your own requires the password.
    expect((await reset(owner.id)).body.error.code).toBe('own_rights');
    expect((await reset(user.id)).status).toBe(204);
    expect((await control.call('GET', '/v1/me', { token: user.token })).status).toBe(401);
    expect((await login(user.email, user.password)).body.object).toBe('session');
  });

  test('that returns a new_password challenge continues only with its session, and only once', async () => {
    await invite('once@example.com', { role: 'member' });
    const { body } = await login('once@example.com', TEMPORARY);
    const answer = (session: string) =>
      control.call('POST', '/v1/auth/challenge', { body: { email: 'once@example.com', session, new_password: 'A-Password-of-mine-3' } });
    expect((await answer('made-up')).status).toBe(401);
    expect((await answer(body.session)).status).toBe(200);
    expect((await answer(body.session)).status).toBe(401);
  });
});

describe('a password', () => {
  test('can be changed only with the current one, and must be strong', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const change = (current_password: string, new_password: string) =>
      control.call('POST', '/v1/auth/password', { token: user.token, body: { current_password, new_password } });
    expect((await change('Not-the-password-1', 'Another-Password-2')).body.error.param).toBe('current_password');
    expect((await change(user.password, 'weak')).body.error).toMatchObject({ param: 'new_password', code: 'weak_password' });
    await untilNextSecond();
    expect((await change(user.password, 'Another-Password-2')).status).toBe(204);
    expect(await tokenStatuses(user)).toEqual([401, 401]);
    expect((await login(user.email, 'Another-Password-2')).status).toBe(200);
  });

  test('can be reset once with an e-mailed code, and the reply is the same for an unknown user', async () => {
    const user = await control.createUser({ role: 'member', organization });
    for (const email of [user.email, 'nobody-else@example.com'])
      expect((await control.call('POST', '/v1/auth/forgot', { body: { email } })).status).toBe(202);
    expect(await lastCodeTo('nobody-else@example.com')).toBeUndefined();
    const code = await lastCodeTo(user.email);
    const reset = (given: string | undefined) =>
      control.call('POST', '/v1/auth/reset', { body: { email: user.email, code: given, new_password: 'Yet-Another-Password-3' } });
    expect((await reset('000000')).body.error.param).toBe('code');
    await untilNextSecond();
    expect((await reset(code)).status).toBe(204);
    expect(await tokenStatuses(user)).toEqual([401, 401]);
    expect(await actionsOf()).toContain('user.password_reset');
    expect((await reset(code)).status).toBe(400);
    expect((await login(user.email, 'Yet-Another-Password-3')).status).toBe(200);
  });
});

describe('a session', () => {
  test('can be refreshed until it is ended', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const refresh = () => control.call('POST', '/v1/auth/refresh', { body: { refresh_token: user.refreshToken } });
    const { access_token } = (await refresh()).body;
    expect((await control.call('GET', '/v1/me', { token: access_token })).status).toBe(200);
    const end = () => control.call('POST', '/v1/auth/logout', { body: { refresh_token: user.refreshToken } });
    expect([(await end()).status, (await end()).status]).toEqual([204, 204]);
    expect((await refresh()).body.code).toBe('refresh_refused');
    expect((await control.call('POST', '/v1/auth/refresh', { body: { refresh_token: 'none' } })).status).toBe(401);
  });
});

describe('a user', () => {
  test('is invited by e-mail without a temporary password, and can be invited again', async () => {
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
    expect((await control.call('DELETE', `/v1/users/${user.id}`, { token: owner.token })).status).toBe(204);
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

test('concurrent invitations of one address create one user, with the password of the invitation that succeeded', async () => {
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
  expect((await list('?organization=platform')).body.data.map(({ id }: { id: string }) => id)).toContain(admin.id);
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
  // Organizations don't see the e-mail and IP addresses of admins.
  const all = await control.done('GET', '/v1/audit-log?limit=100', { token: owner.token });
  const created = all.data.find(({ action }: { action: string }) => action === 'organization.created');
  expect(created).toMatchObject({ actor: { id: admin.id, email: null, organization: null }, ip_address: null });
});
