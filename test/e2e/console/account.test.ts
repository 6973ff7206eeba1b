import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, openConsole, PHONE, type TestConsole } from '../../support/browser/console-session.ts';
import { readQrCode } from '../../support/browser/read-qr-code.ts';
import { totpOf } from '../../support/clients/totp.ts';

let ui: TestConsole;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
});
afterAll(() => ui.close());

const open = async (options = {}) => {
  const user = await ui.control.createUser({ role: 'member', organization });
  return { user, ...(await ui.open(user, '/account', options)) };
};

describe('the account in the console', () => {
  test('sets up a second factor with a code of the app, and switches it off with the password and a code', async () => {
    const { user, page, faults, close } = await open();
    await page.getByRole('button', { name: 'Set up second factor' }).click();
    await page.getByLabel('Password').fill(user.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = (await page.getByLabel('Setup key').locator('pre').textContent()) ?? '';
    const scanned = new URL(await readQrCode(page.getByRole('img', { name: 'QR code of the setup key' })));
    expect([scanned.protocol, scanned.searchParams.get('secret')]).toEqual(['otpauth:', secret]);
    await page.getByLabel('Code from the app').fill(totpOf(secret));
    await page.getByRole('button', { name: 'Switch on second factor' }).click();
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByLabel('Password').fill(user.password);
    await page.getByLabel('Code from your authenticator app').fill(totpOf(secret));
    await page.getByRole('button', { name: 'Switch off second factor' }).click();
    await page.getByRole('button', { name: 'Set up second factor' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('leads an admin without a second factor to its setup from any screen, and then shows everything', async () => {
    const { token } = await ui.control.asAdmin();
    const { email, password } = await ui.control.createUser({ role: 'member', organization });
    const admin = { email: `new-${email}`, password };
    await ui.control.done('POST', '/v1/users', {
      token,
      body: { email: admin.email, role: 'admin', temporary_password: 'Temporary-Password-1' },
    });
    const { session } = await ui.control.done('POST', '/v1/auth/login', { body: { email: admin.email, password: 'Temporary-Password-1' } });
    await ui.control.done('POST', '/v1/auth/challenge', { body: { email: admin.email, session, new_password: password } });
    const { page, faults, close } = await ui.open(admin, '/organizations');
    await page.getByRole('heading', { name: 'You need a second factor' }).waitFor();
    await goTo(page, '/');
    expect(await page.getByRole('heading', { name: 'You need a second factor' }).count()).toBe(1);
    expect(await page.locator('main').textContent()).not.toContain('/v1/');
    await page.getByRole('link', { name: 'Set up second factor' }).click();
    await page.getByRole('button', { name: 'Set up second factor' }).click();
    expect(await page.locator('main').textContent()).not.toContain('/v1/');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = (await page.getByLabel('Setup key').locator('pre').textContent()) ?? '';
    await page.getByLabel('Code from the app').fill(totpOf(secret));
    await page.getByRole('button', { name: 'Switch on second factor' }).click();
    await page.getByText('this session').waitFor();
    await goTo(page, '/');
    await page.getByRole('heading', { name: 'Health now' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('ends all other sessions, and goes on with this one', async () => {
    const { user, page, faults, close } = await open(PHONE);
    await page.getByText('this session').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // A browser's name in a narrow column would take a line for each word.
    expect((await page.getByRole('cell', { name: 'Mozilla' }).first().boundingBox())?.width).toBeGreaterThan(200);
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByRole('button', { name: 'End other sessions' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'End session' }).waitFor({ state: 'detached' });
    expect((await ui.control.call('GET', '/v1/me', { token: user.token })).status).toBe(401);
    await page.reload();
    await page.getByText('this session').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('changes the password, after which the new one signs in', async () => {
    const { user, page, faults, close } = await open();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByLabel('Current password').fill(user.password);
    await page.getByLabel('New password').fill('Another-Password-3');
    await page.getByRole('button', { name: 'Change password' }).last().click();
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor();
    expect(await ui.control.logIn(user.email, 'Another-Password-3')).toMatchObject({ id: user.id });
    expect(faults).toEqual([]);
    await close();
  });
});
