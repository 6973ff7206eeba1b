import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IdentityUnavailable } from '../../../shared/identity/errors.ts';
import { newServiceAccountSecret } from '../../../shared/service-accounts/secret.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { accountOf, NOON, openMachineSignIn } from './machine-sign-in-fixtures.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let world: ReturnType<typeof openMachineSignIn>;
beforeAll(async () => {
  database = await startTestDatabase();
  world = openMachineSignIn(database, await database.as('machine-sign-in'));
});
afterAll(async () => {
  await database.close();
});

const withSecret = async (name: string, fields: Parameters<typeof accountOf>[1] = {}) => {
  const account = accountOf(name, fields);
  await world.create(account);
  return { account, ...(await world.addSecret(account, name)) };
};
const credentials = (clientId: string, secret: string) => ({
  grant_type: 'client_credentials',
  client_id: clientId,
  client_secret: secret,
});
const refusalOf = (sent: Promise<unknown>) =>
  sent.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the grant client_credentials', () => {
  test('returns an access token, records the session with its secret, and notes the use', async () => {
    const { account, id, secret } = await withSecret('right');
    expect(await world.send(credentials(account.id, secret))).toEqual({ access_token: 'access', token_type: 'Bearer', expires_in: 900 });
    expect(await world.entries('org_right')).toEqual([
      {
        action: 'session.created',
        reason: null,
        target: { type: 'service_account', id: account.id },
        changes: { proof: { from: null, to: `secret:${id}` } },
      },
    ]);
    expect(await world.serviceAccounts.secretsOf(account.id)).toMatchObject([{ last_use: { at: NOON / 1_000, ip_address: '10.0.0.1' } }]);
  });

  test('refuses every wrong proof with the same 401, and calls no identity provider', async () => {
    const one = await withSecret('one');
    const other = await withSecret('other');
    const disabled = await withSecret('disabled', { status: 'disabled' });
    const person = 'user_nobody000000000000';
    const before = world.signedIn.length;
    const stranger = newServiceAccountSecret(one.id).secret;
    const attempts = [
      credentials(one.account.id, stranger),
      credentials(one.account.id, other.secret),
      credentials(other.account.id, one.secret),
      credentials(disabled.account.id, disabled.secret),
      credentials(person, one.secret),
      credentials('user#x', one.secret),
      credentials(one.account.id, one.secret.slice(0, -1)),
      credentials(one.account.id, 'sas_'),
    ];
    const refusals = await Promise.all(attempts.map((sent) => refusalOf(world.send(sent))));
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 401, code: 'invalid_client' });
    expect(new Set(refusals.map((refusal) => (refusal as Error).message)).size).toBe(1);
    expect(world.signedIn).toHaveLength(before);
  });

  test('refuses an expired secret, and an account that the identity provider does not sign in', async () => {
    const { account, secret } = await withSecret('expired');
    expect(await refusalOf(world.send(credentials(account.id, secret), { atMs: NOON + HOUR_MS }))).toMatchObject({ status: 401 });
    world.answers.set('expired', async () => undefined);
    expect(await refusalOf(world.send(credentials(account.id, secret)))).toMatchObject({ status: 401 });
    world.answers.set('expired', async () => ({ challenge: 'totp', session: 's' }));
    expect(await refusalOf(world.send(credentials(account.id, secret)))).toMatchObject({ status: 401 });
  });

  test('records one refusal of an account in an hour, with its reason', async () => {
    const { account, id } = await withSecret('guessed');
    const guess = (atMs: number) => refusalOf(world.send(credentials(account.id, newServiceAccountSecret(id).secret), { atMs }));
    await Promise.all(Array.from({ length: 8 }, () => guess(NOON)));
    expect(await world.entries('org_guessed')).toMatchObject([{ action: 'session.refused', reason: 'wrong_secret' }]);
    await guess(NOON + HOUR_MS);
    expect(await world.entries('org_guessed')).toHaveLength(2);
  });

  test('returns 503 while the identity provider is unavailable, and works after that', async () => {
    const { account, secret } = await withSecret('away');
    world.answers.set('away', () => Promise.reject(new IdentityUnavailable(new Error('away'))));
    expect(await refusalOf(world.send(credentials(account.id, secret)))).toMatchObject({ status: 503 });
    world.answers.delete('away');
    expect(await world.send(credentials(account.id, secret))).toMatchObject({ token_type: 'Bearer' });
  });

  test('rejects other grant types, and a request without a secret', async () => {
    const { account } = await withSecret('grants');
    expect(await refusalOf(world.send({ grant_type: 'password', client_id: account.id }))).toMatchObject({
      status: 400,
      code: 'unsupported_grant_type',
    });
    expect(await refusalOf(world.send({ grant_type: 'client_credentials', client_id: account.id }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });
});

describe('the limits of sign-ins', () => {
  test('let a hundred jobs of one address sign in at once', async () => {
    const { account, secret } = await withSecret('jobs');
    const sent = Array.from({ length: 100 }, () => world.send(credentials(account.id, secret), { ipAddress: '10.1.0.1' }));
    await Promise.all(sent);
  });

  test('allow 120 sign-ins of an account in a minute, before the identity provider is called', async () => {
    const { account, secret } = await withSecret('busy');
    const before = world.signedIn.length;
    for (let i = 0; i < 120; i++) await world.send(credentials(account.id, secret), { ipAddress: '10.1.0.2' });
    const refusal = await refusalOf(world.send(credentials(account.id, secret), { ipAddress: '10.1.0.2' }));
    expect(refusal).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(world.signedIn).toHaveLength(before + 120);
    await world.send(credentials(account.id, secret), { atMs: NOON + 67_000, ipAddress: '10.1.0.2' });
  });

  test('allow 300 refused attempts on an account from one address, and others from elsewhere', async () => {
    const { account, id, secret } = await withSecret('broken');
    const wrong = newServiceAccountSecret(id).secret;
    const from = (ipAddress: string) => refusalOf(world.send(credentials(account.id, wrong), { ipAddress }));
    for (let i = 0; i < 300; i++) expect(await from('10.1.0.3')).toMatchObject({ status: 401 });
    expect(await from('10.1.0.3')).toMatchObject({ status: 429 });
    expect(await world.send(credentials(account.id, secret), { ipAddress: '10.1.0.4' })).toMatchObject({ expires_in: 900 });
  });
});
