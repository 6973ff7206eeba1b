import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { createUserPool, createUserPoolClient, type UserPool } from '../../../shared/identity/user-pool.ts';
import { caller } from './user-fixtures.ts';

const SUBJECT = '6c1f7ab1-5a4a-4d0e-9d8b-0b8b1f7c9f10';
const POOL = 'us-east-1_abcdefghi';
const CLAIMS = { sub: SUBJECT, origin_jti: 'one-sign-in', auth_time: 1_790_000_000 };
const ACCESS_TOKEN = `e30.${Buffer.from(JSON.stringify(CLAIMS)).toString('base64url')}.signature`;
const RESULT = { AuthenticationResult: { AccessToken: ACCESS_TOKEN, RefreshToken: 'next', ExpiresIn: 900 } };
const ASKED = { ChallengeName: 'CUSTOM_CHALLENGE', Session: 'session-of-the-challenge', ChallengeParameters: {} };
const ACCESS = {
  accessToken: ACCESS_TOKEN,
  expiresInSeconds: 900,
  subject: SUBJECT,
  sessionId: expect.stringMatching(/^ses_[0-9A-Za-z]{18}$/),
  authenticatedAt: 1_790_000_000,
};

let server: Server;
let users: UserPool;
let requests: [string, object][];
// By action: the response, or the type of the error.
let replies: Record<string, object | string>;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    requests.push([action, JSON.parse(Buffer.concat(await request.toArray()).toString()) as object]);
    const reply = replies[action] ?? {};
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (typeof reply === 'string') response.writeHead(400).end(JSON.stringify({ __type: reply, message: 'No.' }));
    else response.writeHead(200).end(JSON.stringify(reply));
  });
  const endpoint = await listen(server, 0);
  const client = createUserPoolClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  users = createUserPool(client, { poolId: POOL, clientIds: { api: 'api-client', machine: 'machine-client', browser: 'browser-client' } });
});
beforeEach(() => {
  requests = [];
  replies = { AdminInitiateAuth: ASKED, AdminRespondToAuthChallenge: RESULT, GetTokensFromRefreshToken: RESULT };
});
afterAll(() => closeServer(server));

const signIn = () => users.signInWithTicket({ subject: SUBJECT, ticket: 'the-ticket', client: 'machine', caller });

describe('signInWithTicket', () => {
  test('answers the challenge of the user with the ticket, as the given client', async () => {
    expect(await signIn()).toEqual({ tokens: { ...ACCESS, refreshToken: 'next' } });
    const common = { UserPoolId: POOL, ClientId: 'machine-client', ContextData: expect.objectContaining({ IpAddress: '192.0.2.1' }) };
    expect(requests).toEqual([
      ['AdminInitiateAuth', { ...common, AuthFlow: 'CUSTOM_AUTH', AuthParameters: { USERNAME: SUBJECT } }],
      [
        'AdminRespondToAuthChallenge',
        {
          ...common,
          ChallengeName: 'CUSTOM_CHALLENGE',
          Session: 'session-of-the-challenge',
          ChallengeResponses: { USERNAME: SUBJECT, ANSWER: 'the-ticket' },
        },
      ],
    ]);
  });

  test('passes a second factor’s challenge on', async () => {
    replies.AdminRespondToAuthChallenge = { ChallengeName: 'SOFTWARE_TOKEN_MFA', Session: 'next-session' };
    expect(await signIn()).toEqual({ challenge: 'totp', session: 'next-session' });
  });

  test.each([
    ['AdminInitiateAuth', 'NotAuthorizedException', 1],
    ['AdminInitiateAuth', 'UserNotFoundException', 1],
    ['AdminRespondToAuthChallenge', 'NotAuthorizedException', 2],
    ['AdminRespondToAuthChallenge', 'CodeMismatchException', 2],
  ])('returns undefined if %s is refused with %s', async (action, type, calls) => {
    replies[action] = type;
    expect(await signIn()).toBeUndefined();
    expect(requests).toHaveLength(calls);
  });

  test.each(['UserLambdaValidationException', 'UnexpectedLambdaException', 'InvalidLambdaResponseException'])(
    'fails with a 503 if the pool reports %s, because the ticket could not be checked',
    async (type) => {
      replies.AdminRespondToAuthChallenge = type;
      await expect(signIn()).rejects.toMatchObject({ status: 503, code: 'service_unavailable' });
    },
  );

  test('fails without naming the ticket if the function does not have the client', async () => {
    const client = createUserPoolClient({ region: 'us-east-1' });
    const apiOnly = createUserPool(client, { poolId: POOL, clientIds: { api: 'api-client' } });
    const attempt = apiOnly.signInWithTicket({ subject: SUBJECT, ticket: 'the-ticket', client: 'browser', caller });
    await expect(attempt).rejects.toThrow("doesn't have the client 'browser'");
  });
});

describe('refreshRotating', () => {
  test('returns the next refresh token, and the session and time of the sign-in', async () => {
    expect(await users.refreshRotating({ refreshToken: 'first' })).toEqual({ ...ACCESS, refreshToken: 'next' });
    expect(requests).toEqual([['GetTokensFromRefreshToken', { ClientId: 'browser-client', RefreshToken: 'first' }]]);
  });

  test.each(['NotAuthorizedException', 'RefreshTokenReuseException', 'UserNotFoundException'])(
    'returns undefined if it is refused with %s',
    async (type) => {
      replies.GetTokensFromRefreshToken = type;
      expect(await users.refreshRotating({ refreshToken: 'first' })).toBeUndefined();
    },
  );
});

describe('the client of a sign-in', () => {
  test.each([
    [undefined, 'api-client'],
    ['browser' as const, 'browser-client'],
  ])('is used for a password, a challenge and a revocation (%s)', async (client, ClientId) => {
    replies.AdminInitiateAuth = RESULT;
    replies.AdminGetUser = { Username: SUBJECT, UserAttributes: [{ Name: 'sub', Value: SUBJECT }] };
    const given = { email: 'ada@example.com', caller, ...(client && { client }) };
    await users.signIn({ ...given, password: 'Correct-Horse-7' });
    await users.answerChallenge({ ...given, session: 'session', challenge: 'totp', answer: '123456' });
    await users.revoke('token', client);
    const sent = requests.filter(([action]) => action !== 'AdminGetUser');
    expect(sent).toEqual(
      ['AdminInitiateAuth', 'AdminRespondToAuthChallenge', 'RevokeToken'].map((action) => [action, expect.objectContaining({ ClientId })]),
    );
  });
});
