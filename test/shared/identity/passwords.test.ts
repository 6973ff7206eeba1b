import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { totpOf, wrongTotpOf } from '../../support/clients/totp.ts';
import { startTestCognito, type TestCognito } from '../../support/emulators/cognito.ts';
import { caller, openPool, PASSWORD, sessionOf, signInsTo, TEMPORARY, tokensOf } from './user-fixtures.ts';

let cognito: TestCognito;
let users: UserPool;
beforeAll(async () => {
  cognito = await startTestCognito();
  users = openPool(cognito.url);
});
afterAll(() => cognito.close());

const { newAddress, signIn, answer, person, personWithApp } = signInsTo(() => users);

describe('a password', () => {
  test('can be changed only with the current one', async () => {
    const { email, accessToken } = await person();
    const next = 'Another-Horse-8';
    expect(await users.changePassword({ accessToken, current: 'Wrong-Password-1', next })).toBe(false);
    await expect(users.changePassword({ accessToken, current: PASSWORD, next: 'weak' })).rejects.toMatchObject({ code: 'weak_password' });
    tokensOf(await signIn(email));
    expect(await users.changePassword({ accessToken, current: PASSWORD, next })).toBe(true);
    expect(await signIn(email)).toBeUndefined();
    tokensOf(await signIn(email, next));
    await expect(users.changePassword({ accessToken: 'no.access.token', current: next, next: PASSWORD })).rejects.toMatchObject({
      status: 401,
      code: 'invalid_token',
    });
  });

  test('can be reset once with an emailed code', async () => {
    const { email } = await person();
    const password = 'Another-Horse-8';
    await users.startReset(email.toUpperCase());
    const code = (await cognito.lastMailTo(email)) as string;
    const wrong = code.replace(/.$/, (digit) => String((Number(digit) + 1) % 10));
    expect(await users.finishReset({ email, code: wrong, password })).toBe(false);
    await expect(users.finishReset({ email, code, password: 'weak' })).rejects.toMatchObject({ code: 'weak_password' });
    tokensOf(await signIn(email));
    expect(await users.finishReset({ email, code, password })).toBe(true);
    tokensOf(await signIn(email, password));
    expect(await users.finishReset({ email, code, password: PASSWORD })).toBe(false);
  });

  test('cannot be reset with a code from an hour ago, and returns 429 after five wrong codes', async () => {
    const { email } = await person();
    await users.startReset(email);
    const code = (await cognito.lastMailTo(email)) as string;
    cognito.passMs(60 * MINUTE_MS);
    expect(await users.finishReset({ email, code, password: PASSWORD })).toBe(false);
    cognito.passMs(-60 * MINUTE_MS);
    await users.startReset(email);
    for (let n = 0; n < 5; n++) expect(await users.finishReset({ email, code: `wrong${n}`, password: PASSWORD })).toBe(false);
    await expect(users.finishReset({ email, code: 'wrong', password: PASSWORD })).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
  });

  test('reset does not reveal who has an account', async () => {
    const invited = newAddress();
    await users.createUser({ email: invited, temporaryPassword: TEMPORARY });
    for (const email of ['nobody@example.com', invited]) {
      expect(await users.startReset(email)).toBeUndefined();
      expect(await users.finishReset({ email, code: '123456', password: PASSWORD })).toBe(false);
    }
  });
});

describe('an authenticator app', () => {
  test('is needed to sign in once it was set up with a correct code', async () => {
    const { email, accessToken } = await person();
    const { secret } = await users.startTotp(accessToken);
    expect(await users.finishTotp({ accessToken, code: wrongTotpOf(secret) })).toBe(false);
    tokensOf(await signIn(email));
    expect(await users.finishTotp({ accessToken, code: totpOf(secret) })).toBe(true);
    const session = sessionOf(await signIn(email), 'totp');
    expect(await answer(email, session, 'totp', wrongTotpOf(secret))).toBeUndefined();
    const { refreshToken } = tokensOf(await answer(email, session, 'totp', totpOf(secret)));
    expect(await users.refresh({ refreshToken, caller })).toBeDefined();
    expect(await answer(email, session, 'totp', totpOf(secret))).toBeUndefined();
  });

  test('allows five wrong codes before the user must enter the password again', async () => {
    const { email, secret } = await personWithApp();
    const session = sessionOf(await signIn(email), 'totp');
    for (let n = 0; n < 5; n++) expect(await answer(email, session, 'totp', wrongTotpOf(secret))).toBeUndefined();
    expect(await answer(email, session, 'totp', totpOf(secret))).toBeUndefined();
  });

  test('does not lock the user out when they set up a new one but never verify it', async () => {
    const { email, accessToken } = await personWithApp();
    await users.startTotp(accessToken);
    tokensOf(await signIn(email));
  });

  test('is no longer needed once it is switched off', async () => {
    const { email, subject } = await personWithApp();
    await users.stopTotp(subject);
    tokensOf(await signIn(email));
  });

  test('cannot be set up with an invalid access token', async () => {
    await expect(users.startTotp('no.access.token')).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  });
});
