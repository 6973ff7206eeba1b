import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../../support/browser/chromium.ts';
import { type ConsolePage, openPage } from '../../support/browser/console-page.ts';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let browser: Browser;
let owner: SignedIn;
let organization: string;
let invited: { email: string; temporaryPassword: string };
let created = 0;

const nextEmail = (): string => `console-${process.pid}-${created++}@acme.example`;

beforeAll(async () => {
  [run, browser] = await Promise.all([shareTestRun(), startChromium()]);
  const control = controlOf(run);
  const { token } = await control.asAdmin();
  ({ id: organization } = await control.done('POST', '/v1/organizations', { token, body: { name: 'Acme' } }));
  owner = await control.createUser({ role: 'owner', organization });
  invited = { email: nextEmail(), temporaryPassword: 'Temporary-Password-1' };
  const body = { email: invited.email, role: 'member', organization, temporary_password: invited.temporaryPassword };
  await control.done('POST', '/v1/users', { token, body });
});
afterAll(async () => {
  await browser.close();
  await run.close();
});

const urlOf = (path: string): string => `${run.control_url}/console${path}`;

const signIn = async (page: Page, { email: address, password }: { email: string; password: string }): Promise<void> => {
  await page.getByLabel('E-mail').fill(address);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

const inNewPage = async (run: (opened: ConsolePage) => Promise<void>): Promise<void> => {
  const opened = await openPage(browser);
  await run(opened);
  expect(opened.faults).toEqual([]);
  await opened.close();
};

describe('the sign-in page', () => {
  test('opens the screen of the link after the login, and keeps the session when the page is loaded again', () =>
    inNewPage(async ({ page }) => {
      await page.goto(urlOf('/account?from=mail'));
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/account?from=mail');
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('keeps no token where scripts can read one, and none in an address', () =>
    inNewPage(async ({ page, context }) => {
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await page.goto(urlOf('/'));
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      const readable = await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])');
      expect(readable).not.toMatch(/eyJ|ses_|[\w-]{40}/);
      expect(requested.join('\n')).not.toMatch(/eyJ|token=/);
      const [cookie] = await context.cookies(run.control_url as string);
      expect(cookie).toMatchObject({
        name: expect.stringMatching(/^__Host-sluice-/),
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
        path: '/',
      });
    }));

  test('says in the words of the API that a password is wrong, and keeps the address', () =>
    inNewPage(async ({ page }) => {
      await page.goto(urlOf('/'));
      await signIn(page, { email: owner.email, password: 'Not-the-password-9' });
      expect((await page.getByRole('alert').textContent()) ?? '').toMatch(/e-mail|password/i);
      expect(await page.getByLabel('E-mail').inputValue()).toBe(owner.email);
    }));

  test('asks an invited user for a password of their own', () =>
    inNewPage(async ({ page }) => {
      await page.goto(urlOf('/'));
      await signIn(page, { email: invited.email, password: invited.temporaryPassword });
      await page.getByLabel('New password').fill('short');
      await page.getByText('Still needs: 12 characters, an upper case letter, a digit, a symbol.').waitFor();
      await page.getByLabel('New password').fill('A-Password-of-my-own-3');
      await page.getByRole('button', { name: 'Set password and sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    }));
});

describe('a session', () => {
  test('ends in all tabs when one signs out', () =>
    inNewPage(async ({ page, context }) => {
      await page.goto(urlOf('/'));
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      const other = await context.newPage();
      await other.goto(urlOf('/account'));
      await other.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await other.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
      await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
    }));

  test('asks to sign in again above the screen if it was ended elsewhere', () =>
    inNewPage(async ({ page }) => {
      await page.clock.install();
      await page.goto(urlOf('/account'));
      await signIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
      const control = controlOf(run);
      const { token } = await control.logIn(owner.email, owner.password);
      await control.done('DELETE', '/v1/me/sessions', { token });
      await page.clock.fastForward('01:00');
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await signIn(page, owner);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    }));

  test('shows another user who signs in again nothing of the first', () =>
    inNewPage(async ({ page }) => {
      await page.clock.install();
      await page.goto(urlOf('/account'));
      await signIn(page, owner);
      await page.getByText(owner.email).first().waitFor();
      const control = controlOf(run);
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

test('an address that is no screen says so, and names the way on', () =>
  inNewPage(async ({ page }) => {
    await page.goto(urlOf('/no/such.screen'));
    await signIn(page, owner);
    await page.getByRole('heading', { name: 'The console has no such screen' }).waitFor();
  }));
