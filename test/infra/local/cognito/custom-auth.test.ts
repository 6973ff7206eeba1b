import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTokenVerifier, jwksUriOf } from '../../../../functions/control/identity/verify-token.ts';
import type { PoolClient } from '../../../../shared/identity/pool-clients.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { caller, openPool, PASSWORD, signInsTo, TEMPORARY, tokensOf } from '../../../shared/identity/user-fixtures.ts';
import { clientIds, pool, startTestCognito, type TestCognito } from '../../../support/emulators/cognito.ts';

let cognito: TestCognito;
let users: UserPool;
beforeAll(async () => {
  cognito = await startTestCognito();
  users = openPool(cognito.url);
});
afterAll(() => cognito.close());

const { newAddress, person, personWithApp } = signInsTo(() => users);

const call = async (action: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> => {
  const headers = { 'x-amz-target': `AWSCognitoIdentityProviderService.${action}` };
  const reply = await fetch(cognito.url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};

const silentUser = async () => users.createSilentUser(newAddress());
const signInWith = (subject: string, ticket: string, client: PoolClient = 'machine') =>
  users.signInWithTicket({ subject, ticket, client, caller });
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a sign-in with a ticket', () => {
  test.each<[PoolClient, number]>([
    ['api', 3_600],
    ['machine', 900],
    ['browser', 900],
  ])('issues tokens of the client %s that verify, although nobody knows the password', async (client, seconds) => {
    const { subject } = await silentUser();
    const tokens = tokensOf(await signInWith(subject, cognito.tickets.issue(subject), client));
    expect(tokens).toMatchObject({ subject, expiresInSeconds: seconds });
    const { exp, iat, token_use } = claimsOf(tokens.accessToken);
    expect([Number(exp) - Number(iat), token_use]).toEqual([seconds, 'access']);
    const issuer = `https://cognito-idp.us-east-1.amazonaws.com/${pool.id}`;
    const verifier = createTokenVerifier({ issuer, clientIds, jwksUri: jwksUriOf(issuer, cognito.url) });
    expect(await verifier.verify(tokens.accessToken)).toEqual({
      subject,
      issuer,
      issuedAtMs: expect.any(Number),
      authenticatedAtMs: tokens.authenticatedAt * 1_000,
      sessionId: tokens.sessionId,
      client,
    });
  });

  test('works once with a ticket, and only for its user', async () => {
    const [{ subject }, { subject: other }] = [await silentUser(), await silentUser()];
    const ticket = cognito.tickets.issue(subject);
    expect(await signInWith(other, ticket)).toBeUndefined();
    expect(await signInWith(subject, 'made-up')).toBeUndefined();
    const attempts = await Promise.all(Array.from({ length: 10 }, () => signInWith(subject, ticket)));
    expect(attempts.filter((result) => result !== undefined)).toHaveLength(1);
  });

  test('is refused for disabled and deleted users, and until a temporary password is replaced', async () => {
    const { subject } = await silentUser();
    await users.setEnabled(subject, false);
    expect(await signInWith(subject, cognito.tickets.issue(subject))).toBeUndefined();
    await users.setEnabled(subject, true);
    expect(await signInWith(subject, cognito.tickets.issue(subject))).toBeDefined();
    await users.deleteUser(subject);
    expect(await signInWith(subject, cognito.tickets.issue(subject))).toBeUndefined();
    const email = newAddress();
    const { subject: invited } = await users.createUser({ email, temporaryPassword: TEMPORARY });
    expect(await signInWith(invited, cognito.tickets.issue(invited))).toBeUndefined();
    await users.createSilentUser(email);
    expect(await signInWith(invited, cognito.tickets.issue(invited))).toBeDefined();
  });

  test('does not ask for the code of an app, and leaves the password as it is', async () => {
    const { subject, email } = await personWithApp();
    tokensOf(await signInWith(subject, cognito.tickets.issue(subject), 'api'));
    expect(await users.signIn({ email, password: PASSWORD, caller })).toMatchObject({ challenge: 'totp' });
  });

  test('ends with all others when the user is signed out everywhere', async () => {
    const { subject } = await silentUser();
    const { refreshToken } = tokensOf(await signInWith(subject, cognito.tickets.issue(subject), 'api'));
    expect(await users.refresh({ refreshToken, caller })).toBeDefined();
    await users.signOutEverywhere(subject);
    expect(await users.refresh({ refreshToken, caller })).toBeUndefined();
  });
});

