import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkReturnTo, signInPageOf } from '../../../functions/single-sign-on/return-to.ts';
import { SSO_PATHS } from '../../../shared/identity/auth-paths.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import {
  CONTROL,
  FROM_PAGE,
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

const RETURN_TO = '/live/console/keys?status=open&q=a%2Fb';
const SESSION = `ses_${'s'.repeat(18)}`;

// A person whose login began in the console, and has come back to its sign-in page.
const cameBack = async (fields: Partial<IdentityProvider> = {}, hasApp = false) => {
  const { domain, provider } = await sso.addConnection(mock.issuer, fields);
  const email = `${unique('ada')}@${domain}`;
  mock.state.claims = { sub: unique('sub'), email, email_verified: true };
  if (hasApp) sso.pool.withTotp.add(email);
  const browser = sso.browser();
  const reply = await browser.login(email, { return_to: RETURN_TO });
  const [page, fragment = ''] = (reply.headers.location ?? '').split('#');
  const body = { code: fragment.replace('sso=', ''), code_verifier: browser.verifier };
  const finish = (more: object = {}, headers: Readonly<Record<string, string>> = FROM_PAGE) =>
    browser.post(SSO_PATHS.browserSession, { ...body, ...more }, headers);
  return { email, provider, reply, page, fragment, finish, browser };
};

const rowOf = async (email: string) => {
  const id = (await sso.users.idOfEmail(email)) ?? '';
  const row = await sso.sessions.get(id, SESSION, Math.floor(Date.now() / 1_000));
  if (!row) throw new Error('The session has no row.');
  return { ...row, seconds: row.ends_at - row.created_at };
};

