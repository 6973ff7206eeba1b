import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { totpOf } from '../../support/clients/totp.ts';

const TEMPORARY = 'Temporary-Password-1';
const PASSWORD = 'A-Password-of-my-own-2';

let run: TestRun;
let control: Control;
let admin: SignedIn;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  admin = await control.asAdmin();
});
afterAll(async () => {
  await run.close();
});

const newAdminSession = async (email: string): Promise<string> => {
  await control.done('POST', '/v1/users', { token: admin.token, body: { email, role: 'admin', temporary_password: TEMPORARY } });
  const { session } = await control.done('POST', '/v1/auth/login', { body: { email, password: TEMPORARY } });
  const answer = { email, session, new_password: PASSWORD };
  return (await control.done('POST', '/v1/auth/challenge', { body: answer })).access_token;
};

const statusOf = async (path: string, token: string): Promise<[number, string | undefined]> => {
  const { status, body } = await control.call('GET', path, { token });
  return [status, body.error?.code];
};

const REFUSED = [403, 'second_factor_required'];
const ALLOWED = [200, undefined];
const OPEN = '/v1/me';
const CLOSED = '/v1/organizations';

test('an admin can do nothing but set up a second factor until they have one, and everything afterwards', async () => {
  const token = await newAdminSession('new-admin@example.com');
  expect(await statusOf(OPEN, token)).toEqual(ALLOWED);
  expect(await statusOf(CLOSED, token)).toEqual(REFUSED);
  const secret = await control.setUpSecondFactor({ token, password: PASSWORD });
  expect(await statusOf(CLOSED, token)).toEqual(ALLOWED);
  const { session } = await control.done('POST', '/v1/auth/login', { body: { email: 'new-admin@example.com', password: PASSWORD } });
  const answer = { email: 'new-admin@example.com', session, code: totpOf(secret) };
  const { access_token: later } = await control.done('POST', '/v1/auth/challenge', { body: answer });
  expect(await statusOf(CLOSED, later)).toEqual(ALLOWED);
});

test('an admin who switches the second factor off must set up another one', async () => {
  const token = await newAdminSession('changing-admin@example.com');
  const secret = await control.setUpSecondFactor({ token, password: PASSWORD });
  await control.done('POST', '/v1/auth/totp/disable', { token, body: { current_password: PASSWORD, code: totpOf(secret) } });
  expect(await statusOf(CLOSED, token)).toEqual(REFUSED);
});

test('an admin whose second factor was switched off elsewhere is refused after the next login', async () => {
  const email = 'reset-admin@example.com';
  const token = await newAdminSession(email);
  await control.setUpSecondFactor({ token, password: PASSWORD });
  const { id } = await control.done('GET', '/v1/me', { token });
  await control.done('POST', `/v1/users/${id}/totp-reset`, { token: admin.token });
  const { token: later } = await control.logIn(email, PASSWORD);
  expect(await statusOf(OPEN, later)).toEqual(ALLOWED);
  expect(await statusOf(CLOSED, later)).toEqual(REFUSED);
});

test('an organization can require a second factor of its users, once the owner who does has one', async () => {
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  const member = await control.createUser({ role: 'member', organization });
  const require = () =>
    control.call('PATCH', `/v1/organizations/${organization}`, { token: owner.token, body: { require_second_factor: true } });
  expect((await require()).body.error.code).toBe('second_factor_required');
  await control.setUpSecondFactor(owner);
  expect((await require()).body.require_second_factor).toBe(true);
  expect(await statusOf('/v1/api-keys', owner.token)).toEqual(ALLOWED);
  expect(await statusOf('/v1/api-keys', member.token)).toEqual(REFUSED);
  expect(await statusOf(OPEN, member.token)).toEqual(ALLOWED);
  await control.setUpSecondFactor(member);
  expect(await statusOf('/v1/api-keys', member.token)).toEqual(ALLOWED);
});

test('a change of rights requires a fresh login or a proof, as late as the organization says', async () => {
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  const invite = async () => {
    const body = { email: `person-${randomUUID()}@example.com`, role: 'member', temporary_password: TEMPORARY };
    const answer = await control.call('POST', '/v1/users', { token: owner.token, body });
    return answer.body.error?.code ?? answer.status;
  };
  const prove = (current_password: string) => control.call('POST', '/v1/auth/proof', { token: owner.token, body: { current_password } });
  await control.done('PATCH', `/v1/organizations/${organization}`, { token: owner.token, body: { fresh_login_minutes: 5 } });
  expect(await invite()).toBe(201);
  await run.controlFunctions('clock', { offset_seconds: 360 });
  expect(await invite()).toBe('fresh_login_required');
  expect((await prove('Not-the-password-1')).body.error.param).toBe('current_password');
  expect(await invite()).toBe('fresh_login_required');
  expect((await prove(owner.password)).status).toBe(204);
  expect(await invite()).toBe(201);
  await run.controlFunctions('clock');
});
