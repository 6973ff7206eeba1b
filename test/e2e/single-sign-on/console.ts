import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import type { ConsolePage } from '../../support/browser/console-page.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import type { Control, SignedIn } from '../../support/clients/control.ts';
import { totpOf } from '../../support/clients/totp.ts';
import type { OpenIdProvider } from '../../support/emulators/openid-provider.ts';
import { singleSignOn } from './run.ts';

// A domain belongs to one organization, and the other parts of the suite have theirs.
const DOMAIN = 'staff.example';
const at = (name: string): string => `${name}@${DOMAIN}`;

let zone: Map<string, string[]>;
let openId: OpenIdProvider;
let ui: TestConsole;
let control: Control;
let url: string;
let owner: SignedIn;
let secret: string;
let provider: string;
let organization: string;

beforeAll(async () => {
  const started = await singleSignOn.start();
  ({ zone, openId } = started);
  // The suite closes its run.
  ui = await openConsole(Promise.resolve({ ...started.walk.run, close: async () => null }));
  ({ control } = ui);
  url = ui.run.control_url as string;
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization, email: at('owner') });
  secret = await control.setUpSecondFactor(owner);
  const { issuer, client } = openId;
  const body = {
    name: 'Our provider',
    issuer,
    client_id: client.id,
    client_secret: client.secret,
    domains: [DOMAIN],
    scopes: ['openid', 'email', 'groups'],
    role_claim: 'groups',
    role_mapping: [
      { value: 'directors', role: 'owner' },
      { value: 'finance', role: 'billing' },
    ],
    default_role: null,
    session_hours: 2,
  };
  const created = await control.done('POST', '/v1/identity-providers', { token: owner.token, body });
  provider = created.id;
  zone.set(created.domains[0].record.name, [created.domains[0].record.value]);
  await control.done('POST', `/v1/identity-providers/${provider}/domains/${DOMAIN}/verify`, { token: owner.token });
});
afterAll(() => ui.close());

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
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: "Continue to your company's sign-in" }).click();
};

