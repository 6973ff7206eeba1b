import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { openPage } from '../../support/browser/console-page.ts';
import { openConsole, PHONE, type TestConsole } from '../../support/browser/console-session.ts';
import { controlOf } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';

let ui: TestConsole;
let run: TestRun;

beforeAll(async () => {
  // A run of its own: months of all organizations are closed, and the first steps are those of the whole platform.
  ui = await openConsole(startTestRun('--batch-window-ms', '100', '--queue-delay-ms', '100'));
  run = ui.run;
});
afterAll(() => ui.close());

// Some of the jobs start only now.
const JOBS_MS = 240_000;
const LIMIT_MS = 900_000;

const invite = async (page: Page, organization: string): Promise<void> => {
  await page.goto(`${run.control_url}/console/users?organization=${organization}&dialog=invite`);
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByRole('dialog').getByLabel('Role').selectOption('owner');
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByRole('cell', { name: 'owner' }).waitFor();
};

// Moves the clock so far that the session ends, and then to the time when the month can be closed.
const moveToNextMonth = async (): Promise<readonly string[]> => {
  const { page, faults, close } = await openPage(ui.browser, PHONE);
  await page.goto(run.panel_url);
  await page.getByText('an invitation with the password').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  for (const name of ['+ 1 day', 'To the first of next month']) {
    await page.getByRole('button', { name }).click();
    await page.getByText('Done.').waitFor({ timeout: JOBS_MS });
  }
  expect(await page.locator('#now').textContent()).toMatch(/-01 01:3\d:\d\d UTC$/);
  await close();
  return faults;
};

const issueDraft = async (): Promise<void> => {
  const { access_token: token } = await ui.control.done('POST', '/v1/auth/login', {
    body: { email: run.admin_email, password: run.admin_password },
  });
  const seller = { legal_name: 'Sluice GmbH', address: { lines: ['Kai 1', '20457 Hamburg'], country: 'DE' } };
  await ui.control.done('PUT', '/v1/billing/seller', { token, body: seller });
  const { data } = await ui.control.done('GET', '/v1/billing/invoices?state=draft', { token });
  await ui.control.done('POST', `/v1/billing/invoices/${data[0].id}/issue`, { token });
};

describe('the first steps in the console', () => {
  test(
    'turn green by themselves, from an organization to an invoice, as the panel moves the clock',
    async () => {
      const { page, faults, close } = await ui.open({ email: run.admin_email, password: run.admin_password });
      await page.getByText('First steps: 3 of 6 done').waitFor();
      const { id: organization } = await ui.control.createOrganization();
      const key = await ui.control.done('POST', '/v1/api-keys', {
        token: (await ui.control.asAdmin()).token,
        body: { organization, name: 'first' },
      });
      await invite(page, organization);
      await page.clock.install();
      await page.goto(`${run.control_url}/console/`);
      await page.getByText('First steps: 4 of 6 done').waitFor();
      expect(await page.getByRole('listitem').filter({ hasText: ': done' }).count()).toBe(4);

      const sent = await fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: run.model, messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 8 }),
      });
      expect(sent.status).toBe(200);
      await page.clock.fastForward(10_000);
      await page.getByText('First steps: 5 of 6 done').waitFor();

      expect(await moveToNextMonth()).toEqual([]);
      await page.clock.fastForward(60_000);
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Email').fill(run.admin_email);
      await dialog.getByLabel('Password').fill(run.admin_password);
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.clock.fastForward(10_000);
      await page.getByText('1 draft invoice to issue').waitFor();
      await issueDraft();
      await page.clock.fastForward(10_000);
      await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'hidden' });
      expect(faults).toEqual([]);
      await close();
    },
    LIMIT_MS,
  );

  test('stay hidden in a browser in which they were hidden', async () => {
    // The other test can have moved the clock beyond the end of an earlier session.
    const { createUser, createOrganization } = controlOf(run);
    const member = await createUser({ role: 'member', organization: (await createOrganization()).id });
    const { page, faults, close } = await ui.open(member, '/', PHONE);
    await page.getByText('First steps: 0 of 2 done').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hide first steps' }).click();
    await page.reload();
    await page.getByText('Active API keys').waitFor();
    expect(await page.getByText('First steps').count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
