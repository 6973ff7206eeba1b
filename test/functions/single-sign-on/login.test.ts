import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { countLogin } from '../../../shared/identity/count-login.ts';
import {
  CONTROL,
  LOOPBACK,
  type MockProvider,
  type SingleSignOn,
  startMockProvider,
  startSingleSignOn,
  unique,
} from './sign-on-fixtures.ts';

let sso: SingleSignOn;
let mock: MockProvider;
beforeAll(async () => {
  [sso, mock] = await Promise.all([startSingleSignOn(), startMockProvider()]);
});
afterAll(async () => {
  await Promise.all([sso.close(), mock.close()]);
});
beforeEach(() => {
  sso.entries.length = 0;
  sso.pool.calls.length = 0;
});

const newPerson = (domain: string, claims: Record<string, unknown> = {}) => {
  const email = `${unique('ada')}@${domain}`;
  mock.state.claims = { sub: unique('sub'), email, email_verified: true, ...claims };
  return email;
};
const stored = async (email: string) => {
  const id = await sso.users.idOfEmail(email);
  return id === undefined ? undefined : sso.users.get(id);
};

describe('single sign-on', () => {
  test('creates the user of a new identity, and begins their session', async () => {
    const { domain, organization, provider } = await sso.addConnection(mock.issuer, { session_hours: 2 });
    const email = newPerson(domain, { amr: ['pwd', 'mfa'] });
    const browser = sso.browser();
    const reply = await browser.login(email);
    expect(reply).toMatchObject({
      statusCode: 303,
      headers: { location: expect.stringMatching(/^http:\/\/127\.0\.0\.1:53682\/done\?code=/) },
    });
    const { status, body } = await browser.exchange(reply);
    expect({ status, body }).toMatchObject({ status: 200, body: { object: 'session', user: { email, role: 'member', organization } } });
    expect(sso.entries).toEqual(['user.provisioned', 'session.created']);
    const user = await stored(email);
    // It would count for logins with a password, and for the break-glass owner.
    expect(user).not.toHaveProperty('second_factor');
    const session = await sso.sessions.get(user?.id ?? '', `ses_${'s'.repeat(18)}`, Math.floor(Date.now() / 1_000));
    expect(session).toMatchObject({ proof: `sso:${provider.id}`, second_factor: true });
    expect((session?.ends_at ?? 0) - (session?.created_at ?? 0)).toBeLessThanOrEqual(2 * 3_600);
    // A password that an earlier user of the address had is not kept.
    expect(sso.pool.calls).toEqual([`createSilentUser ${email}`]);
  });

  test.each([
    ['a text', '2'],
    ['a number', 2],
  ])('counts a required acr as a second factor if the provider sends %s', async (_, acr) => {
    const { domain } = await sso.addConnection(mock.issuer, { required_acr: ['2'] });
    const email = newPerson(domain, { acr });
    const browser = sso.browser();
    await browser.exchange(await browser.login(email));
    const [session] = await sso.sessions.list((await stored(email))?.id ?? '', Math.floor(Date.now() / 1_000));
    expect(session).toMatchObject({ second_factor: true });
  });

  test('stores which login a challenge of the authenticator app belongs to', async () => {
    const { domain, provider } = await sso.addConnection(mock.issuer, { session_hours: 2 });
    const email = newPerson(domain);
    sso.pool.withTotp.add(email);
    const browser = sso.browser();
    const { body } = await browser.exchange(await browser.login(email));
    expect(body).toEqual({ object: 'challenge', challenge: 'totp', session: expect.any(String) });
    const login = await sso.deps.logins.findChallenge(String(body.session), Date.now());
    expect(login).toMatchObject({ user: (await stored(email))?.id, provider: provider.id, hasSecondFactor: false });
    expect(login?.endsAtMs).toBeLessThanOrEqual(Date.now() + 2 * 3_600_000);
    expect(sso.entries).toEqual(['user.provisioned']);
  });

  test('recognizes the same identity, whatever its address is now', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    await sso.browser().login(email);
    mock.state.claims = { ...mock.state.claims, email: 'elsewhere@elsewhere.example.com', email_verified: false };
    const browser = sso.browser();
    expect((await browser.exchange(await browser.login(`x@${domain}`))).body).toMatchObject({ user: { email } });
  });

  test('answers the same for a domain without a provider, until the page is opened', async () => {
    const browser = sso.browser();
    const url = await browser.begin('ada@nobody.example.com');
    expect(url).toMatch(new RegExp(`^${CONTROL}/v1/auth/sso/authorize\\?login=[\\w-]{43}$`));
    const page = await browser.load(url);
    expect(page.statusCode).toBe(404);
    expect(page.body).toContain('Single sign-on is not set up for this email address');
  });

  test('goes by exactly the verified domain, and not by one that it ends with', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    expect((await sso.browser().load(await sso.browser().begin(`ada@evil${domain}`))).statusCode).toBe(404);
    const email = newPerson(`evil${domain}`);
    const page = await sso.browser().login(`ada@${domain}`);
    expect(page.body).toContain('not in a domain that your organization has verified');
    expect(await stored(email)).toBeUndefined();
  });

  test('keeps two organizations with one provider apart', async () => {
    const [one, two] = [await sso.addConnection(mock.issuer), await sso.addConnection(mock.issuer)];
    newPerson(one.domain, { sub: 'the same', email: `ada@${one.domain}` });
    await sso.browser().login(`ada@${one.domain}`);
    mock.state.claims = { ...mock.state.claims, email: `ada@${two.domain}` };
    await sso.browser().login(`ada@${two.domain}`);
    const users = [await stored(`ada@${one.domain}`), await stored(`ada@${two.domain}`)];
    expect(users.map((user) => user?.organization)).toEqual([one.organization, two.organization]);
    // Somebody of the one organization is nobody at the other.
    mock.state.claims = { sub: unique('sub'), email: `bob@${one.domain}`, email_verified: true };
    expect((await sso.browser().login(`bob@${two.domain}`)).body).toContain('not in a domain');
  });

  test('shows the code on a page without a script if there is no redirect URI', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const browser = sso.browser();
    const begun = await browser.post('/v1/auth/sso', { email: newPerson(domain), code_challenge: 'a'.repeat(43) });
    const page = await browser.load(await browser.signInAt(String(begun.body.authorize_url)));
    expect(page.statusCode).toBe(200);
    expect(page.body).toMatch(/<code>[\w-]{43}<\/code>/);
    expect(page.body).not.toContain('<script');
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('the answer of an identity provider', () => {
  test('is accepted once', async () => {
    const { domain, provider } = await sso.addConnection(mock.issuer);
    await sso.knowNetwork(provider);
    const browser = sso.browser();
    const back = await browser.signInAt(await browser.begin(newPerson(domain)));
    const replies = await Promise.all([browser.load(back), browser.load(back)]);
    expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([303, 400]);
    expect((await browser.load(back)).body).toContain('already finished');
  });

  test('is accepted only from the browser that began the login, which can still finish it', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const browser = sso.browser();
    const back = await browser.signInAt(await browser.begin(newPerson(domain)));
    const other = sso.browser();
    expect((await other.load(back)).body).toContain('another browser');
    await other.load(await other.begin(`x@${domain}`));
    expect(other.hasCookie()).toBe(true);
    expect((await other.load(back)).body).toContain('another browser');
    expect((await browser.load(back)).statusCode).toBe(303);
  });

  test.each([
    ['of another issuer (RFC 9207)', (url: URL) => url.searchParams.set('iss', 'https://evil.example.com'), 401],
    ['a code of another login', (url: URL) => url.searchParams.set('code', 'stolen'), 401],
    ['ambiguous (two states)', (url: URL) => url.searchParams.append('state', 'x'), 400],
    ['incomplete (no code)', (url: URL) => url.searchParams.delete('code'), 400],
    ['for a login that nobody began', (url: URL) => url.searchParams.set('state', 'x'.repeat(43)), 400],
  ])('is refused if it is %s', async (_, change, status) => {
    const { domain } = await sso.addConnection(mock.issuer);
    const browser = sso.browser();
    const back = new URL(await browser.signInAt(await browser.begin(newPerson(domain))));
    change(back);
    const page = await browser.load(back.href);
    expect({ status: page.statusCode, location: page.headers.location }).toEqual({ status, location: undefined });
  });

  test('is refused ten minutes later', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const browser = sso.browser();
    const back = await browser.signInAt(await browser.begin(newPerson(domain)));
    sso.clock.now = () => Date.now() + 601_000;
    expect((await browser.load(back)).body).toContain('has expired');
    sso.clock.now = Date.now;
  });

  test('ends a login that the provider refuses, with a page and an entry for the owners', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const browser = sso.browser();
    const back = new URL(await browser.signInAt(await browser.begin(newPerson(domain))));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<script>alert(1)</script>');
    const page = await browser.load(back.href);
    expect({ status: page.statusCode, isEscaped: !page.body.includes('<script') }).toEqual({ status: 401, isEscaped: true });
    expect(sso.entries).toEqual(['session.refused provider_refused: access_denied']);
  });
});

