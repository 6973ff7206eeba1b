import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import type { ConsolePage } from '../../support/browser/console-page.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import type { Control, SignedIn } from '../../support/clients/control.ts';
import { startTestRun } from '../../support/clients/local-run.ts';
import { totpOf } from '../../support/clients/totp.ts';
import { startDns } from '../../support/emulators/dns-server.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/emulators/openid-provider.ts';

const zone: Record<string, string[]> = {};
let dns: Awaited<ReturnType<typeof startDns>>;
let openId: OpenIdProvider;
let ui: TestConsole;
let control: Control;
let url: string;
let owner: SignedIn;
let secret: string;
let provider: string;
let organization: string;

beforeAll(async () => {
  dns = await startDns((name) => zone[name]);
  process.env.SLUICE_DNS_SERVERS = dns.server;
  ui = await openConsole(startTestRun());
  delete process.env.SLUICE_DNS_SERVERS;
  ({ control } = ui);
  url = ui.run.control_url as string;
  openId = await startOpenIdProvider(`${url}/v1/auth/sso/callback`);
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  secret = await control.setUpSecondFactor(owner);
  const { issuer, client } = openId;
  const body = {
    name: 'Our provider',
    issuer,
    client_id: client.id,
    client_secret: client.secret,
    domains: ['example.com'],
    scopes: ['openid', 'email', 'groups'],
    role_claim: 'groups',
    role_mapping: [{ value: 'finance', role: 'billing' }],
    default_role: null,
    session_hours: 2,
  };
  const created = await control.done('POST', '/v1/identity-providers', { token: owner.token, body });
  provider = created.id;
  zone[created.domains[0].record.name] = [created.domains[0].record.value];
  await control.done('POST', `/v1/identity-providers/${provider}/domains/example.com/verify`, { token: owner.token });
});
afterAll(async () => {
  await ui.close();
  await Promise.all([dns.close(), openId.close()]);
});

const signedOut = async (path: string, use: (opened: ConsolePage) => Promise<void>): Promise<void> => {
  const opened = await ui.openSignedOut(path);
  await use(opened);
  expect(opened.faults).toEqual([]);
  await opened.close();
};

// There is another one for the login itself.
const sessionCookies = async (context: BrowserContext) =>
  (await context.cookies(url)).filter(({ name }) => /^__Host-sluice-\d+$/.test(name));

const begin = async (page: Page, email: string): Promise<void> => {
  await page.getByRole('button', { name: 'Sign in with your company' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Go to your company’s login' }).click();
};

const signInAtProvider = async (page: Page, account: string): Promise<void> => {
  await page.waitForURL(`${openId.issuer}/**`);
  await page.getByPlaceholder('Enter any login').fill(account);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};

describe('single sign-on in a browser', () => {
  test('leads to the screen at which it was begun, with the role of the groups', () =>
    signedOut('/account?from=mail', async ({ page, context }) => {
      openId.groups.set('fay@example.com', ['finance']);
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await begin(page, 'fay@example.com');
      await signInAtProvider(page, 'fay@example.com');
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      expect(page.url()).toBe(`${url}/console/account?from=mail`);
      const [cookie] = await sessionCookies(context);
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict' });
      expect(await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')).not.toMatch(/[\w-]{40}/);
      // A fragment is never sent.
      expect(requested.filter((url) => /[?&]sso=/.test(url))).toEqual([]);
      await page.reload();
      await page.getByText('billing').first().waitFor();
      const { data } = await control.done('GET', '/v1/users', { token: owner.token });
      expect(data).toContainEqual(expect.objectContaining({ email: 'fay@example.com', role: 'billing' }));
    }));

  test('refuses a person without a group, in words, and leaves nobody signed in', () =>
    signedOut('/', async ({ page, context }) => {
      await begin(page, 'nobody@example.com');
      await signInAtProvider(page, 'nobody@example.com');
      await page.getByText('Request id:').waitFor();
      expect(await sessionCookies(context)).toEqual([]);
    }));

  test('takes no code that another tab began', () =>
    signedOut('/sign-in#sso=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', async ({ page }) => {
      await page.getByText('This tab has begun no login.').waitFor();
      await page.getByRole('button', { name: 'Back to the login' }).click();
      await page.getByLabel('Password').waitFor();
    }));

  test('is the only way if it is enforced, but for the break-glass owner with a second factor', () =>
    signedOut('/', async ({ page }) => {
      const member = await control.createUser({ role: 'member', organization });
      const body = { enforced: true, break_glass: owner.id };
      await control.done('PATCH', `/v1/identity-providers/${provider}`, { token: owner.token, body });
      await page.getByLabel('E-mail').fill(member.email);
      await page.getByLabel('Password').fill(member.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel('E-mail').fill(owner.email);
      await page.getByLabel('Password').fill(owner.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByLabel('Code of your authenticator app').fill(totpOf(secret));
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    }));
});
