import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';
import { isOrganizationLimited, type KeyItem } from '../../../shared/admission/item/key-item.ts';
import { type LimiterItem, limitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';

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

const put = (id: string, limits: object, headers: Record<string, string> = {}) =>
  control.call('PUT', `/v1/organizations/${id}/limits`, { token: admin.token, body: limits, headers });
const grant = (id: string, body: object, key?: string) =>
  control.call('POST', `/v1/organizations/${id}/credit-grants`, {
    token: admin.token,
    body: { reason: 'invoice 7', ...body },
    ...(key && { headers: { 'idempotency-key': key } }),
  });
const chat = (secret: string) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] }),
  });
const balanceOf = (id: string) => control.done('GET', `/v1/organizations/${id}/balance`, { token: admin.token });

describe('credit', () => {
  test('is granted only to an organization with limits', async () => {
    const { id } = await control.createOrganization();
    expect((await grant(id, { amount: '5' })).body.error.code).toBe('no_credit');
    expect((await control.call('GET', `/v1/organizations/${id}/balance`, { token: admin.token })).status).toBe(409);
    await put(id, { prepaid: true });
    expect((await grant(id, { amount: '100.000000001' })).body).toMatchObject({ number: 1, amount: '100.000000001', actor: admin.id });
    expect((await grant(id, { amount: '-0.000000001', reason: 'correction' })).body).toMatchObject({ number: 2, amount: '-0.000000001' });
    expect(await balanceOf(id)).toMatchObject({
      grants: 2,
      granted: '100',
      available: '100',
      drift: '0',
      left: [{ grant: 1, amount: '100' }],
    });
    const { data } = await control.done('GET', `/v1/organizations/${id}/credit-grants`, { token: admin.token });
    expect(data.map(({ number, reason }: { number: number; reason: string }) => [number, reason])).toEqual([
      [2, 'correction'],
      [1, 'invoice 7'],
    ]);
  });

  test('is granted once per idempotency key, even if requests are concurrent', async () => {
    const { id } = await control.createOrganization();
    await put(id, { prepaid: true });
    const answers = await Promise.all(Array.from({ length: 8 }, () => grant(id, { amount: '10' }, 'order-1')));
    answers.push(await grant(id, { amount: '10' }, 'order-1'));
    expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(201));
    expect(new Set(answers.map(({ body }) => body.number))).toEqual(new Set([1]));
    expect((await grant(id, { amount: '11' }, 'order-1')).status).toBe(422);
    expect((await grant(id, { amount: '10' }, 'order-2')).body.number).toBe(2);
    expect(await balanceOf(id)).toMatchObject({ grants: 2, available: '20' });
    const { data } = await control.done('GET', `/v1/audit-log?organization=${id}`, { token: admin.token });
    expect(data.filter(({ action }: { action: string }) => action === 'credit.granted')).toHaveLength(2);
  });

  test('can expire at the beginning of a UTC day in the future', async () => {
    const { id } = await control.createOrganization();
    await put(id, { prepaid: true });
    const tomorrow = Math.ceil((Date.now() + 3_600_000) / 86_400_000) * 86_400;
    expect((await grant(id, { amount: '5', expires_at: tomorrow }, 'order-1')).body).toMatchObject({ kind: 'grant', expires_at: tomorrow });
    expect((await grant(id, { amount: '5' }, 'order-1')).status).toBe(422);
    expect((await grant(id, { amount: '-1' })).body).toMatchObject({ kind: 'deduction', expires_at: null, expired_grant: null });
    for (const [amount, expires_at] of [
      ['5', tomorrow + 1],
      ['5', tomorrow - 10 * 86_400],
      ['-5', tomorrow],
    ])
      expect((await grant(id, { amount, expires_at })).body.error).toMatchObject({ param: 'expires_at' });
  });

  test.each(['1e3', '1.0000000001', '', '1,5', 'ten', '--1'])('returns 400 for %p dollars', async (amount) => {
    const { id } = await control.createOrganization();
    expect((await grant(id, { amount })).body.error.param).toBe('amount');
  });
});

