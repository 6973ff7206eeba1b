import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { startChromium } from '../../support/browser/chromium.ts';
import { visit } from '../../support/browser/console-session.ts';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let control: ReturnType<typeof controlOf>;
let browser: Browser;
let owner: SignedIn;
let member: SignedIn;

const PHONE = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

const open = (path: string, user: SignedIn = owner, options = {}) =>
  visit({ browser, controlUrl: run.control_url as string, user, path, options });

beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  [browser, owner, member] = await Promise.all([
    startChromium(),
    control.createUser({ role: 'owner', organization }),
    control.createUser({ role: 'member', organization }),
  ]);
});
afterAll(() => browser.close());

describe('models in the console', () => {
  test('leads from the list to the price of a model and code that works', async () => {
    const { page, faults, close } = await open('/models', member);
    await page.getByRole('link', { name: run.model, exact: true }).click();
    await page.getByRole('heading', { name: 'Price per million tokens' }).waitFor();
    expect(await page.getByLabel('A request to this model').locator('pre').textContent()).toContain(`${run.base_url}/v1/chat/completions`);
    expect(await page.locator('main').textContent()).toMatch(/Input\s*\$0\.10/);
    expect(await page.getByRole('button', { name: 'Unpublish' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  test('lets an admin announce the end of a model, and withdraw it', async () => {
    const { page, faults, close } = await open(`/models/${run.model}`, await control.asAdmin());
    await page.getByRole('button', { name: 'Deprecate' }).click();
    await page.getByLabel('Removed on (UTC)').fill('2099-01-31');
    await page.getByRole('button', { name: 'Deprecate model' }).click();
    await page.getByText('will be removed on 2099-01-31').waitFor();
    const { deprecation } = await control.done('GET', `/v1/models/${run.model}`, { token: owner.token });
    expect(deprecation.sunset_at).toBe(Date.UTC(2099, 0, 31) / 1_000);
    await page.getByRole('button', { name: 'Withdraw deprecation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw deprecation' }).click();
    await page.getByText('will be removed on').waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});

describe('the payload log in the console', () => {
  test('switches the log on, and keeps what somebody else has changed meanwhile', async () => {
    const { page, faults, close } = await open('/payload-log');
    await page.getByLabel('Log the content of requests').check();
    await page.getByLabel('Kept for').selectOption('7');
    await control.done('PUT', '/v1/observability/payload-log', { token: owner.token, body: { enabled: false, paths: ['$.user'] } });
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('changed by someone else').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved. The settings apply').waitFor();
    expect(await control.done('GET', '/v1/observability/payload-log', { token: owner.token })).toMatchObject({
      enabled: true,
      retention_days: 7,
      paths: ['$.user'],
    });
    expect(faults).toEqual([]);
    await close();
  });

  test('is only for owners, and is accessible on a phone in the dark', async () => {
    const ofMember = await open('/payload-log', member);
    await ofMember.page.getByText("Your role can't see this").waitFor();
    const { page, faults, close } = await open('/payload-log', owner, PHONE);
    await page.getByRole('button', { name: 'Save settings' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect([...faults, ...ofMember.faults]).toEqual([]);
    await Promise.all([close(), ofMember.close()]);
  });
});
