import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createDiscovery } from '../../../shared/federation/discovery.ts';
import { IssuerUnavailable } from '../../../shared/federation/errors.ts';
import { createKeySets } from '../../../shared/federation/key-sets.ts';
import { createIdentityTokenVerifier, type ExpectedToken } from '../../../shared/federation/verify-identity-token.ts';

const ISSUER = 'https://issuer.test/tenant';
const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
const KEYS = 'https://keys.test/set';
const NOW = 1_800_000_000;
const claims = { iss: ISSUER, sub: 'repo:a/b', aud: 'https://control.test', iat: NOW - 10, exp: NOW + 300, jti: 'one' };
const expected: ExpectedToken = { issuer: ISSUER, audience: claims.aud, isIdToken: false, maxLifetimeSeconds: 3_600 };

interface Key {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  jwk: Record<string, unknown>;
}
const rsa = (kid: string, alg = 'RS256', modulusLength = 2_048): Key => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  return { kid, alg, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
};
const ec = (kid: string): Key => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, alg: 'ES256', privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
};

const OPTIONS: Record<string, object> = { PS256: { padding: 6, saltLength: 32 }, ES256: { dsaEncoding: 'ieee-p1363' } };
const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
let [first, second, forger, curve]: Key[] = [];
const tokenOf = (changes: object = {}, { key = first as Key, header = {} }: { key?: Key | undefined; header?: object } = {}): string => {
  const text = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })}.${encode({ ...claims, ...changes })}`;
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, ...OPTIONS[key.alg] });
  return `${text}.${signature.toString('base64url')}`;
};

let documents: Record<string, unknown>;
let fetched: string[];
let nowMs: number;
const setOf = (...keys: (Key | undefined)[]) => ({ keys: keys.map((key) => key?.jwk) });

beforeAll(() => {
  [first, second, forger, curve] = [rsa('first'), rsa('second'), rsa('first'), ec('curve')];
});
beforeEach(() => {
  documents = { [DISCOVERY]: { issuer: ISSUER, jwks_uri: KEYS }, [KEYS]: setOf(first, curve) };
  fetched = [];
  nowMs = NOW * 1_000;
});

const open = () => {
  const now = (): number => nowMs;
  const fetchDocument = async (url: string): Promise<unknown> => {
    fetched.push(url);
    if (!(url in documents)) throw new IssuerUnavailable('bad_status');
    return documents[url];
  };
  return createIdentityTokenVerifier({ discover: createDiscovery(fetchDocument, now), keySets: createKeySets(fetchDocument, now), now });
};
const faultOf = (token: string, changes: Partial<ExpectedToken> = {}): Promise<unknown> =>
  open()(token, { ...expected, ...changes }).then(
    () => 'accepted',
    ({ fault }) => fault,
  );

describe('verifyIdentityToken', () => {
  test('returns the claims of a token', async () => {
    expect(await open()(tokenOf({ repository_id: '7' }), expected)).toEqual({ ...claims, repository_id: '7' });
    expect(fetched).toEqual([DISCOVERY, KEYS]);
  });

  test.each(['RS256', 'PS256', 'ES256'])('accepts %s', async (alg) => {
    const key = alg === 'ES256' ? curve : { ...(first as Key), alg };
    expect(await faultOf(tokenOf({}, { key }))).toBe('accepted');
  });

  test.each<[string, () => string, string]>([
    ['of another issuer', () => tokenOf({ iss: `${ISSUER}/` }), 'issuer_mismatch'],
    ['for another audience', () => tokenOf({ aud: 'https://control.test/' }), 'audience_mismatch'],
    ['for no audience', () => tokenOf({ aud: undefined }), 'audience_mismatch'],
    ['for other audiences', () => tokenOf({ aud: ['a', 'b'] }), 'audience_mismatch'],
    ['without a subject', () => tokenOf({ sub: undefined }), 'subject_missing'],
    ['with an empty subject', () => tokenOf({ sub: '' }), 'subject_missing'],
    ['without an end', () => tokenOf({ exp: undefined }), 'time_missing'],
    ['without a time of issue', () => tokenOf({ iat: undefined }), 'time_missing'],
    ['with an end that is text', () => tokenOf({ exp: String(NOW + 300) }), 'time_missing'],
    ['with a begin that is text', () => tokenOf({ nbf: 'now' }), 'time_missing'],
    ['that ended 60 s ago', () => tokenOf({ exp: NOW - 60 }), 'expired'],
    ['issued in 61 s', () => tokenOf({ iat: NOW + 61 }), 'issued_in_the_future'],
    ['not valid before 61 s', () => tokenOf({ nbf: NOW + 61 }), 'not_yet_valid'],
    ['that lives longer than an hour', () => tokenOf({ exp: NOW - 10 + 3_601 }), 'lifetime_too_long'],
    ['without a signature', () => tokenOf({}, { header: { alg: 'none' } }).replace(/[^.]+$/, ''), 'algorithm_not_allowed'],
    ['signed with the algorithm None', () => tokenOf({}, { header: { alg: 'None' } }), 'algorithm_not_allowed'],
    ['signed with RS512', () => tokenOf({}, { header: { alg: 'RS512' } }), 'algorithm_not_allowed'],
    ['without a key id', () => tokenOf({}, { header: { kid: undefined } }), 'key_id_missing'],
    ['that is an access token', () => tokenOf({}, { header: { typ: 'at+jwt' } }), 'type_not_allowed'],
    ['that is a logout token', () => tokenOf({}, { header: { typ: 'logout+jwt' } }), 'type_not_allowed'],
    ['signed by an unknown key', () => tokenOf({}, { key: second }), 'key_unknown'],
    ['signed by another key with the same id', () => tokenOf({}, { key: forger }), 'signature_invalid'],
    ['with a key of another type', () => tokenOf({}, { header: { kid: 'curve' } }), 'key_unknown'],
    ['with an unknown critical header', () => tokenOf({}, { header: { crit: ['x'], x: 1 } }), 'signature_invalid'],
    ['with changed claims', () => tokenOf().replace(/\.[^.]+\./, `.${encode({ ...claims, sub: 'x' })}.`), 'signature_invalid'],
    ['that is too long', () => tokenOf({ groups: 'g'.repeat(16_384) }), 'malformed'],
    ['that is not a token', () => 'a.b.c', 'malformed'],
    ['that is encrypted', () => `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`, 'algorithm_not_allowed'],
    ['that is empty', () => '', 'malformed'],
  ])('rejects a token %s', async (_, token, fault) => {
    expect(await faultOf(token())).toBe(fault);
  });

  test('rejects a token signed with the public key as a secret', async () => {
    const text = `${encode({ alg: 'HS256', kid: 'first', typ: 'JWT' })}.${encode(claims)}`;
    const pem = createPublicKey({ key: (first as Key).jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const token = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    expect(await faultOf(token)).toBe('algorithm_not_allowed');
  });

  test.each<[string, object]>([
    ['that ended 59 s ago', { exp: NOW - 59 }],
    ['issued in 60 s', { iat: NOW + 60 }],
    ['for several audiences', { aud: ['a', claims.aud] }],
    ['that lives an hour', { iat: NOW, exp: NOW + 3_600 }],
  ])('accepts a token %s', async (_, changes) => {
    expect(await faultOf(tokenOf(changes))).toBe('accepted');
  });

  test('rejects a key that is too weak, is for encryption or is a secret', async () => {
    const weak = rsa('weak', 'RS256', 1_024);
    documents[KEYS] = setOf(weak);
    expect(await faultOf(tokenOf({}, { key: weak }))).toBe('signature_invalid');
    documents[KEYS] = { keys: [{ ...first?.jwk, use: 'enc' }] };
    expect(await faultOf(tokenOf())).toBe('key_unknown');
    documents[KEYS] = { keys: [{ kty: 'oct', kid: 'first', k: 'c2VjcmV0' }] };
    expect(await faultOf(tokenOf())).toBe('key_unknown');
  });

  test('rejects a key that several entries of the set claim', async () => {
    documents[KEYS] = setOf(first, forger);
    expect(await faultOf(tokenOf())).toBe('key_unknown');
  });

  test('fetches nothing for a token whose claims are wrong', async () => {
    for (const changes of [{ iss: 'https://other.test' }, { aud: 'x' }, { exp: NOW - 100 }, { sub: '' }]) await faultOf(tokenOf(changes));
    expect(fetched).toEqual([]);
  });
});

describe('verifyIdentityToken, of an ID token', () => {
  const idToken = { isIdToken: true, nonce: 'n' };

  test.each<[object, string]>([
    [{ nonce: 'n' }, 'accepted'],
    [{ nonce: 'n', aud: [claims.aud], azp: claims.aud }, 'accepted'],
    [{ nonce: 'n', aud: [claims.aud, 'other'], azp: claims.aud }, 'accepted'],
    [{ nonce: 'n', aud: [claims.aud, 'other'] }, 'authorized_party_mismatch'],
    [{ nonce: 'n', azp: 'other' }, 'authorized_party_mismatch'],
    [{ nonce: 'm' }, 'nonce_mismatch'],
    [{}, 'nonce_mismatch'],
  ])('checks %j: %s', async (changes, fault) => {
    expect(await faultOf(tokenOf(changes), idToken)).toBe(fault);
  });
});

describe('verifyIdentityToken, if an issuer', () => {
  test('changes its keys, accepts a new one, and fetches keys for unknown ids once in 30 s', async () => {
    const verify = open();
    await verify(tokenOf(), expected);
    documents[KEYS] = setOf(first, second);
    for (let i = 0; i < 3; i++)
      await expect(verify(tokenOf({}, { key: second }), expected)).rejects.toMatchObject({ fault: 'key_unknown' });
    nowMs += 30_000;
    expect(await verify(tokenOf({}, { key: second }), expected)).toMatchObject({ sub: claims.sub });
    expect(fetched.filter((url) => url === KEYS)).toHaveLength(2);
  });

  test.each<[string, () => void, string]>([
    ['is away', () => delete documents[DISCOVERY], 'bad_status'],
    ['has no keys', () => delete documents[KEYS], 'bad_status'],
    [
      'names another issuer',
      () => Object.assign(documents, { [DISCOVERY]: { issuer: 'https://issuer.test', jwks_uri: KEYS } }),
      'issuer_differs',
    ],
    ['has a malformed document', () => Object.assign(documents, { [DISCOVERY]: [] }), 'invalid_document'],
    ['has a malformed key set', () => Object.assign(documents, { [KEYS]: { keys: 'none' } }), 'invalid_document'],
    ['has more than 100 keys', () => Object.assign(documents, { [KEYS]: { keys: Array(101).fill(first?.jwk) } }), 'invalid_document'],
  ])('%s, rejects the token', async (_, change, fault) => {
    change();
    expect(await faultOf(tokenOf())).toBe(fault);
  });

  test('may not be asked, rejects the token', async () => {
    const beforeFetch = async (): Promise<void> => {
      throw new IssuerUnavailable('too_many_fetches');
    };
    expect(await faultOf(tokenOf(), { beforeFetch })).toBe('too_many_fetches');
    expect(fetched).toEqual([]);
  });
});
