import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

const TEMPORARY = 'Temporary-Password-1';

let ui: TestConsole;
let admin: SignedIn;

beforeAll(async () => {
  ui = await openConsole();
  admin = await ui.control.asAdmin();
});
afterAll(() => ui.close());

const named = async (name: string): Promise<{ id: string; version: number }[]> =>
  (await ui.control.done('GET', `/v1/organizations?${new URLSearchParams({ q: name })}`, { token: admin.token })).data;

describe('organizations in the console', () => {
  test('onboards an organization with two clicks, until its owner signs in', async () => {
    const [name, email] = [`Onboarded ${randomUUID()}`, `ada-${randomUUID()}@example.com`];
    const { page, faults, close } = await ui.open(admin, '/organizations');
    await page.getByRole('button', { name: 'Onboard organization' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Organization').fill(name);
    await dialog.getByLabel("Owner's email").fill(email);
    await dialog.getByLabel('First API key').fill('production');
    await dialog.getByText('Limits, credit and password').click();
    await dialog.getByLabel('Budget per month').fill('500');
    await dialog.getByLabel('Pays from prepaid credit').check();
    await dialog.getByLabel('Credit ($)').fill('100.5');
    await dialog.getByLabel('Temporary password').fill(TEMPORARY);
    await dialog.getByRole('button', { name: 'Onboard organization' }).click();
    await page.getByRole('dialog', { name: `${name} is ready` }).waitFor();
    const message = (await page.getByLabel('Message to the owner').locator('pre').textContent()) ?? '';
    expect(message).toContain(email);
    const secret = (await page.getByLabel('Secret').locator('pre').textContent()) ?? '';
    expect(secret).toMatch(/^sk-/);
    expect(message).not.toContain(secret);
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Secret').locator('pre').textContent()).toBe(secret);
    await page.getByRole('link', { name: `Open ${name}` }).click();
    await page.getByText('$500.00', { exact: true }).first().waitFor();
    await page.getByText('$100.50').first().waitFor();
    expect(await page.getByRole('link', { name: 'API keys', exact: true }).last().getAttribute('href')).toMatch(/organization=org_/);

    const { session } = await ui.control.done('POST', '/v1/auth/login', { body: { email, password: TEMPORARY } });
    const first = await ui.control.done('POST', '/v1/auth/challenge', { body: { email, session, new_password: 'A-Password-of-my-own-2' } });
    expect(await ui.control.done('GET', '/v1/me', { token: first.access_token })).toMatchObject({ role: 'owner', organization_name: name });
    expect(faults).toEqual([]);
    await close();
  });

  test('goes on where a step failed, without making anything twice', async () => {
    const name = `Retried ${randomUUID()}`;
    const { page, context, faults, close } = await ui.open(admin, '/organizations?dialog=onboard');
    // The organization is made, but its reply is lost.
    await context.route(/\/v1\/organizations$/, async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      await route.fetch();
      await route.abort();
    });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Organization').fill(name);
    await dialog.getByLabel("Owner's email").fill(admin.email);
    await dialog.getByRole('button', { name: 'Onboard organization' }).click();
    await dialog.getByText('The service could not be reached').waitFor();
    await dialog.getByRole('button', { name: 'Retry remaining steps' }).click();
    // The address is in use.
    await dialog
      .getByRole('alert')
      .filter({ hasText: /e-?mail|address/i })
      .waitFor();
    await dialog.getByLabel("Owner's email").fill(`grace-${randomUUID()}@example.com`);
    await dialog.getByRole('button', { name: 'Retry remaining steps' }).click();
    await page.getByRole('dialog', { name: `${name} is ready` }).waitFor();
    expect(await named(name)).toHaveLength(1);
    expect(faults).toEqual([]);
    await close();
  });

  test('suspends an organization after its name was typed, resumes it, and shows a conflict of limits', async () => {
    const name = `Stopped ${randomUUID()}`;
    const { id, version } = await ui.control.createOrganization(name);
    const { page, faults, close } = await ui.open(admin, `/organizations/${id}`);
    await page.getByRole('button', { name: 'Set limits' }).click();
    await page.getByLabel('Requests per minute').fill('60');
    await ui.control.done('PUT', `/v1/organizations/${id}/limits`, {
      token: admin.token,
      headers: { 'if-match': `"${version}"` },
      body: { month_budget: '7' },
    });
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Someone else changed this').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await ui.control.done('GET', `/v1/organizations/${id}`, { token: admin.token })).toMatchObject({
      limits: { requests_per_minute: 60, month_budget: '7' },
    });
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Its API keys stop working').waitFor();
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.getByRole('button', { name: 'Suspend organization' }).click();
    await page.getByText('This organization is suspended').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Resume organization' }).click();
    await page.getByText('This organization is suspended').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await close();
  });

  test('lets owners set what their organization requires, but not its limits', async () => {
    const { id } = await ui.control.createOrganization('Own');
    const owner = await ui.control.createUser({ role: 'owner', organization: id });
    const { page, faults, close } = await ui.open(owner, '/account');
    await page.getByRole('link', { name: 'Own', exact: true }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel("Don't store request content").check();
    await page.getByRole('button', { name: 'Save organization' }).click();
    await page.getByText('not stored').waitFor();
    expect(await page.getByRole('button', { name: /Suspend|Set limits|Grant credit/ }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows names as text on a phone in the dark, and nothing to support', async () => {
    const { id } = await ui.control.createOrganization(PLANTED);
    const support = await ui.control.createUser({ role: 'support' });
    const visited = await ui.open(admin, `/organizations?q=${id}`, PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('button', { name: 'Onboard organization' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: PLANTED }).click();
    await page.getByText('Cost this month').waitFor();
    await page.getByRole('button', { name: 'Suspend' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    const ofSupport = await ui.open(support, `/organizations/${id}`);
    await ofSupport.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...faults, ...ofSupport.faults]).toEqual([]);
    await Promise.all([close(), ofSupport.close()]);
  });
});
