import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { totpOf, wrongTotpOf } from '../../support/clients/totp.ts';
import { eventually } from '../../support/eventually.ts';
import { callsOf, startUsers, TEMPORARY, type Users, untilNextSecond } from './user-fixtures.ts';

let users: Users;
let control: Users['control'];
let organization: Users['organization'];
let owner: Users['owner'];
beforeAll(async () => {
  users = await startUsers();
  ({ control, organization, owner } = users);
});
afterAll(async () => {
  await users.run.close();
});

const { invite, login, lastCodeTo, actionsOf, tokenStatuses } = callsOf(() => users);

describe('a login', () => {
  test('ignores the case of the email address', async () => {
    expect((await login(owner.email.toUpperCase(), owner.password)).body.user.id).toBe(owner.id);
  });

  test('returns the same 401 for a wrong password, an unknown user and a disabled user', async () => {
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

  test('requires a correct code from users with a second factor', async () => {
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
  });

  test('requires the second factor until it is switched off or replaced with the password and a code', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const post = (path: string, body: object) => control.call('POST', `/v1/auth/totp${path}`, { token: user.token, body });
    const start = (code?: string) => post('', { current_password: user.password, ...(code && { code }) });
    const stop = (code?: string, current_password = user.password) => post('/disable', { current_password, ...(code && { code }) });
    const { secret } = (await start()).body;
    expect((await post('/verify', { code: totpOf(secret) })).status).toBe(204);
    expect((await stop()).body.error.param).toBe('code');
    expect((await stop(wrongTotpOf(secret))).body.error.param).toBe('code');
    expect((await stop(totpOf(secret), 'Not-the-password-1')).body.error.param).toBe('current_password');
    // A new secret would replace the app that the user has.
    expect((await start()).body.error.param).toBe('code');
    expect((await start(wrongTotpOf(secret))).body.error.param).toBe('code');
    expect((await login(user.email, user.password)).body.challenge).toBe('totp');
    expect((await start(totpOf(secret))).status).toBe(200);
    expect((await stop(totpOf(secret))).status).toBe(204);
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

  test('continues after a new_password challenge only with its session, and only once', async () => {
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

  test('can be reset once with an emailed code, and the reply is the same for an unknown user', async () => {
    const user = await control.createUser({ role: 'member', organization });
    for (const email of [user.email, 'nobody-else@example.com'])
      expect((await control.call('POST', '/v1/auth/forgot', { body: { email } })).status).toBe(202);
    expect(await lastCodeTo('nobody-else@example.com')).toBeUndefined();
    await eventually(async () => (await lastCodeTo(user.email)) !== undefined, 'the code');
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
    for (const token of [user.token, access_token]) expect((await control.call('GET', '/v1/me', { token })).status).toBe(401);
    expect((await control.call('POST', '/v1/auth/refresh', { body: { refresh_token: 'none' } })).status).toBe(401);
  });

  test('is listed to its user, who can end it, and with it the access token that it has issued', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const { body: other } = await login(user.email, user.password);
    const list = async () => (await control.done('GET', '/v1/me/sessions', { token: user.token })).data;
    const sessions = await list();
    expect(sessions.filter(({ is_current }: { is_current: boolean }) => is_current)).toHaveLength(1);
    const theirs = sessions.find(({ is_current, proof }: { is_current: boolean; proof: string }) => !is_current && proof === 'password');
    expect(theirs).toMatchObject({ object: 'login_session', client: 'api', second_factor: false, ip_address: '127.0.0.1' });
    const end = (token: string) => control.call('DELETE', `/v1/me/sessions/${theirs.id}`, { token });
    const stranger = await control.createUser({ role: 'owner', organization });
    expect((await end(stranger.token)).status).toBe(404);
    await control.done('GET', '/v1/me', { token: other.access_token });
    expect((await end(user.token)).status).toBe(204);
    expect(await tokenStatuses({ ...user, token: other.access_token, refreshToken: other.refresh_token })).toEqual([401, 401]);
    expect((await end(user.token)).status).toBe(404);
    expect(await list()).toHaveLength(sessions.length - 1);
    expect(await tokenStatuses(user)).toEqual([200, 200]);
    expect(await actionsOf()).toContain('session.ended');
  });

  test('goes on if its user ends all other sessions, and ends if its user ends all sessions', async () => {
    const user = await control.createUser({ role: 'member', organization });
    const { body: other } = await login(user.email, user.password);
    await control.done('DELETE', '/v1/me/sessions', { token: user.token });
    expect(await tokenStatuses({ ...user, token: other.access_token, refreshToken: other.refresh_token })).toEqual([401, 401]);
    expect(await tokenStatuses(user)).toEqual([200, 200]);
    await control.done('DELETE', '/v1/me/sessions?keep_current=false', { token: user.token });
    expect(await tokenStatuses(user)).toEqual([401, 401]);
    expect((await login(user.email, user.password)).status).toBe(200);
  });
});