describe('an ID token', () => {
  const now = (): number => Math.floor(Date.now() / 1_000);
  test.each<[string, () => Record<string, unknown>, string]>([
    ['of another issuer', () => ({ iss: 'https://evil.example.com' }), 'issuer_mismatch'],
    ['for another client', () => ({ aud: 'another' }), 'audience_mismatch'],
    ['for several clients without saying which', () => ({ aud: ['sluice', 'another'] }), 'authorized_party_mismatch'],
    ['issued to another client', () => ({ azp: 'another' }), 'authorized_party_mismatch'],
    ['of another login (nonce)', () => ({ nonce: 'another' }), 'nonce_mismatch'],
    ['expired', () => ({ iat: now() - 7_200, exp: now() - 3_600 }), 'expired'],
    ['from the future', () => ({ iat: now() + 3_600, exp: now() + 7_200 }), 'issued_in_the_future'],
    ['of nobody (no subject)', () => ({ sub: '' }), 'subject_missing'],
  ])('is rejected if it is %s', async (_, change, fault) => {
    const { domain } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    mock.state.claims = { ...mock.state.claims, ...change() };
    expect((await sso.browser().login(email)).statusCode).toBe(401);
    expect(sso.entries).toEqual([`session.refused token_rejected: ${fault}`]);
    expect(await stored(email)).toBeUndefined();
  });

  test.each<[string, (token: string) => string, string]>([
    ['not signed (alg none)', (token) => forged(token, { alg: 'none' }, ''), 'algorithm_not_allowed'],
    ['signed with HS256', (token) => forged(token, { alg: 'HS256' }), 'algorithm_not_allowed'],
    ['signed with an unknown key', (token) => forged(token, { kid: 'unknown' }), 'key_unknown'],
    ['signed with a key that it does not name', (token) => forged(token, { kid: undefined }), 'key_id_missing'],
    ['changed', (token) => `${token.slice(0, -8)}AAAAAAAA`, 'signature_invalid'],
    ['an access token', (token) => forged(token, { typ: 'at+jwt' }), 'type_not_allowed'],
    ['no token at all', () => 'no token', 'malformed'],
  ])('is rejected if it is %s', async (_, change, fault) => {
    const { domain } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    mock.server.service.once('beforeResponse', ({ body }: { body: Record<string, unknown> }) => {
      body.id_token = change(String(body.id_token));
    });
    expect((await sso.browser().login(email)).statusCode).toBe(401);
    expect(sso.entries).toEqual([`session.refused token_rejected: ${fault}`]);
  });

  const forged = (token: string, header: object, signature = token.split('.')[2]): string => {
    const [first = '', payload] = token.split('.');
    const changed = { ...JSON.parse(Buffer.from(first, 'base64url').toString()), ...header };
    return [Buffer.from(JSON.stringify(changed)).toString('base64url'), payload, signature].join('.');
  };
});