describe('a stranger who knows the id of a client', () => {
  const initiate = (ClientId: string, USERNAME: string, more: object = {}) =>
    call('InitiateAuth', { ClientId, AuthFlow: 'CUSTOM_AUTH', AuthParameters: { USERNAME, ...more } });
  const respond = (ClientId: string, Session: unknown, USERNAME: string, ANSWER: string) =>
    call('RespondToAuthChallenge', { ClientId, ChallengeName: 'CUSTOM_CHALLENGE', Session, ChallengeResponses: { USERNAME, ANSWER } });
  const refused = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' } };

  test.each(Object.entries(clientIds))('can start the sign-in of the client %s, but has one answer, which is wrong', async (_name, id) => {
    const { email, subject } = await person();
    for (const guess of ['', 'guess', PASSWORD, 'x'.repeat(2_000)]) {
      const started = await initiate(id, email);
      expect(started).toMatchObject({ status: 200, body: { ChallengeName: 'CUSTOM_CHALLENGE' } });
      expect(await respond(id, started.body.Session, subject, guess)).toEqual(refused);
      const again = await respond(id, started.body.Session, subject, cognito.tickets.issue(subject));
      expect(again).toMatchObject({ status: 400, body: { message: 'Invalid session for the user.' } });
    }
  });

  test('cannot use a ticket of theirs for someone else, at another client, or after three minutes', async () => {
    const [{ subject: mine }, { subject: theirs }] = [await silentUser(), await silentUser()];
    const started = await initiate(clientIds.api, mine);
    expect((await respond(clientIds.api, started.body.Session, theirs, cognito.tickets.issue(mine))).status).toBe(400);
    const other = await initiate(clientIds.api, mine);
    expect((await respond(clientIds.machine, other.body.Session, mine, cognito.tickets.issue(mine))).status).toBe(400);
    const late = await initiate(clientIds.api, mine);
    cognito.passMs(3 * MINUTE_MS);
    expect((await respond(clientIds.api, late.body.Session, mine, cognito.tickets.issue(mine))).status).toBe(400);
    cognito.passMs(-3 * MINUTE_MS);
  });

  test('cannot tell who exists', async () => {
    const { email } = await person();
    const [known, unknown] = [await initiate(clientIds.api, email), await initiate(clientIds.api, 'nobody@example.com')];
    expect([known.status, Object.keys(known.body)]).toEqual([unknown.status, Object.keys(unknown.body)]);
    expect(await respond(clientIds.api, unknown.body.Session, 'nobody@example.com', 'guess')).toEqual(refused);
  });

  test.each(['USER_PASSWORD_AUTH', 'USER_SRP_AUTH', 'REFRESH_TOKEN_AUTH'])('cannot start %s', async (AuthFlow) => {
    expect(await call('InitiateAuth', { ClientId: clientIds.machine, AuthFlow })).toMatchObject({
      status: 400,
      body: { __type: 'InvalidParameterException' },
    });
  });
});

describe('a refresh token of a client with rotation', () => {
  const signedIn = async () => {
    const { subject } = await silentUser();
    return tokensOf(await signInWith(subject, cognito.tickets.issue(subject), 'browser'));
  };

  test('gives the next one, and can be used again for a minute, by two tabs at once', async () => {
    const first = await signedIn();
    const tabs = await Promise.all([1, 2].map(() => users.refreshRotating({ refreshToken: first.refreshToken })));
    expect(new Set([first, ...tabs].map((tokens) => tokens?.refreshToken)).size).toBe(3);
    for (const tokens of tabs)
      expect(tokens).toMatchObject({ sessionId: first.sessionId, authenticatedAt: first.authenticatedAt, expiresInSeconds: 900 });
    cognito.passMs(MINUTE_MS + 1);
    expect(await users.refreshRotating({ refreshToken: first.refreshToken })).toBeUndefined();
    for (const tokens of tabs) expect(await users.refreshRotating({ refreshToken: tokens?.refreshToken ?? '' })).toBeDefined();
    cognito.passMs(-MINUTE_MS - 1);
  });

  test('ends with the first one, however often it is renewed', async () => {
    let { refreshToken } = await signedIn();
    for (let day = 0; day < 29; day++) {
      cognito.passMs(24 * 60 * MINUTE_MS);
      refreshToken = (await users.refreshRotating({ refreshToken }))?.refreshToken ?? '';
    }
    cognito.passMs(24 * 60 * MINUTE_MS);
    expect(await users.refreshRotating({ refreshToken })).toBeUndefined();
    cognito.passMs(-30 * 24 * 60 * MINUTE_MS);
  });

  test('is revoked with all that came from it, and works neither in the old way nor for another client', async () => {
    const { refreshToken } = await signedIn();
    const next = await users.refreshRotating({ refreshToken });
    const AuthParameters = { REFRESH_TOKEN: refreshToken };
    for (const ClientId of Object.values(clientIds))
      expect(
        (await call('AdminInitiateAuth', { UserPoolId: pool.id, ClientId, AuthFlow: 'REFRESH_TOKEN_AUTH', AuthParameters })).status,
      ).toBe(400);
    expect((await call('GetTokensFromRefreshToken', { ClientId: clientIds.api, RefreshToken: refreshToken })).status).toBe(400);
    await users.revoke(refreshToken, 'browser');
    expect(await users.refreshRotating({ refreshToken: next?.refreshToken ?? '' })).toBeUndefined();
  });
});
