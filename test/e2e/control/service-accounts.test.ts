import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { shareWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/service-accounts.md');

let walk: Walk;
let control: Control;
beforeAll(async () => {
  walk = await shareWalk();
  control = controlOf(walk.run);
});
afterAll(() => walk.close());

describe('docs/service-accounts.md', () => {
  test('prints the output that it shows', async () => {
    expect(await walk.follow(DOCUMENT)).toBeGreaterThan(6);
  });
});

describe('POST /v1/auth/token', () => {
  const newAccount = async (fields: object = {}) => {
    const { id: organization } = await control.createOrganization();
    const owner = await control.createUser({ role: 'owner', organization });
    const body = { name: 'ci', role: 'owner', ...fields };
    const { id } = await control.done('POST', '/v1/service-accounts', { token: owner.token, body });
    const { secret } = await control.done('POST', `/v1/service-accounts/${id}/secrets`, { token: owner.token, body: {} });
    const { access_token: token } = await control.done('POST', '/v1/auth/token', {
      body: { grant_type: 'client_credentials', client_id: id, client_secret: secret },
    });
    return { id, secret, token, owner, organization };
  };

  test('opens a session that does what an owner does, but not what only people do', async () => {
    const { id, token, secret } = await newAccount();
    const key = await control.done('POST', '/v1/api-keys', { token, body: { name: 'by a program', limits: { requests_per_minute: 5 } } });
    expect(key).toMatchObject({ created_by: id });
    for (const [method, route, body] of [
      ['POST', '/v1/service-accounts', { name: 'child' }],
      ['PATCH', `/v1/service-accounts/${id}`, { role: 'owner' }],
      ['POST', `/v1/service-accounts/${id}/secrets`, {}],
      ['DELETE', `/v1/service-accounts/${id}`, undefined],
      ['PATCH', '/v1/me', { name: 'me' }],
      ['POST', '/v1/auth/password', { current_password: 'a', new_password: 'b' }],
      ['POST', '/v1/auth/totp', { current_password: 'a' }],
      ['POST', '/v1/users', { email: 'new-owner@example.com', role: 'owner' }],
    ] as const)
      expect([route, (await control.call(method, route, { token, body })).status]).toEqual([route, 403]);
    expect((await control.call('GET', '/v1/api-keys', { token: secret })).status).toBe(401);
    const login = { email: `sa-${id}@service.invalid`, password: secret };
    expect((await control.call('POST', '/v1/auth/login', { body: login })).status).toBe(401);
  });

  test('records sessions of service accounts in the audit log without the secret', async () => {
    const { id, owner, secret } = await newAccount();
    const { data } = await control.done('GET', '/v1/audit-log', { token: owner.token });
    expect(data).toContainEqual(expect.objectContaining({ action: 'session.created', target: { type: 'service_account', id } }));
    expect(JSON.stringify(data)).not.toContain(secret);
    expect(await walk.run.logOf('machine-sign-in')).not.toContain(secret);
  });

  test('ends sessions when the rights change, and opens new ones with the new rights', async () => {
    const { id, token, secret, owner } = await newAccount();
    await control.done('PATCH', `/v1/service-accounts/${id}`, { token: owner.token, body: { permissions: ['usage:read'] } });
    expect((await control.call('GET', '/v1/api-keys', { token })).status).toBe(401);
    const again = async () =>
      control.call('POST', '/v1/auth/token', { body: { grant_type: 'client_credentials', client_id: id, client_secret: secret } });
    const { body } = await again();
    expect((await control.call('GET', '/v1/api-keys', { token: body.access_token })).status).not.toBe(200);
    await control.done('DELETE', `/v1/service-accounts/${id}`, { token: owner.token });
    expect(await again()).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('answers other methods and unknown paths in the shape of OAuth or of the host', async () => {
    const get = await control.call('GET', '/v1/auth/token');
    expect(get).toMatchObject({ status: 405, body: { error: 'invalid_request', error_description: expect.any(String) } });
    const wrong = await control.call('POST', '/v1/auth/token', { body: {} });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'invalid_request', request_id: expect.stringMatching(/^req_/) } });
  });
});
