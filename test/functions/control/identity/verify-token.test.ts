import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTokenVerifier, jwksUriOf, type TokenVerifierOptions } from '../../../../functions/control/identity/verify-token.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';

const ISSUER = 'https://cognito-idp.us-east-1.amazonaws.com/us-east-1_abcdefghi';
const CLIENT = 'client-of-ours';
const MACHINE = 'another-client-of-ours';
const NOW_S = Math.floor(Date.now() / 1_000);
const claims = { sub: 'subject-1', iss: ISSUER, client_id: CLIENT, token_use: 'access', iat: NOW_S - 10, exp: NOW_S + 3_600 };

interface Key {
  kid: string;
  privateKey: KeyObject;
  jwk: object;
}
const newKey = (kid: string): Key => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } };
};
const [first, second, forger] = [newKey('first'), newKey('second'), newKey('first')] as [Key, Key, Key];

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const tokenOf = (changes: object = {}, { key = first, header = {} }: { key?: Key; header?: object } = {}): string => {
  const text = `${encode({ alg: 'RS256', kid: key.kid, ...header })}.${encode({ ...claims, ...changes })}`;
  return `${text}.${sign('sha256', Buffer.from(text), key.privateKey).toString('base64url')}`;
};

let server: Server;
let origin: string;
let reply: { status: number; body: string };
let fetches: number;
let nowMs: number;
const serving = (...keys: Key[]) => ({ status: 200, body: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }) });

beforeAll(async () => {
  server = createServer((request, response) => {
    fetches += 1;
    const { status, body } = request.url === '/us-east-1_abcdefghi/.well-known/jwks.json' ? reply : { status: 404, body: '' };
    response.writeHead(status).end(body);
  });
  origin = await listen(server, 0);
});
beforeEach(() => {
  reply = serving(first);
  fetches = 0;
  nowMs = 1_000_000;
});
afterAll(() => closeServer(server));

const open = (options: Partial<TokenVerifierOptions> = {}) =>
  createTokenVerifier({
    issuer: ISSUER,
    clientIds: { api: CLIENT, machine: MACHINE },
    jwksUri: jwksUriOf(ISSUER, origin),
    now: () => nowMs,
    ...options,
  });

const invalid = { status: 401, code: 'invalid_token', headers: { 'www-authenticate': 'Bearer' } };

describe('verify', () => {
  test('returns the facts of a user pool’s token', async () => {
    expect(await open().verify(tokenOf({ auth_time: NOW_S - 500, origin_jti: 'one-sign-in' }))).toEqual({
      subject: 'subject-1',
      issuer: ISSUER,
      issuedAtMs: (NOW_S - 10) * 1_000,
      authenticatedAtMs: (NOW_S - 500) * 1_000,
      sessionId: expect.stringMatching(/^ses_[0-9A-Za-z]{18}$/),
      client: 'api',
    });
  });

  test('tells apart sign-ins and clients, and takes a sign-in without a time for an old one', async () => {
    const sessionOf = async (origin_jti: string) => (await open().verify(tokenOf({ origin_jti, jti: String(Math.random()) }))).sessionId;
    expect(await sessionOf('one')).toBe(await sessionOf('one'));
    expect(await sessionOf('one')).not.toBe(await sessionOf('other'));
    expect(await open().verify(tokenOf({ client_id: MACHINE }))).toMatchObject({
      client: 'machine',
      sessionId: undefined,
      authenticatedAtMs: 0,
    });
  });

  test('rejects an expired token with a message that says to refresh it', async () => {
    await expect(open().verify(tokenOf({ exp: NOW_S - 1 }))).rejects.toMatchObject({
      ...invalid,
      code: 'token_expired',
      message: 'The access token has expired. Log in again, or refresh it.',
    });
  });

  test.each<[string, () => string]>([
    ['of another issuer', () => tokenOf({ iss: `${ISSUER}x` })],
    ['of another client', () => tokenOf({ client_id: 'another' })],
    ['without a client', () => tokenOf({ client_id: undefined })],
    ['with a time of sign-in that is no number', () => tokenOf({ auth_time: 'now' })],
    ['of no kind', () => tokenOf({ token_use: undefined })],
    ['that is an id token', () => tokenOf({ token_use: 'id', aud: CLIENT })],
    ['signed by another key with the same id', () => tokenOf({}, { key: forger })],
    ['signed by an unknown key', () => tokenOf({}, { key: second })],
    ['without a key id', () => tokenOf({}, { header: { kid: undefined } })],
    ['without a signature', () => tokenOf({}, { header: { alg: 'none' } }).replace(/[^.]+$/, '')],
    ['signed with another algorithm', () => tokenOf({}, { header: { alg: 'RS512' } })],
    ['with changed claims', () => tokenOf().replace(/\.[^.]+\./, `.${encode({ ...claims, sub: 'somebody' })}.`)],
    ['without an expiry', () => tokenOf({ exp: undefined })],
    ['without a subject', () => tokenOf({ sub: undefined })],
    ['not valid yet', () => tokenOf({ nbf: NOW_S + 600 })],
    ['that is not a JWT', () => 'sk-something'],
    ['that is empty', () => ''],
  ])('rejects a token %s with the same message', async (_what, token) => {
    await expect(open().verify(token())).rejects.toMatchObject({ ...invalid, message: 'The access token is invalid. Log in again.' });
  });

  test('rejects a token longer than 8 kB without fetching keys', async () => {
    await expect(open().verify(tokenOf({ padding: 'x'.repeat(8_192) }))).rejects.toMatchObject(invalid);
    expect(fetches).toBe(0);
  });
});

