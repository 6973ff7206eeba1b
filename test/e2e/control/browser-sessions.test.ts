import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startUsers, type Users } from './user-fixtures.ts';

let users: Users;
beforeAll(async () => {
  users = await startUsers();
});
afterAll(async () => {
  await users.run.close();
});

const PAGE = { 'content-type': 'application/json', 'x-sluice-console': '1', 'sec-fetch-site': 'same-origin' };

const post = async (
  route: string,
  body: object,
  { cookie, headers = PAGE }: { cookie?: string; headers?: Record<string, string> } = {},
) => {
  const reply = await fetch(`${users.run.control_url}/v1/auth/browser/${route}`, {
    method: 'POST',
    headers: { ...headers, ...(cookie !== undefined && { cookie }) },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    body: text === '' ? undefined : JSON.parse(text),
    setCookie: reply.headers.get('set-cookie') ?? '',
    cookie: reply.headers.get('set-cookie')?.split(';')[0],
  };
};
const me = async (token: string) => (await users.control.call('GET', '/v1/me', { token })).status;
const newUser = () => users.control.createUser({ role: 'member', organization: users.organization });
const login = async (options: object = {}) => {
  const user = await newUser();
  return { user, ...(await post('login', { email: user.email, password: user.password, ...options })) };
};

describe("a browser's session", () => {
  test('has its refresh token only in the cookie, and is listed', async () => {
    const { status, body, setCookie } = await login();
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'object', 'token_type', 'user']);
    expect(body.expires_in).toBeLessThanOrEqual(900);
    expect(setCookie).toMatch(/^__Host-sluice-\d+=ses_\w{18}\.\S+; Path=\/; Secure; HttpOnly; SameSite=Strict$/);
    const { data } = await users.control.done('GET', '/v1/me/sessions', { token: body.access_token });
    const [current] = data.filter(({ is_current }: { is_current: boolean }) => is_current);
    expect(current).toMatchObject({ client: 'browser', proof: 'password', ends_at: current.created_at + 12 * 3_600 });
  });

  test('lasts 30 days if its user stays signed in', async () => {
    const { setCookie } = await login({ stay_signed_in: true });
    expect(setCookie).toMatch(/; Max-Age=2592000$/);
  });

  test('is refreshed by two tabs at once, and ends with a logout', async () => {
    const { cookie = '', body } = await login();
    const tabs = await Promise.all([post('refresh', {}, { cookie }), post('refresh', {}, { cookie })]);
    expect(tabs.map(({ status }) => status)).toEqual([200, 200]);
    for (const tab of tabs) {
      expect(await me(tab.body.access_token)).toBe(200);
      expect(Object.keys(tab.body).sort()).toEqual(['access_token', 'expires_in', 'object', 'token_type']);
    }
    const last = tabs[1]?.cookie ?? '';
    expect(last).not.toBe(cookie);
    const logout = await post('logout', {}, { cookie: last });
    expect([logout.status, logout.setCookie]).toEqual([204, expect.stringMatching(/^__Host-sluice-\d+=; .*Max-Age=0$/)]);
    for (const token of [body.access_token, ...tabs.map((tab) => tab.body.access_token)]) expect(await me(token)).toBe(401);
    expect((await post('refresh', {}, { cookie: last })).body.code).toBe('refresh_refused');
    expect((await post('logout', {}, { cookie: last })).status).toBe(204);
  });

  test('ends if its user ends it elsewhere', async () => {
    const { cookie = '', body } = await login();
    const { data } = await users.control.done('GET', '/v1/me/sessions', { token: body.access_token });
    const [{ id }] = data.filter(({ is_current }: { is_current: boolean }) => is_current);
    await users.control.done('DELETE', `/v1/me/sessions/${id}`, { token: body.access_token });
    expect(await me(body.access_token)).toBe(401);
    expect((await post('refresh', {}, { cookie })).status).toBe(401);
  });

  test('cannot be used with the routes of programs, nor theirs with those of browsers', async () => {
    const { user, cookie = '' } = await login();
    const [, refreshToken = ''] = /=ses_\w{18}\.(\S+)$/.exec(cookie) ?? [];
    const asProgram = await users.control.call('POST', '/v1/auth/refresh', { body: { refresh_token: refreshToken } });
    expect(asProgram.status).toBe(401);
    const asBrowser = await post('refresh', {}, { cookie: cookie.replace(refreshToken, user.refreshToken) });
    expect(asBrowser.status).toBe(401);
  });
});

describe('the routes of browsers', () => {
  const { 'x-sluice-console': _, ...withoutHeader } = PAGE;

  test.each<[string, Record<string, string>]>([
    ['another site', { ...PAGE, 'sec-fetch-site': 'cross-site' }],
    ['a form', { ...PAGE, 'content-type': 'text/plain' }],
    ['a page without the header', withoutHeader],
  ])('reject %s, before anything is read', async (_title, headers) => {
    const { cookie = '', user } = await login();
    for (const [route, body] of [
      ['login', { email: user.email, password: user.password }],
      ['refresh', {}],
      ['logout', {}],
    ] as const) {
      const reply = await post(route, body, { cookie, headers });
      expect([route, reply.status, reply.body.error.code]).toEqual([route, 403, 'cross_site_request']);
    }
    expect((await post('refresh', {}, { cookie })).status).toBe(200);
  });

  test('let no other site send a request or read a reply', async () => {
    const replies = [await login(), await post('login', {}), await post('refresh', {}), await post('refresh', {}, { headers: {} })];
    for (const route of ['login', 'refresh'])
      replies.push({
        ...(replies[0] as (typeof replies)[number]),
        headers: (await fetch(`${users.run.control_url}/v1/auth/browser/${route}`, { method: 'OPTIONS' })).headers,
      });
    for (const { headers } of replies) expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('alone read the cookie, which no log contains', async () => {
    const { cookie = '' } = await login();
    const other = await fetch(`${users.run.control_url}/v1/me`, { headers: { ...PAGE, cookie } });
    expect(other.status).toBe(401);
    await post('refresh', {}, { cookie: `${cookie}x` });
    const [, token = ''] = /=ses_\w{18}\.(\S+)$/.exec(cookie) ?? [];
    const logs = path.join(users.run.state, 'logs');
    const files = (await readdir(logs, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const text = await readFile(path.join(file.parentPath, file.name), 'utf8');
      expect([file.name, text.includes(token.slice(-40))]).toEqual([file.name, false]);
    }
  });
});