describe('a code', () => {
  test('is exchanged once, with its verifier, within a minute', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    const browser = sso.browser();
    const reply = await browser.login(email);
    const refused = { status: 401, body: { code: 'sso_code_refused' } };
    expect(await browser.exchange(reply, 'v'.repeat(43))).toMatchObject(refused);
    const replies = await Promise.all([browser.exchange(reply), browser.exchange(reply)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
    const late = await browser.login(email);
    sso.clock.now = () => Date.now() + 61_000;
    expect(await browser.exchange(late)).toMatchObject(refused);
    sso.clock.now = Date.now;
  });

  test('begins no session for a user who has begun sixty within a minute', async () => {
    const { domain } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    const browser = sso.browser();
    const reply = await browser.login(email);
    const user = await stored(email);
    for (let i = 0; i < 60; i++) await countLogin(sso.deps, { id: user?.id ?? '' }, Date.now());
    sso.entries.length = 0;
    expect(await browser.exchange(reply)).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(sso.entries).toEqual([]);
  });

  test('is refused once the user or the connection is disabled', async () => {
    const { domain, provider } = await sso.addConnection(mock.issuer);
    const email = newPerson(domain);
    const browser = sso.browser();
    const reply = await browser.login(email);
    const other = await browser.login(email);
    const { transact } = await import('../../../shared/database/transaction.ts');
    const user = await stored(email);
    if (!user) throw new Error('The user is missing.');
    await transact(sso.database, [sso.users.toReplace({ ...user, status: 'disabled' }, user)]);
    expect((await browser.exchange(reply)).status).toBe(401);
    expect((await browser.login(email)).body).toContain('Your user is disabled');
    const disabled = { ...user, version: user.version + 1 };
    await transact(sso.database, [sso.users.toReplace(disabled, user && { ...user, status: 'disabled' })]);
    await transact(sso.database, [sso.providers.toReplace({ ...provider, status: 'disabled' })]);
    expect((await browser.exchange(other)).status).toBe(401);
    expect((await browser.load(await browser.begin(email))).body).toContain('switched off');
  });

  test('is sent only to the user’s own machine', async () => {
    const browser = sso.browser();
    const begin = async (redirect_uri: string) =>
      (await browser.post('/v1/auth/sso', { email: 'ada@example.com', code_challenge: 'a'.repeat(43), redirect_uri })).status;
    for (const uri of [LOOPBACK, 'http://[::1]:9/', 'http://localhost:9/x?y=1']) expect(await begin(uri)).toBe(200);
    for (const uri of [
      'https://127.0.0.1/',
      'http://127.0.0.1.evil.example.com/',
      'http://user@127.0.0.1/',
      'http://127.0.0.1/#x',
      `${CONTROL}/console/`,
      'javascript:alert(1)',
    ])
      expect({ uri, status: await begin(uri) }).toEqual({ uri, status: 400 });
  });
});
