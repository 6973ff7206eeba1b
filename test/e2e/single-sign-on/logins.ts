import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Page, signInAt } from '../../support/clients/browser.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { totpOf } from '../../support/clients/totp.ts';
import type { OpenIdProvider } from '../../support/emulators/openid-provider.ts';
import { singleSignOn } from './run.ts';

// Where a program on the user's machine would wait for the code.
const LOOPBACK = 'http://127.0.0.1:9/signed-in';
const TO_PROGRAM = { redirect_uri: LOOPBACK };
const ROLES = {
  scopes: ['openid', 'email', 'groups'],
  role_claim: 'groups',
  role_mapping: [
    { value: 'platform', role: 'owner' },
    { value: 'finance', role: 'billing' },
  ],
  default_role: null,
  session_hours: 2,
};

let run: TestRun;
let zone: Map<string, string[]>;
let openId: OpenIdProvider;
let control: Control;
let acme: Connected;
let globex: Connected;
beforeAll(async () => {
  const started = await singleSignOn.start();
  ({ zone, openId } = started);
  ({ run } = started.walk);
  control = controlOf(run);
  acme = await connect('acme.example');
  globex = await connect('globex.example');
});

interface Connected {
  id: string;
  organization: string;
  owner: SignedIn;
  // The secret of the owner's authenticator app.
  secret: string;
}

// An organization with a connection for a domain, as its owner sets it up.
const connect = async (domain: string): Promise<Connected> => {
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization, email: `owner@${domain}` });
  const secret = await control.setUpSecondFactor(owner);
  const { issuer, client } = openId;
  const body = { name: 'Our provider', issuer, client_id: client.id, client_secret: client.secret, domains: [domain], ...ROLES };
  const created = await control.done('POST', '/v1/identity-providers', { token: owner.token, body });
  const verify = () => control.call('POST', `/v1/identity-providers/${created.id}/domains/${domain}/verify`, { token: owner.token });
  expect((await verify()).body.error.code).toBe('domain_not_verified');
  const [{ record }] = created.domains;
  zone.set(record.name, ['another text', record.value]);
  expect((await verify()).body.domains).toMatchObject([{ domain, status: 'verified' }]);
  return { id: created.id, organization, owner, secret };
};

const update = ({ id, owner }: Connected, body: object) =>
  control.done('PATCH', `/v1/identity-providers/${id}`, { token: owner.token, body });

const signIn = (authorizeUrl: string, account: string): Promise<Page> =>
  signInAt(openId.issuer, authorizeUrl, account, (url) => url.startsWith(LOOPBACK) || url.startsWith(`${run.control_url}/console/`));

// The login of a person whose account at the provider is their address, up to the page at which it ends.
const begin = async (account: string, email = account, destination: object = TO_PROGRAM): Promise<{ page: Page; verifier: string }> => {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const { authorize_url } = await control.done('POST', '/v1/auth/sso', { body: { email, code_challenge, ...destination } });
  return { page: await signIn(authorize_url, account), verifier };
};

const exchange = async ({ page, verifier }: Awaited<ReturnType<typeof begin>>) => {
  if (!page.url.startsWith(LOOPBACK)) throw new Error(`The login ended at ${page.url}: ${page.status} ${page.html}`);
  const body = { code: new URL(page.url).searchParams.get('code'), code_verifier: verifier };
  return control.done('POST', '/v1/auth/sso/session', { body });
};

const signOn = async (account: string) => exchange(await begin(account));
const me = (token: string) => control.done('GET', '/v1/me', { token });
const currentSession = async (token: string) => {
  const { data } = await control.done('GET', '/v1/me/sessions', { token });
  return data.find(({ is_current }: { is_current: boolean }) => is_current);
};
const login = (email: string, password: string) => control.call('POST', '/v1/auth/login', { body: { email, password } });
const refused = { status: 401, body: { code: 'login_refused' } };