describe('a login that began in the console', () => {
  test('ends at its sign-in page, with the code in the fragment alone', async () => {
    const { reply, page, fragment } = await cameBack();
    expect(reply.statusCode).toBe(303);
    expect(page).toBe(`${CONTROL}/console/sign-in`);
    expect(fragment).toMatch(/^sso=[\w-]{43}$/);
    expect(reply.headers).toMatchObject({ 'referrer-policy': 'no-referrer' });
  });

  test('begins a session with its refresh token only in the cookie, and says where the user was', async () => {
    const { email, provider, finish } = await cameBack({ session_hours: 2 });
    const { status, body, headers } = await finish();
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'session', access_token: 'access', return_to: RETURN_TO, user: { email } });
    expect(JSON.stringify(body)).not.toContain('refresh');
    expect(headers['set-cookie']).toBe(`__Host-sluice-live=${SESSION}.refresh; Path=/; Secure; HttpOnly; SameSite=Strict`);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const row = await rowOf(email);
    expect(row).toMatchObject({ client: 'browser', proof: `sso:${provider.id}`, idle_seconds: 1_800 });
    expect(row.seconds).toBeGreaterThan(2 * 3_600 - 60);
    expect(row.seconds).toBeLessThanOrEqual(2 * 3_600);
  });

  test('stays signed in only for as long as the connection says', async () => {
    const { email, finish } = await cameBack({ session_hours: 3 });
    const { headers } = await finish({ stay_signed_in: true });
    const row = await rowOf(email);
    expect(row).toMatchObject({ idle_seconds: null });
    expect(row.seconds).toBeLessThanOrEqual(3 * 3_600);
    const maxAge = Number(/; Max-Age=(\d+)$/.exec(headers['set-cookie'] ?? '')?.[1]);
    expect(maxAge).toBeGreaterThan(3 * 3_600 - 60);
    expect(maxAge).toBeLessThanOrEqual(3 * 3_600);
  });

  test('gets the challenge of an authenticator app without a cookie', async () => {
    const { finish } = await cameBack({}, true);
    const { body, headers } = await finish();
    expect(body).toEqual({ object: 'challenge', challenge: 'totp', session: expect.any(String), return_to: RETURN_TO });
    expect(headers).not.toHaveProperty('set-cookie');
  });

  test('is finished once, and only with the verifier of the page that began it', async () => {
    const { finish } = await cameBack();
    const refused = { status: 401, body: { code: 'sso_code_refused' } };
    const foreign = await finish({ code_verifier: 'v'.repeat(43) });
    expect(foreign).toMatchObject(refused);
    expect(foreign.headers).not.toHaveProperty('set-cookie');
    const replies = await Promise.all([finish(), finish()]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  const { 'x-sluice-console': _, ...withoutHeader } = FROM_PAGE;
  test.each<[string, Record<string, string>]>([
    ['another site', { ...FROM_PAGE, 'sec-fetch-site': 'cross-site' }],
    ['a neighbouring host', { ...FROM_PAGE, 'sec-fetch-site': 'same-site' }],
    ['a form', { ...FROM_PAGE, 'content-type': 'text/plain' }],
    ['a page without the header', withoutHeader],
  ])('is not finished by %s, and its code stays good', async (_title, headers) => {
    const { finish } = await cameBack();
    expect(await finish({}, headers)).toMatchObject({ status: 403, body: { error: { code: 'cross_site_request' } } });
    expect((await finish()).status).toBe(200);
  });
});

describe('a login', () => {
  const begin = async (destination: object) => {
    const { status, body } = await sso
      .browser()
      .post(SSO_PATHS.begin, { email: 'a@example.com', code_challenge: 'a'.repeat(43), ...destination });
    return { status, param: (body.error as { param?: string } | undefined)?.param };
  };

  test.each([
    ['the console itself', '/live/console/'],
    ['a page', '/live/console/keys'],
    ['a page with a query', RETURN_TO],
    ['a page whose query has another address', '/live/console/keys?then=https://evil.example.com//x'],
  ])('can return to %s', async (_, return_to) => {
    expect(await begin({ return_to })).toMatchObject({ status: 200 });
  });

  test.each([
    ['another host', 'https://evil.example.com/live/console/'],
    ['this host by its whole address', `${CONTROL}/console/`],
    ['another host without a protocol', '//evil.example.com/live/console/'],
    ['another host behind a backslash', '/\\evil.example.com/live/console/'],
    ['a path with a backslash', '/live/console/\\evil.example.com'],
    ['a path that leads up', '/live/console/../v1/me'],
    ['a path that leads up in disguise', '/live/console/%2e%2e/v1/me'],
    ['a path that leads up half in disguise', '/live/console/.%2E/v1/me'],
    ['an encoded slash', '/live/console/%2Fevil.example.com'],
    ['an encoded backslash', '/live/console/%5Cevil.example.com'],
    ['an empty segment', '/live/console//evil.example.com'],
    ['a user at another host', '/live/console/@evil.example.com/../../..'],
    ['a user before the host', 'https://control.example.com@evil.example.com/live/console/'],
    ['a path that only begins alike', '/live/consoles/'],
    ['a path without the slash at the end', '/live/console'],
    ['the path of another stage', '/test/console/'],
    ['a path without the stage', '/console/'],
    ['a fragment', '/live/console/#sso=x'],
    ['a line break', '/live/console/\nx'],
    ['a tab that browsers leave out', '/live/console/.\t./v1'],
    ['a script', 'javascript:alert(1)'],
    ['a text that is too long', `/live/console/${'x'.repeat(512)}`],
    ['nothing', ''],
  ])('cannot return to %s', async (_, return_to) => {
    expect(await begin({ return_to })).toEqual({ status: 400, param: 'return_to' });
  });

  test('has one destination', async () => {
    expect(await begin({ return_to: '/live/console/', redirect_uri: LOOPBACK })).toEqual({ status: 400, param: 'return_to' });
  });

  test('returns to a host without a stage, too', () => {
    expect(checkReturnTo('/console/keys', 'https://control.acme.com')).toBe('/console/keys');
    expect(() => checkReturnTo('/live/console/keys', 'https://control.acme.com')).toThrow(/return_to/);
    expect(signInPageOf('https://control.acme.com', 'the-code')).toBe('https://control.acme.com/console/sign-in#sso=the-code');
  });
});
