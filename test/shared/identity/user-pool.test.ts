import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTokenVerifier, jwksUriOf } from '../../../functions/control/identity/verify-token.ts';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { DAY_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { clientIds, pool, startTestCognito, type TestCognito } from '../../support/emulators/cognito.ts';
import { caller, openPool, PASSWORD, sessionOf, signInsTo, TEMPORARY, tokensOf } from './user-fixtures.ts';

let cognito: TestCognito;
let users: UserPool;
beforeAll(async () => {
  cognito = await startTestCognito();
  users = openPool(cognito.url);
});
afterAll(() => cognito.close());

const { newAddress, signIn, answer, person } = signInsTo(() => users);

describe('a new user', () => {
  test('is invited by email, chooses a password and is signed in', async () => {
    const email = newAddress();
    const { subject, isNew } = await users.createUser({ email });
    expect([subject, isNew]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), true]);
    const session = sessionOf(await signIn(email, await cognito.lastMailTo(email)), 'new_password');
    const tokens = tokensOf(await answer(email, session, 'new_password', PASSWORD));
    expect(tokens).toEqual({
      subject: expect.any(String),
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresInSeconds: 3_600,
      sessionId: expect.stringMatching(/^ses_/),
      authenticatedAt: expect.any(Number),
    });
    expect(await signIn(email, await cognito.lastMailTo(email))).toBeUndefined();
    tokensOf(await signIn(email));
  });

  test('gets no email if the temporary password is given', async () => {
    const email = newAddress();
    await users.createUser({ email, temporaryPassword: TEMPORARY });
    expect(await cognito.lastMailTo(email)).toBeUndefined();
    sessionOf(await signIn(email, TEMPORARY), 'new_password');
  });

  test('is created only once and keeps their password', async () => {
    const { email, subject } = await person();
    expect(await users.createUser({ email: email.toUpperCase(), temporaryPassword: TEMPORARY })).toEqual({ subject, isNew: false });
    tokensOf(await signIn(email));
  });

  test('can use the invitation for a week, and can be invited again until they choose a password', async () => {
    const email = newAddress();
    await users.createUser({ email });
    const first = (await cognito.lastMailTo(email)) as string;
    cognito.passMs(7 * DAY_MS);
    expect(await signIn(email, first)).toBeUndefined();
    cognito.passMs(-7 * DAY_MS);
    expect(await users.isInvited(email)).toBe(true);
    expect(await users.resendInvitation(email)).toBe(true);
    expect(await signIn(email, first)).toBeUndefined();
    const session = sessionOf(await signIn(email, await cognito.lastMailTo(email)), 'new_password');
    tokensOf(await answer(email, session, 'new_password', PASSWORD));
    for (const uninvited of [email, 'nobody@example.com'])
      expect([await users.isInvited(uninvited), await users.resendInvitation(uninvited)]).toEqual([false, false]);
  });

  test.each(['Short-1', 'no-capitals-here-1', 'NO-SMALL-LETTERS-1', 'No-Digits-Here-', 'NoSymbolsHere123'])(
    'cannot choose the weak password %s, but can try again',
    async (weak) => {
      const email = newAddress();
      await users.createUser({ email, temporaryPassword: TEMPORARY });
      const session = sessionOf(await signIn(email, TEMPORARY), 'new_password');
      await expect(answer(email, session, 'new_password', weak)).rejects.toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        code: 'weak_password',
        param: 'new_password',
        message: expect.not.stringContaining(weak),
      });
      tokensOf(await answer(email, session, 'new_password', PASSWORD));
      await expect(users.createUser({ email: newAddress(), temporaryPassword: weak })).rejects.toMatchObject({
        code: 'weak_password',
        param: 'temporary_password',
      });
    },
  );
});

describe('a silent user', () => {
  test('gets no email and no password that anyone knows, and needs no new password', async () => {
    const email = newAddress();
    const { subject, isNew } = await users.createSilentUser(email);
    expect([subject, isNew, await cognito.lastMailTo(email)]).toEqual([expect.any(String), true, undefined]);
    expect(await users.resendInvitation(email)).toBe(false);
    expect(await users.createSilentUser(email.toUpperCase())).toEqual({ subject, isNew: false });
  });

  test('is completed by a second attempt if the first one ended halfway, and was an invitation before', async () => {
    const email = newAddress();
    const { subject } = await users.createUser({ email, temporaryPassword: TEMPORARY });
    expect(await users.createSilentUser(email)).toEqual({ subject, isNew: false });
    expect(await signIn(email, TEMPORARY)).toBeUndefined();
    expect(await users.resendInvitation(email)).toBe(false);
  });

  test('never takes the place of someone who has a password', async () => {
    const { email, subject } = await person();
    expect(await users.createSilentUser(email)).toEqual({ subject, isNew: false });
    tokensOf(await signIn(email));
  });
});