describe("the issuer's keys", () => {
  test('are fetched once for concurrent tokens', async () => {
    const verifier = open();
    await Promise.all(Array.from({ length: 20 }, () => verifier.verify(tokenOf())));
    await verifier.verify(tokenOf());
    expect(fetches).toBe(1);
  });

  test('are fetched again for an unknown key id, but at most once in 30 s however many tokens are forged', async () => {
    const verifier = open();
    await verifier.verify(tokenOf());
    const forged = (n: number) => verifier.verify(tokenOf({}, { header: { kid: `forged-${n}` } })).catch(() => undefined);
    for (let n = 0; n < 50; n++) await forged(n);
    expect(fetches).toBe(1);
    reply = serving(first, second);
    nowMs += 30_000;
    expect(await verifier.verify(tokenOf({}, { key: second }))).toMatchObject({ subject: 'subject-1' });
    await Promise.all(Array.from({ length: 50 }, (_, n) => forged(n)));
    expect(fetches).toBe(2);
  });

  test('are no longer accepted an hour after the issuer withdraws them', async () => {
    const verifier = open();
    await verifier.verify(tokenOf());
    reply = serving(second);
    nowMs += 60 * 60_000;
    await expect(verifier.verify(tokenOf())).rejects.toMatchObject(invalid);
  });

  test.each([
    ['an error', { status: 500, body: '' }],
    ['an invalid key set', { status: 200, body: '{"keys":1}' }],
    ['invalid JSON', { status: 200, body: '<html>' }],
    ['more than 64 kB', { status: 200, body: JSON.stringify({ keys: [], padding: 'x'.repeat(65_536) }) }],
  ])('are kept if a later fetch returns %s, and without any keys the result is 503', async (_what, failing) => {
    const verifier = open();
    reply = failing;
    await expect(verifier.verify(tokenOf())).rejects.toMatchObject({ status: 503, code: 'service_unavailable', cause: expect.anything() });
    await expect(verifier.verify(tokenOf())).rejects.toMatchObject({ status: 503 });
    expect(fetches).toBe(1);
    reply = serving(first);
    nowMs += 1_000;
    await verifier.verify(tokenOf());
    reply = failing;
    nowMs += 2 * 60 * 60_000;
    expect(await verifier.verify(tokenOf())).toMatchObject({ subject: 'subject-1' });
    expect(fetches).toBe(3);
  });

  test('are at the URL of the issuer, or of the endpoint that replaces it', () => {
    expect(jwksUriOf(ISSUER)).toBe(`${ISSUER}/.well-known/jwks.json`);
    expect(jwksUriOf('https://login.example.com/')).toBe('https://login.example.com/.well-known/jwks.json');
    expect(jwksUriOf(ISSUER, 'http://127.0.0.1:9/')).toBe('http://127.0.0.1:9/us-east-1_abcdefghi/.well-known/jwks.json');
  });
});
