import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import type { ConsolePage } from '../../support/browser/console-page.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let organization: string;
let invited: { email: string; temporaryPassword: string };
let created = 0;

const nextEmail = (): string => `console-${process.pid}-${created++}@acme.example`;

beforeAll(async () => {
  ui = await openConsole();
  const { control } = ui;
  const { token } = await control.asAdmin();
  ({ id: organization } = await control.done('POST', '/v1/organizations', { token, body: { name: 'Acme' } }));
  owner = await control.createUser({ role: 'owner', organization });
  invited = { email: nextEmail(), temporaryPassword: 'Temporary-Password-1' };
  const body = { email: invited.email, role: 'member', organization, temporary_password: invited.temporaryPassword };
  await control.done('POST', '/v1/users', { token, body });
});
afterAll(() => ui.close());

const signIn = async (page: Page, { email: address, password }: { email: string; password: string }): Promise<void> => {
  await page.getByLabel('Email').fill(address);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

const signedOut = async (path: string, use: (opened: ConsolePage) => Promise<void>): Promise<void> => {
  const opened = await ui.openSignedOut(path);
  await use(opened);
  expect(opened.faults).toEqual([]);
  await opened.close();
};

// Until the page has read the last reply, and no renewal is in progress.
const staysOnForm = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await page.evaluate("navigator.locks.request('sluice-refresh', () => new Promise(requestAnimationFrame))");
  expect(await page.getByRole('heading', { name: 'Sign in to Sluice' }).count()).toBe(1);
  expect(await page.locator('#main').count()).toBe(0);
};