const signIn = async (page: Page, { email, password }: Pick<SignedIn, 'email' | 'password'>): Promise<void> => {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
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
      openId.groups.set(at('fay'), ['finance']);
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await begin(page, at('fay'));
      await signInAtProvider(page, at('fay'));
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
      expect(data).toContainEqual(expect.objectContaining({ email: at('fay'), role: 'billing' }));
    }));

  test('goes on in the tab of an ended session with what was typed, after a login in a new tab', () =>
    signedOut('/account', async ({ page, context }) => {
      openId.groups.set(at('eve'), ['finance']);
      await begin(page, at('eve'));
      await signInAtProvider(page, at('eve'));
      await page.getByRole('button', { name: 'Change name' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Half typed');
      // As another tab of an earlier release would, which tells no other tab.
      await page.evaluate(`fetch('/v1/auth/browser/logout', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-sluice-console': '1' },
        body: '{}',
      })`);
      await page.getByRole('button', { name: 'Save name' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByRole('button', { name: 'Sign in with your company' }).click();
      expect(await dialog.getByLabel('Email').inputValue()).toBe(at('eve'));
      const [tab] = await Promise.all([
        context.waitForEvent('page'),
        dialog.getByRole('button', { name: "Continue to your company's sign-in" }).click(),
      ]);
      // The provider knows them already.
      await tab.getByRole('heading', { name: 'You are signed in' }).waitFor();
      await dialog.waitFor({ state: 'detached' });
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half typed');
      await page.getByRole('button', { name: 'Save name' }).click();
      await page.getByRole('definition').getByText('Half typed').waitFor();
      for (const each of [page, tab]) {
        expect(each.url()).toBe(`${url}/console/account`);
        expect(await each.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')).not.toMatch(
          /[\w-]{40}/,
        );
      }
    }));

  test('is the proof of who they are for a change of rights, and the form stays as it was', () =>
    signedOut('/service-accounts?dialog=create', async ({ page, context }) => {
      openId.groups.set(at('dora'), ['directors']);
      await control.done('PATCH', `/v1/organizations/${organization}`, { token: owner.token, body: { fresh_login_minutes: 5 } });
      await begin(page, at('dora'));
      await signInAtProvider(page, at('dora'));
      await page.getByLabel('Name').fill('nightly');
      await page.getByLabel('usage:read').check();
      await ui.run.controlFunctions('clock', { offset_seconds: 360 });
      try {
        await page.getByRole('dialog').getByRole('button', { name: 'Create service account' }).click();
        const dialog = page.getByRole('dialog', { name: 'Confirm your identity' });
        const [tab] = await Promise.all([
          context.waitForEvent('page'),
          dialog.getByRole('button', { name: "Continue to your company's sign-in" }).click(),
        ]);
        await tab.getByRole('heading', { name: 'You are signed in' }).waitFor();
        await page.getByRole('heading', { name: 'nightly' }).waitFor();
      } finally {
        await ui.run.controlFunctions('clock');
      }
    }));

  test('refuses a person without a group, in words, and leaves nobody signed in', () =>
    signedOut('/', async ({ page, context }) => {
      await begin(page, at('nobody'));
      await signInAtProvider(page, at('nobody'));
      await page.getByText('Request id:').waitFor();
      expect(await sessionCookies(context)).toEqual([]);
    }));

  test('takes no code that another tab began', () =>
    signedOut('/sign-in#sso=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', async ({ page }) => {
      await page.getByText('This login was not started in this tab.').waitFor();
      await page.getByRole('button', { name: 'Back to sign-in' }).click();
      await page.getByLabel('Password').waitFor();
    }));

  test('is connected in the console: the domain is proven, and a test shows the role', () =>
    signedOut('/identity-providers?dialog=create', async ({ page, context }) => {
      const { id } = await control.createOrganization();
      const other = await control.createUser({ role: 'owner', organization: id });
      openId.groups.set('ada@other.example', ['finance']);
      await signIn(page, other);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Provider').selectOption('Keycloak');
      await dialog.getByLabel('Issuer').fill(openId.issuer);
      await dialog.getByLabel('Client id').fill(openId.client.id);
      await dialog.getByLabel('Client secret').fill(openId.client.secret);
      await dialog.getByLabel('Domains').fill('other.example');
      await dialog.getByRole('button', { name: 'Add group' }).click();
      await dialog.getByLabel('Group 1', { exact: true }).fill('finance');
      await dialog.getByLabel('Role of group 1').selectOption('billing');
      await dialog.getByText('Sessions, scopes and addresses').click();
      await dialog.getByLabel('Scopes').fill('openid, email, groups');
      await dialog.getByRole('button', { name: 'Connect identity provider' }).click();
      await page.getByRole('button', { name: 'Check now' }).click();
      await page.getByText('has no TXT record with the expected value yet').waitFor();
      const [name = '', value = ''] = await page
        .getByRole('cell')
        .getByRole('button', { name: /^_sluice|^sluice-domain/ })
        .allTextContents();
      zone.set(name, [value]);
      await page.getByRole('button', { name: 'Check now' }).click();
      await page.getByText('verified', { exact: true }).waitFor();
      const [tab] = await Promise.all([context.waitForEvent('page'), page.getByRole('button', { name: 'Test login' }).click()]);
      await signInAtProvider(tab, 'ada@other.example');
      await tab.getByText('The test is finished').waitFor();
      await page.getByText('A new user would be created and signed in.').waitFor();
      await page.getByRole('definition').getByText('billing').waitFor();
    }));

  test('is the only way if an owner refuses passwords, except for the break-glass owner with a second factor', () =>
    signedOut(`/identity-providers/${provider}`, async ({ page }) => {
      const member = await control.createUser({ role: 'member', organization, email: at('member') });
      const body = { email: 'partner@elsewhere.example', role: 'member', temporary_password: 'Temporary-Password-1' };
      await control.done('POST', '/v1/users', { token: owner.token, body });
      const signInAsOwner = async (): Promise<void> => {
        await signIn(page, owner);
        await page.getByLabel('Code from your authenticator app').fill(totpOf(secret));
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      };
      await signInAsOwner();
      await page.getByRole('button', { name: 'Refuse passwords' }).click();
      const dialog = page.getByRole('dialog', { name: 'Refuse passwords' });
      await dialog.getByText('1 user will not be able to sign in').waitFor();
      await dialog.getByText('partner@elsewhere.example').waitFor();
      expect(await dialog.getByLabel('Break-glass owner').inputValue()).toBe(owner.id);
      await dialog.getByRole('button', { name: 'Refuse passwords' }).click();
      await page.getByText('Passwords are refused.').waitFor();
      await page.getByRole('cell', { name: 'no_role' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(page, member);
      await page.getByRole('alert').waitFor();
      await signInAsOwner();
      await page.getByText('Passwords are refused.').waitFor();
    }));
});