describe('signing in', () => {
  test('returns an access token that verifies', async () => {
    const { subject, accessToken } = await person();
    const issuer = `https://cognito-idp.us-east-1.amazonaws.com/${pool.id}`;
    const verifier = createTokenVerifier({ issuer, clientIds, jwksUri: jwksUriOf(issuer, cognito.url) });
    expect(await verifier.verify(accessToken)).toMatchObject({ subject, issuer, issuedAtMs: expect.any(Number), client: 'api' });
  });

  test('ignores the case of the address, and rejects a wrong password like an unknown user', async () => {
    const { email } = await person();
    tokensOf(await signIn(email.toUpperCase()));
    expect(await signIn(email, 'Wrong-Password-1')).toBeUndefined();
    expect(await signIn('nobody@example.com')).toBeUndefined();
  });

  test('fails for a disabled user by password, challenge and refresh token, until they are enabled', async () => {
    const { email, subject, refreshToken } = await person();
    const invited = newAddress();
    const { subject: other } = await users.createUser({ email: invited, temporaryPassword: TEMPORARY });
    const session = sessionOf(await signIn(invited, TEMPORARY), 'new_password');
    await users.setEnabled(subject, false);
    await users.setEnabled(other, false);
    expect(await signIn(email)).toBeUndefined();
    expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
    expect(await answer(invited, session, 'new_password', PASSWORD)).toBeUndefined();
    await users.setEnabled(subject, true);
    tokensOf(await signIn(email));
    expect(await users.refresh({ refreshToken, caller })).toBeDefined();
  });

  test('issues challenge sessions that work once, for one user and one challenge, within three minutes', async () => {
    const [email, stranger] = [newAddress(), newAddress()];
    for (const address of [email, stranger]) await users.createUser({ email: address, temporaryPassword: TEMPORARY });
    const session = sessionOf(await signIn(email, TEMPORARY), 'new_password');
    expect(await answer(stranger, session, 'new_password', PASSWORD)).toBeUndefined();
    expect(await answer(email, session, 'totp', '123456')).toBeUndefined();
    expect(await answer(email, 'made-up-session-of-nobody', 'new_password', PASSWORD)).toBeUndefined();
    cognito.passMs(3 * MINUTE_MS);
    expect(await answer(email, session, 'new_password', PASSWORD)).toBeUndefined();
    cognito.passMs(-3 * MINUTE_MS);
    const fresh = sessionOf(await signIn(email, TEMPORARY), 'new_password');
    const answers = await Promise.all([1, 2].map((n) => answer(email, fresh, 'new_password', `${PASSWORD}${n}`)));
    expect(answers.filter((result) => result !== undefined)).toHaveLength(1);
  });
});

describe('a refresh token', () => {
  test('returns access tokens until it is revoked, and can be revoked twice', async () => {
    const { refreshToken } = await person();
    expect(await users.refresh({ refreshToken, caller })).toMatchObject({ accessToken: expect.any(String), expiresInSeconds: 3_600 });
    await users.revoke(refreshToken);
    expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
    await users.revoke(refreshToken);
    await users.revoke('of-nobody');
    expect(await users.refresh({ refreshToken: 'of-nobody', caller })).toBeUndefined();
  });

  test('expires after 30 days', async () => {
    const { refreshToken } = await person();
    cognito.passMs(30 * DAY_MS);
    expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
    cognito.passMs(-30 * DAY_MS);
  });

  test('is revoked with all others of its user, and no one else’s, when they are signed out everywhere', async () => {
    const [one, other] = [await person(), await person()];
    const second = tokensOf(await signIn(one.email));
    await users.signOutEverywhere(one.subject);
    for (const { refreshToken } of [one, second]) expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
    expect(await users.refresh({ refreshToken: other.refreshToken, caller })).toBeDefined();
    tokensOf(await signIn(one.email));
  });
});

describe('a deleted user', () => {
  test('cannot sign in, and can be deleted again', async () => {
    const { email, subject, refreshToken } = await person();
    await users.deleteUser(subject);
    expect(await signIn(email)).toBeUndefined();
    expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
    await users.deleteUser(subject);
    await users.signOutEverywhere(subject);
    await users.setEnabled(subject, false);
  });
});

describe('a user pool', () => {
  test('receives the IP address and user agent of the caller', async () => {
    const bodies: unknown[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      response.writeHead(400).end('{"__type":"NotAuthorizedException"}');
    });
    const strict = openPool(await listen(server, 0));
    await strict.signIn({ email: 'a@example.com', password: PASSWORD, caller });
    const { userAgent: _userAgent, ...withoutAgent } = caller;
    await strict.refresh({ refreshToken: 'token', caller: withoutAgent });
    await closeServer(server);
    const ContextData = { IpAddress: '192.0.2.1', ServerName: 'control.test', ServerPath: '/v1/sessions' };
    expect(bodies).toEqual([
      expect.objectContaining({ ContextData: { ...ContextData, HttpHeaders: [{ headerName: 'User-Agent', headerValue: 'test' }] } }),
      expect.objectContaining({ ContextData: { ...ContextData, HttpHeaders: [] } }),
    ]);
  });

  test('causes a retryable 503 without the password if it fails or can’t be reached', async () => {
    const server = createServer((_request, response) => response.writeHead(500).end('{}'));
    const url = await listen(server, 0);
    const failing = openPool(url);
    const attempt = () => failing.signIn({ email: 'a@example.com', password: PASSWORD, caller });
    await expect(attempt()).rejects.toMatchObject({ status: 503, code: 'service_unavailable', cause: expect.anything() });
    await closeServer(server);
    const error = await attempt().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(PASSWORD);
  });

  test.each(['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException'])(
    'causes a 429 if it throws %s',
    async (type) => {
      const server = createServer((_request, response) =>
        response.writeHead(400, { 'x-amzn-errortype': type }).end(`{"__type":"${type}"}`),
      );
      const busy = openPool(await listen(server, 0));
      await expect(busy.createUser({ email: 'a@example.com' })).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
      // A 429 for too many codes would reveal that the user exists.
      if (type === 'LimitExceededException') await busy.startReset('a@example.com');
      await closeServer(server);
    },
  );
});