describe('the sign-in page', () => {
  test('opens the screen of the link after the login, and keeps the session when the page is loaded again', () =>
    signedOut('/account?from=mail', async ({ page }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/account?from=mail');
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('keeps no token where scripts can read one, and none in an address', () =>
    signedOut('/', async ({ page, context }) => {
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      const readable = await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])');
      expect(readable).not.toMatch(/ses_|[\w-]{40}/);
      expect(requested.join('\n')).not.toMatch(/eyJ[\w-]+\.|token=/);
      const [cookie] = await context.cookies(ui.run.control_url as string);
      expect(cookie).toMatchObject({
        name: expect.stringMatching(/^__Host-sluice-/),
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
        path: '/',
      });
    }));

  test('says in the words of the API that a password is wrong, and keeps the address', () =>
    signedOut('/', async ({ page }) => {
      await signIn(page, { email: owner.email, password: 'Not-the-password-9' });
      expect((await page.getByRole('alert').textContent()) ?? '').toMatch(/email|password/i);
      expect(await page.getByLabel('Email').inputValue()).toBe(owner.email);
    }));

  test('asks an invited user for a password of their own', () =>
    signedOut('/', async ({ page }) => {
      await signIn(page, { email: invited.email, password: invited.temporaryPassword });
      await page.getByLabel('New password').fill('short');
      await page.getByText('Still needs: 12 characters, an uppercase letter, a digit, a symbol.').waitFor();
      await page.getByLabel('New password').fill('A-Password-of-my-own-3');
      await page.getByRole('button', { name: 'Set password and sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    }));
});

describe('a session', () => {
  test('is looked up again when the user asks, if the service could not say who is signed in', () =>
    signedOut('/account', async ({ page }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const json = { error: { message: 'The service is busy. Try again.', type: 'server_error', param: null, code: null } };
      await page.route('**/v1/auth/browser/refresh', (route) => route.fulfill({ status: 503, json }));
      await page.reload();
      await page.getByRole('alert').getByText(json.error.message).waitFor();
      await page.unroute('**/v1/auth/browser/refresh');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('ends when the page is loaded again if the service could not be reached at the logout', () =>
    signedOut('/account', async ({ page, context }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const [session] = await context.cookies(ui.run.control_url as string);
      await page.route('**/v1/auth/browser/logout', (route) => route.abort());
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      await page.reload();
      await page.getByRole('alert').getByText('The service could not be reached.').waitFor();
      await page.unroute('**/v1/auth/browser/logout');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      const url = `${ui.run.control_url}/v1/auth/browser/refresh`;
      const origin = new URL(url).origin;
      const headers = { cookie: `${session?.name}=${session?.value}`, 'content-type': 'application/json', 'x-sluice-console': '1', origin };
      expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('ends in all tabs when one signs out', () =>
    signedOut('/', async ({ page, context }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      const other = await context.newPage();
      await other.goto(`${ui.run.control_url}/console/account`);
      await other.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await other.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
    }));

  test('stays ended if it was just being renewed', () =>
    signedOut('/account', async ({ page }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const [renewed, sendOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/v1/auth/browser/refresh', async (route) => {
        const response = await route.fetch();
        renewed.resolve();
        await sendOn.promise;
        await route.fulfill({ response });
      });
      await page.route(/\/v1\/users/, (route) => route.fulfill({ status: 401, json: {} }), { times: 1 });
      await page.getByRole('link', { name: 'Users', exact: true }).click();
      await renewed.promise;
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      const [reply] = await Promise.all([page.waitForResponse(/browser\/refresh/), sendOn.resolve()]);
      expect(reply.status()).toBe(200);
      await staysOnForm(page);
    }));

  test('is not renewed for a screen that was left at the logout', () =>
    signedOut('/account', async ({ page }) => {
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const [asked, sendOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const refuse = async (route: Route): Promise<void> => {
        if (route.request().method() !== 'DELETE') return route.fallback();
        asked.resolve();
        await sendOn.promise;
        await route.fulfill({ status: 401, json: {} });
      };
      await page.route(/\/v1\/me\/sessions$/, refuse);
      await page.getByRole('button', { name: 'End all other sessions' }).click();
      await page.getByRole('button', { name: 'End other sessions' }).click();
      await asked.promise;
      // Another tab signs out, but has not ended the cookie.
      await page.evaluate("new BroadcastChannel('sluice-session').postMessage('signed-out')");
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      await Promise.all([page.waitForResponse(/\/v1\/me\/sessions$/), sendOn.resolve()]);
      await staysOnForm(page);
    }));

  test('is that of whoever signed in last, also in the tabs of another user', () =>
    signedOut('/account', async ({ page, context }) => {
      const other = await context.newPage();
      await other.goto(`${ui.run.control_url}/console/`);
      await other.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      await signIn(page, owner);
      await page.getByText(owner.email).first().waitFor();
      const viewer = await ui.control.createUser({ role: 'viewer', organization });
      await signIn(other, viewer);
      await page.getByText(viewer.email).first().waitFor();
      expect(await page.getByText(owner.email).count()).toBe(0);
    }));

  test('asks to sign in again above the screen if it was ended elsewhere', () =>
    signedOut('/account', async ({ page }) => {
      await page.clock.install();
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const { control } = ui;
      const { token } = await control.logIn(owner.email, owner.password);
      await control.done('DELETE', '/v1/me/sessions', { token });
      await page.clock.fastForward('01:00');
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await signIn(page, owner);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('goes on after a login during which the session before could not be renewed', () =>
    signedOut('/account', async ({ page }) => {
      const lookAgain = async (): Promise<void> => {
        await page.clock.fastForward('01:00');
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      };
      await page.clock.install();
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const { token } = await ui.control.logIn(owner.email, owner.password);
      await ui.control.done('DELETE', '/v1/me/sessions', { token });
      await lookAgain();
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      const [refused, sendOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await page.route('**/v1/auth/browser/refresh', async (route) => {
        const response = await route.fetch();
        refused.resolve();
        await sendOn.promise;
        await route.fulfill({ response });
      });
      await lookAgain();
      await refused.promise;
      await signIn(page, owner);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const [reply] = await Promise.all([page.waitForResponse(/browser\/refresh/), sendOn.resolve()]);
      expect(reply.status()).toBe(401);
      await reply.finished();
      await page.evaluate('new Promise(requestAnimationFrame)');
      expect(await page.getByRole('dialog').count()).toBe(0);
    }));

  test('asks to sign in again above a half-filled form, which is then sent with what was typed', () =>
    signedOut('/api-keys?dialog=create', async ({ page }) => {
      const { control } = ui;
      const user = await control.createUser({ role: 'owner', organization });
      await signIn(page, user);
      await page.getByLabel('Name').fill('half typed');
      const { token } = await control.logIn(user.email, user.password);
      await control.done('DELETE', '/v1/me/sessions', { token });
      await page.getByRole('button', { name: 'Create API key' }).last().click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      expect(await dialog.getByLabel('Email').inputValue()).toBe(user.email);
      await dialog.getByLabel('Password').fill(user.password);
      // Browsers close a dialog at the second one in any case.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      expect(await dialog.getByLabel('Password').inputValue()).toBe(user.password);
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Create API key' }).last().click();
      await page.getByRole('dialog', { name: 'API key half typed' }).waitFor();
    }));

  test('shows another user who signs in again nothing of the first', () =>
    signedOut('/account', async ({ page }) => {
      await page.clock.install();
      await signIn(page, owner);
      await page.getByText(owner.email).first().waitFor();
      const { control } = ui;
      const other = await control.createUser({ role: 'viewer', organization });
      const { token } = await control.logIn(owner.email, owner.password);
      await control.done('DELETE', '/v1/me/sessions', { token });
      await page.clock.fastForward('01:00');
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await signIn(page, other);
      await page.getByText(other.email).first().waitFor();
      expect(await page.getByText(owner.email).count()).toBe(0);
    }));
});

test('a page that a test has closed leaves the next one no session, value or route', async () => {
  const first = await ui.open(owner);
  await first.page.route('**/v1/**', (route) => route.abort());
  await first.page.evaluate("localStorage.setItem('left', '1'), sessionStorage.setItem('left', '1')");
  await first.close();
  const { page, faults, close } = await ui.openSignedOut('/account');
  await signIn(page, owner);
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  expect(await page.evaluate("[localStorage.getItem('left'), sessionStorage.getItem('left')]")).toEqual([null, null]);
  expect(faults).toEqual([]);
  await close();
});

test('a page that another user has left shows its next one no value, route, dialog or reply of theirs', async () => {
  const { id: organization } = await ui.control.createOrganization();
  const [first, second] = (await Promise.all([
    ui.control.createUser({ role: 'owner', organization }),
    ui.control.createUser({ role: 'owner', organization }),
  ])) as [SignedIn, SignedIn];
  const createKey = (name: string) => ui.control.done('POST', '/v1/api-keys', { token: first.token, body: { name } });
  await createKey('read before');
  const left = await ui.load(first, '/api-keys');
  await left.page.getByRole('link', { name: 'read before' }).waitFor();
  await left.page.route('**/v1/**', (route) => route.abort());
  await left.page.evaluate("localStorage.setItem('left', '1')");
  await left.page.getByRole('button', { name: 'Create API key' }).click();
  await left.close();
  await createKey('created since');
  const { page, faults, showsForm, close } = await ui.open(second, '/api-keys');
  expect(showsForm).toBe(true);
  await page.getByRole('link', { name: 'created since' }).waitFor();
  await page.getByText(second.email).waitFor();
  expect(await page.evaluate("localStorage.getItem('left')")).toBe(null);
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

test('a page on which a script has left a global is loaded anew', async () => {
  const left = await ui.load(owner);
  await left.page.evaluate('void (window.left = 1)');
  await left.close();
  const { page, showsForm, close } = await ui.open(owner);
  expect([page === left.page, showsForm]).toEqual([true, false]);
  expect(await page.evaluate("'left' in window")).toBe(false);
  await close();
});

test('an address that is no screen says so, and names the way on', () =>
  signedOut('/no/such.screen', async ({ page }) => {
    await signIn(page, owner);
    await page.getByRole('heading', { name: "This page doesn't exist" }).waitFor();
  }));