describe('limits', () => {
  test('are shared by the keys of an organization, and are replaced as a whole', async () => {
    const { id } = await control.createOrganization();
    const secrets = await Promise.all(
      ['a', 'b'].map(
        async (name) =>
          (await control.done('POST', '/v1/api-keys', { token: admin.token, body: { name, organization: id } })).secret as string,
      ),
    );
    expect((await put(id, { requests_per_minute: 3, month_budget: '5' })).body.limits).toEqual({
      requests_per_minute: 3,
      tokens_per_minute: null,
      concurrency: 100,
      month_budget: '5',
      prepaid: false,
    });
    const answers: number[] = [];
    for (let i = 0; i < 4; i++) answers.push((await chat(secrets[i % 2] as string)).status);
    expect(answers).toEqual([200, 200, 200, 429]);
    expect((await put(id, {})).body.limits).toMatchObject({ requests_per_minute: null, month_budget: null });
    expect(limitsOf((await run.limiters.get(id)) as LimiterItem).requestsPerMinute).toBe(Number.POSITIVE_INFINITY);
  });

  test('set twice with the same ETag are set once, and the other request returns 412', async () => {
    const { id } = await control.createOrganization();
    const answers = await Promise.all([1, 2].map((requests_per_minute) => put(id, { requests_per_minute }, { 'if-match': '"1"' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const { limits } = await control.done('GET', `/v1/organizations/${id}`, { token: admin.token });
    expect(limitsOf((await run.limiters.get(id)) as LimiterItem).requestsPerMinute).toBe(limits.requests_per_minute);
  });
});

test('suspends keys that were missed when an earlier suspension crashed', async () => {
  const { id } = await control.createOrganization();
  const { id: key } = await control.done('POST', '/v1/api-keys', { token: admin.token, body: { name: 'k', organization: id } });
  const suspend = () => control.done('POST', `/v1/organizations/${id}/suspend`, { token: admin.token, body: { reason: 'overdue' } });
  await suspend();
  await run.limiters.unmarkOrganizationLimited(key);
  await suspend();
  expect(isOrganizationLimited((await run.limiters.get(key)) as KeyItem)).toBe(true);
  expect(await run.limiters.get(id)).toMatchObject({ status: 'suspended' });
});

test('resuming an active organization changes nothing', async () => {
  const { id } = await control.createOrganization();
  const resumed = await control.done('POST', `/v1/organizations/${id}/resume`, { token: admin.token, body: { reason: 'by mistake' } });
  expect(resumed).toMatchObject({ status: 'active', version: 1 });
  expect(await run.limiters.get(id)).toBeUndefined();
});

test('organizations are listed page by page, newest first', async () => {
  const made: string[] = [];
  for (const name of ['one', 'two', 'three']) made.unshift((await control.createOrganization(name)).id);
  const first = await control.done('GET', '/v1/organizations?limit=3', { token: admin.token });
  const second = await control.done('GET', `/v1/organizations?limit=2&after=${first.next}`, { token: admin.token });
  const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
  // Ids that were chosen by hand, such as of the demo organization, have no time.
  expect(ids.filter((id) => !/^org_[a-z]+$/.test(id)).slice(0, 3)).toEqual(made);
});

test('npm run admin -- bootstrap creates an audited admin who can log in with the printed password', async () => {
  const { id: USER_POOL_ID = '', client_id: USER_POOL_CLIENT_ID = '' } = run.user_pools.Users ?? {};
  const env = {
    ...compileCache,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: run.dynamodb_endpoint,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: run.cognito_endpoint as string,
    KEYS_TABLE: run.tables.Keys,
    ACCOUNTS_TABLE: run.tables.Accounts,
    AUDIT_TABLE: run.tables.Audit,
    OBSERVABILITY_TABLE: run.tables.Observability,
    USER_POOL_ID,
    USER_POOL_CLIENT_ID,
    TOKEN_ISSUER: `https://cognito-idp.us-east-1.amazonaws.com/${USER_POOL_ID}`,
  };
  const main = path.join(import.meta.dirname, '../../../infra/tools/admin/main.ts');
  const args = [main, 'bootstrap', '--email', 'Root@Example.com', '--actor', 'deployer'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const password = stdout.trim().split('\n').at(-1) as string;
  const { body } = await control.call('POST', '/v1/auth/login', { body: { email: 'root@example.com', password } });
  expect(body.challenge).toBe('new_password');
  const answer = { email: 'root@example.com', session: body.session, new_password: 'A-Password-of-roots-4' };
  expect((await control.done('POST', '/v1/auth/challenge', { body: answer })).user).toMatchObject({ role: 'admin', organization: null });
  const { data } = await control.done('GET', '/v1/audit-log?limit=100', { token: admin.token });
  expect(data).toContainEqual(
    expect.objectContaining({
      action: 'user.invited',
      actor: { type: 'operator', id: 'deployer', email: null, organization: null },
      request_id: null,
    }),
  );
  await expect(promisify(execFile)(process.execPath, args, { env })).rejects.toMatchObject({
    stderr: expect.stringContaining('email address is in use'),
  });
});

describe('content', () => {
  test("is not stored once the organization's owner forbids it, for old keys and new ones", async () => {
    const { id } = await control.createOrganization();
    const owner = await control.createUser({ role: 'owner', organization: id });
    const newKey = async () => (await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'k' } })).secret as string;
    const storedBy = async (secret: string): Promise<boolean> => {
      const response = await fetch(`${run.base_url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: run.model, input: 'Hi', max_output_tokens: 4 }),
      });
      return ((await response.json()) as { store: boolean }).store;
    };
    const old = await newKey();
    expect(await storedBy(old)).toBe(true);
    const update = (no_content: boolean) => control.done('PATCH', `/v1/organizations/${id}`, { token: owner.token, body: { no_content } });
    expect(await update(true)).toMatchObject({ no_content: true, no_content_pending: false });
    expect([await storedBy(old), await storedBy(await newKey())]).toEqual([false, false]);
    await update(false);
    expect(await storedBy(old)).toBe(true);
  });
});

describe('suspension', () => {
  test('stops every key of the organization at its next request, until the organization is resumed', async () => {
    const { id } = await control.createOrganization('Late');
    const { token } = admin;
    const secrets: string[] = [];
    for (const limits of [undefined, { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 }])
      secrets.push((await control.done('POST', '/v1/api-keys', { token, body: { name: 'k', organization: id, limits } })).secret);
    for (const secret of secrets) expect((await chat(secret)).status).toBe(200);
    await control.done('POST', `/v1/organizations/${id}/suspend`, { token, body: { reason: 'overdue' } });
    for (const secret of secrets)
      for (let i = 0; i < 4; i++) {
        const rejected = await chat(secret);
        expect([rejected.status, ((await rejected.json()) as { error: { code: string } }).error.code]).toEqual([
          403,
          'organization_suspended',
        ]);
      }
    const rejected = await control.call('POST', '/v1/api-keys', { token, body: { name: 'k', organization: id } });
    expect([rejected.status, rejected.body.error.code]).toEqual([403, 'organization_suspended']);
    await control.done('POST', `/v1/organizations/${id}/resume`, { token, body: { reason: 'paid' } });
    for (const secret of secrets) await eventually(async () => (await chat(secret)).status === 200, 'the keys work again');
  });
});

test('an organization can have at most a thousand active keys', async () => {
  const { id: organization } = await control.createOrganization('Full');
  await run.accounts.fillKeyCount(organization, 999);
  const { token } = admin;
  const create = () => control.call('POST', '/v1/api-keys', { token, body: { name: 'k', organization } });
  const answers = await Promise.all([create(), create(), create()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.body.error.code).toBe('too_many_keys');
  const { id } = answers.find(({ status }) => status === 201)?.body ?? {};
  await control.done('DELETE', `/v1/api-keys/${id}`, { token });
  expect((await create()).status).toBe(201);
});