describe('a person of a connected organization', () => {
  test('signs in without an invitation, with the role of their groups, until the connection says', async () => {
    openId.groups.set('ada@acme.example', ['everyone', 'finance']);
    const { access_token: token, refresh_token } = await signOn('ada@acme.example');
    const { organization, id } = acme;
    expect(await me(token)).toMatchObject({ email: 'ada@acme.example', role: 'billing', organization });
    const session = await currentSession(token);
    expect(session).toMatchObject({ client: 'api', proof: `sso:${id}`, ends_at: expect.any(Number) });
    expect(session.ends_at - session.created_at).toBeLessThanOrEqual(2 * 3_600);
    const refreshed = await control.done('POST', '/v1/auth/refresh', { body: { refresh_token } });
    expect(await me(refreshed.access_token)).toMatchObject({ role: 'billing' });
    await run.controlFunctions('clock', { offset_seconds: 2 * 3_600 + 60 });
    expect((await control.call('POST', '/v1/auth/refresh', { body: { refresh_token } })).status).toBe(401);
    await run.controlFunctions('clock');
  });

  test('has the role of their groups at the next login, and none without one', async () => {
    const account = 'bob@acme.example';
    openId.groups.set(account, ['platform']);
    expect(await signOn(account)).toMatchObject({ user: { role: 'owner' } });
    openId.groups.set(account, ['finance']);
    const { access_token: token } = await signOn(account);
    expect(await me(token)).toMatchObject({ role: 'billing' });
    openId.groups.set(account, []);
    expect((await begin(account)).page).toMatchObject({ status: 403, html: expect.stringContaining('has not given you access') });
  });

  test('is the user who was invited', async () => {
    const body = { email: 'invited@acme.example', role: 'viewer' };
    const { id } = await control.done('POST', '/v1/users', { token: acme.owner.token, body });
    openId.groups.set(body.email, ['finance']);
    expect(await signOn(body.email)).toMatchObject({ user: { id, role: 'billing' } });
  });

  test('begins in the console, and comes back to it with a session whose refresh token is only in the cookie', async () => {
    const account = 'console@acme.example';
    openId.groups.set(account, ['finance']);
    const return_to = `${new URL(`${run.control_url}`).pathname.replace(/\/$/, '')}/console/keys`;
    const { page, verifier: code_verifier } = await begin(account, account, { return_to });
    const [address, code = ''] = page.url.split('#sso=');
    expect(address).toBe(`${run.control_url}/console/sign-in`);
    const post = async (route: string, body: object, cookie = '') => {
      const headers = { 'content-type': 'application/json', 'x-sluice-console': '1', 'sec-fetch-site': 'same-origin', cookie };
      const reply = await fetch(`${run.control_url}/v1/auth/browser/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: reply.status, body: JSON.parse(await reply.text()), cookie: reply.headers.get('set-cookie') ?? '' };
    };
    const { body, cookie } = await post('sso', { code, code_verifier });
    expect(body).toMatchObject({ object: 'session', return_to, user: { email: account, role: 'billing' } });
    expect(body).not.toHaveProperty('refresh_token');
    expect(cookie).toMatch(/^__Host-sluice-\d+=ses_\w{18}\.\S+; Path=\/; Secure; HttpOnly; SameSite=Strict$/);
    const session = await currentSession(body.access_token);
    expect(session).toMatchObject({ client: 'browser', proof: `sso:${acme.id}` });
    expect(session.ends_at - session.created_at).toBeLessThanOrEqual(2 * 3_600);
    const refreshed = await post('refresh', {}, cookie.split(';')[0]);
    expect(await me(refreshed.body.access_token)).toMatchObject({ email: account });
    expect((await post('sso', { code, code_verifier })).status).toBe(401);
  });

  test('needs no code of an authenticator app, and keeps the app for logins with a password', async () => {
    const { email, password, id } = acme.owner;
    openId.groups.set(email, ['platform']);
    const { access_token: token, user } = await signOn(email);
    expect(user.id).toBe(id);
    expect(await currentSession(token)).toMatchObject({ proof: `sso:${acme.id}`, second_factor: false });
    expect((await login(email, password)).body).toMatchObject({ object: 'challenge', challenge: 'totp' });
    expect(await me(acme.owner.token)).toMatchObject({ second_factor: 'on' });
  });
});

describe('two organizations with one provider', () => {
  test('have users of their own, by the domain of the address', async () => {
    for (const account of ['eve@acme.example', 'eve@globex.example']) openId.groups.set(account, ['finance']);
    const [one, two] = [await signOn('eve@acme.example'), await signOn('eve@globex.example')];
    expect(one.user.organization).toBe(acme.organization);
    expect(two.user.organization).toBe(globex.organization);
  });

  test('take no account whose address is in a domain of the other', async () => {
    openId.groups.set('mallory@globex.example', ['platform']);
    const { page } = await begin('mallory@globex.example', 'anyone@acme.example');
    expect(page).toMatchObject({ status: 403, html: expect.stringContaining('not in a domain that your organization has verified') });
    const taken = { ...ROLES, name: 'Theirs', issuer: openId.issuer, client_id: 'sluice', domains: ['globex.example'] };
    const { token } = acme.owner;
    const { id, domains } = await control.done('POST', '/v1/identity-providers', { token, body: taken });
    zone.get('_sluice.globex.example')?.push(domains[0].record.value);
    const verified = await control.call('POST', `/v1/identity-providers/${id}/domains/globex.example/verify`, { token });
    expect(verified).toMatchObject({ status: 409, body: { error: { code: 'domain_taken' } } });
    await control.done('DELETE', `/v1/identity-providers/${id}`, { token });
  });
});

describe('an owner', () => {
  test('sees in a test what a login would do', async () => {
    openId.groups.set('tess@acme.example', ['finance']);
    const { token } = acme.owner;
    const test = await control.done('POST', `/v1/identity-providers/${acme.id}/test`, { token });
    const page = await signIn(test.authorize_url, 'tess@acme.example');
    expect(page).toMatchObject({ status: 200, html: expect.stringContaining('nobody was signed in') });
    const result = await control.done('GET', `/v1/identity-providers/${acme.id}/test/${test.id}`, { token });
    expect(result).toMatchObject({ outcome: 'provisions', role: 'billing', claims: { groups: ['finance'] } });
  });

  test('refuses passwords, except that of the break-glass owner with a second factor', async () => {
    const { owner, organization, secret } = globex;
    const member = await control.createUser({ role: 'member', organization });
    const weak = await control.createUser({ role: 'owner', organization });
    const enforce = (break_glass: string) =>
      control.call('PATCH', `/v1/identity-providers/${globex.id}`, { token: owner.token, body: { enforced: true, break_glass } });
    expect((await enforce(weak.id)).body.error.code).toBe('not_enforceable');
    expect((await enforce(owner.id)).body).toMatchObject({ enforced: true });
    for (const { email, password } of [member, weak]) expect(await login(email, password)).toMatchObject(refused);
    const prove = ({ token, password }: typeof member) =>
      control.call('POST', '/v1/auth/proof', { token, body: { current_password: password } });
    // A session from before goes on, but its password proves nothing.
    expect(await prove(member)).toMatchObject({ status: 403, body: { error: { code: 'fresh_login_required' } } });
    expect((await prove(owner)).body.error).toMatchObject({ param: 'code' });
    const { session } = (await login(owner.email, owner.password)).body;
    const answer = { email: owner.email, session, code: totpOf(secret) };
    const { access_token: token } = await control.done('POST', '/v1/auth/challenge', { body: answer });
    expect(await currentSession(token)).toMatchObject({ proof: 'password', second_factor: true });
    openId.groups.set('zoe@globex.example', ['finance']);
    const zoe = await signOn('zoe@globex.example');
    expect(zoe).toMatchObject({ object: 'session' });
    await update(globex, { status: 'disabled' });
    expect((await prove(member)).status).toBe(204);
    expect((await prove({ ...member, token: zoe.access_token })).status).toBe(403);
    expect((await login(member.email, member.password)).status).toBe(200);
    expect((await begin('zoe@globex.example')).page).toMatchObject({ html: expect.stringContaining('switched off') });
    await update(globex, { status: 'active', enforced: false, break_glass: null });
  });

  test('reads in the audit log and the events why a login failed, for example with a wrong client secret', async () => {
    await update(globex, { client_secret: 'not the secret' });
    expect((await begin('yan@globex.example')).page.status).toBe(401);
    await update(globex, { client_secret: openId.client.secret });
    const { data } = await control.done('GET', '/v1/audit-log?limit=100', { token: globex.owner.token });
    const reasons = data.map(({ action, reason }: Record<string, string>) => [action, reason]);
    expect(reasons).toContainEqual(['session.refused', 'code_refused: status_401']);
    const events = await control.done('GET', `/v1/identity-providers/${globex.id}/events`, { token: globex.owner.token });
    expect(events.data[0]).toMatchObject({ outcome: 'refused', reason: 'code_refused: status_401', is_verified: false });
    expect(events.data).toContainEqual(expect.objectContaining({ outcome: 'provisioned', email: 'zoe@globex.example', role: 'billing' }));
    expect((await control.call('GET', `/v1/identity-providers/${globex.id}/events`, { token: acme.owner.token })).status).toBe(404);
  });
});
