import { existsSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createUserPool, createUserPoolClient, type UserPool } from '../../../../shared/identity/user-pool.ts';
import { clientIds, pool, startTestCognito, type TestCognito } from '../../../support/emulators/cognito.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually } from '../fixtures.ts';

const TEMPORARY = 'Temporary-Password-1';
const PASSWORD = 'Correct-Horse-7';
const caller = { ipAddress: '192.0.2.1', serverName: 'control.test', serverPath: '/' };

const openPool = ({ url }: TestCognito): UserPool =>
  createUserPool(createUserPoolClient({ endpoint: url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }), {
    poolId: pool.id,
    clientIds,
  });

// The user has changed the temporary password. Returns the refresh token of the first sign-in.
const createSignedInUser = async (users: UserPool, email: string): Promise<string> => {
  await users.createUser({ email, temporaryPassword: TEMPORARY });
  const challenged = await users.signIn({ email, password: TEMPORARY, caller });
  if (!challenged || !('session' in challenged)) throw new Error('The first sign-in returned no challenge');
  const result = await users.answerChallenge({ email, session: challenged.session, challenge: 'new_password', answer: PASSWORD, caller });
  if (!result || !('tokens' in result)) throw new Error('Setting the new password returned no tokens');
  return result.tokens.refreshToken;
};

describe('the Cognito emulator', () => {
  let cognito: TestCognito;
  beforeAll(async () => {
    cognito = await startTestCognito();
  });
  afterAll(() => cognito.close());

  const call = async (action: string, body: unknown): Promise<unknown> => {
    const headers = { 'x-amz-target': `AWSCognitoIdentityProviderService.${action}` };
    const reply = await fetch(cognito.url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
    return [reply.status, await reply.json()];
  };

  test('serves the token keys at the same path as AWS, and no other path', async () => {
    const reply = await fetch(`${cognito.url}/${pool.id}/.well-known/jwks.json`);
    expect(await reply.json()).toEqual({ keys: [expect.objectContaining({ kty: 'RSA', alg: 'RS256', kid: expect.any(String) })] });
    expect((await fetch(`${cognito.url}/health`)).status).toBe(404);
  });

  test.each([
    ['InitiateAuth', { ClientId: clientIds.api, AuthFlow: 'USER_PASSWORD_AUTH' }, 'InvalidParameterException'],
    [
      'AdminInitiateAuth',
      { UserPoolId: pool.id, ClientId: clientIds.browser, AuthFlow: 'REFRESH_TOKEN_AUTH' },
      'InvalidParameterException',
    ],
    [
      'AdminInitiateAuth',
      { UserPoolId: pool.id, ClientId: clientIds.machine, AuthFlow: 'ADMIN_USER_PASSWORD_AUTH' },
      'InvalidParameterException',
    ],
    ['GetUser', { AccessToken: 'token' }, 'UnknownOperationException'],
    ['AdminInitiateAuth', { UserPoolId: pool.id, ClientId: 'another', AuthFlow: 'REFRESH_TOKEN_AUTH' }, 'ResourceNotFoundException'],
    ['AdminCreateUser', { UserPoolId: pool.id }, 'InvalidParameterException'],
    ['AdminGetUser', { UserPoolId: pool.id, Username: 'nobody@example.com' }, 'UserNotFoundException'],
    ['AdminGetUser', '{', 'SerializationException'],
    ['AdminGetUser', 'x'.repeat(200_000), 'InvalidParameterException'],
  ])("rejects %s of %j with Cognito's error", async (action, body, type) => {
    expect(await call(action, body)).toEqual([400, { __type: type, message: expect.any(String) }]);
  });

  test('returns the fields that an SDK expects with tokens', async () => {
    const users = openPool(cognito);
    await createSignedInUser(users, 'ada@example.com');
    const AuthParameters = { USERNAME: 'ada@example.com', PASSWORD };
    const request = { UserPoolId: pool.id, ClientId: clientIds.api, AuthFlow: 'ADMIN_USER_PASSWORD_AUTH', AuthParameters };
    expect(await call('AdminInitiateAuth', request)).toEqual([
      200,
      {
        ChallengeParameters: {},
        AuthenticationResult: {
          AccessToken: expect.any(String),
          IdToken: expect.any(String),
          RefreshToken: expect.any(String),
          ExpiresIn: 3_600,
          TokenType: 'Bearer',
        },
      },
    ]);
    const wrong = { ...request, AuthParameters: { ...AuthParameters, PASSWORD: 'wrong' } };
    const strange = { ...request, AuthParameters: { ...AuthParameters, USERNAME: 'nobody@example.com' } };
    const refused = [400, { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' }];
    expect([await call('AdminInitiateAuth', wrong), await call('AdminInitiateAuth', strange)]).toEqual([refused, refused]);
  });

  test('stores all users who are created at the same time', async () => {
    const users = openPool(cognito);
    const emails = Array.from({ length: 20 }, (_, n) => `one-of-many-${n}@example.com`);
    const refreshTokens = await Promise.all(emails.map((email) => createSignedInUser(users, email)));
    for (const refreshToken of refreshTokens) expect(await users.refresh({ refreshToken, caller })).toBeDefined();
  });
});

describe('the users of a state folder', () => {
  test('are kept for the next run, with their refresh tokens', async () => {
    await using folder = temporaryFolder();
    const options = { ephemeral: false, stateFolder: folder.path };
    const first = await startTestCognito(options);
    const refreshToken = await createSignedInUser(openPool(first), 'ada@example.com');
    await first.close();
    const second = await startTestCognito(options);
    const users = openPool(second);
    expect(await users.createUser({ email: 'Ada@example.com' })).toMatchObject({ isNew: false });
    expect(await users.refresh({ refreshToken, caller })).toBeDefined();
    await second.close();
  });

  test('survive a crash of cognito-local, which is restarted', async () => {
    const cognito = await startTestCognito();
    const users = openPool(cognito);
    const refreshToken = await createSignedInUser(users, 'ada@example.com');
    const pid = cognito.pid() as number;
    process.kill(pid, 'SIGKILL');
    await eventually(() => cognito.pid() !== pid && cognito.pid() !== undefined, 'cognito-local has a new process');
    await eventually(() => users.refresh({ refreshToken, caller }).then(Boolean, () => false), 'cognito-local accepts the refresh token');
    await cognito.close();
  });

  test('cause an error naming the file if it cannot be read', async () => {
    await using folder = temporaryFolder();
    const data = path.join(folder.path, 'cognito', '.cognito', 'db');
    await mkdir(data, { recursive: true });
    await writeFile(path.join(data, `${pool.id}.json`), '{"Users": {');
    await expect(startTestCognito({ ephemeral: false, stateFolder: folder.path })).rejects.toThrow(`${pool.id}.json cannot be read`);
    expect(await readFile(path.join(data, `${pool.id}.json`), 'utf8')).toBe('{"Users": {');
  });

  test('are deleted at the end of an ephemeral run', async () => {
    await using folder = temporaryFolder();
    const cognito = await startTestCognito({ stateFolder: folder.path });
    const pid = cognito.pid() as number;
    const data = readlinkSync(`/proc/${pid}/cwd`);
    await createSignedInUser(openPool(cognito), 'ada@example.com');
    await cognito.close();
    expect([existsSync(data), await readdir(folder.path)]).toEqual([false, []]);
  });
});
