import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { startChromium } from '../../support/browser/chromium.ts';
import { hasRunPlanted, PLANTED, visit } from '../../support/browser/console-session.ts';
import { controlOf } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let control: ReturnType<typeof controlOf>;
let browser: Browser;
let organization: string;

beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization(PLANTED));
  browser = await startChromium();
});
afterAll(() => browser.close());

const open = async (role: 'owner' | 'member' | 'support', options = {}) => {
  const user = await control.createUser({ role, ...(role !== 'support' && { organization }) });
  return { user, ...(await visit({ browser, controlUrl: run.control_url as string, user, path: '/', options })) };
};

describe('the home screen of the console', () => {
  test('leads a new member to their first key with one click', async () => {
    const { page, faults, close } = await open('member');
    await page.getByRole('link', { name: 'Create an API key' }).click();
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows an owner what needs attention, and is accessible in both themes', async () => {
    const visited = await open('owner', { viewport: { width: 390, height: 800 } });
    const { user, page, faults, close } = visited;
    const expires_at = Math.floor(Date.now() / 1_000) + 86_400;
    await control.done('POST', '/v1/api-keys', { token: user.token, body: { name: 'short', expires_at } });
    await page.reload();
    await page.getByRole('link', { name: '1 API key expires within 7 days' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: '1 API key expires within 7 days' }).click();
    await page.getByRole('link', { name: 'short' }).waitFor();
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows support only its tickets', async () => {
    const { page, faults, close } = await open('support');
    await page.getByText('Tickets that wait for you').waitFor();
    expect(await page.getByText(/Cost|API key/).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
