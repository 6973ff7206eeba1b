import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { hasRunPlanted, openConsole, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(() => ui.close());

describe('users in the console', () => {
  test('invites a user with two clicks, changes their role, and shows names of others as text', async () => {
    const visited = await ui.open(owner, '/users');
    const { page, faults, close } = visited;
    const email = `grace-${randomUUID()}@example.com`;
    await page.getByRole('button', { name: 'Invite user' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Name').fill(PLANTED);
    await page.getByRole('button', { name: 'Send invitation' }).click();
    await page.getByText(PLANTED).waitFor();
    await page.getByText('invited').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: `Actions of ${email}` }).click();
    await page.getByRole('menuitem', { name: 'Edit user' }).click();
    await page.getByRole('dialog').getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Save user' }).click();
    await page.getByRole('cell', { name: 'viewer' }).waitFor();
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('disables a user, and leads to the API keys that still work', async () => {
    const member = await ui.control.createUser({ role: 'member', organization });
    const key = await ui.control.done('POST', '/v1/api-keys', { token: member.token, body: { name: 'left behind' } });
    const { page, faults, close } = await ui.open(owner, `/users?q=${member.id}`);
    await page.getByRole('button', { name: `Actions of ${member.email}` }).click();
    await page.getByRole('menuitem', { name: 'Disable user' }).click();
    await page.getByRole('button', { name: 'Disable user' }).click();
    await page.getByRole('link', { name: key.id }).click();
    await page.getByRole('heading', { name: 'left behind' }).waitFor();
    expect((await ui.control.call('GET', '/v1/me', { token: member.token })).status).toBe(401);
    expect(faults).toEqual([]);
    await close();
  });

  test('deletes a user whose API keys could not all be revoked in time, when the deletion is repeated', async () => {
    const member = await ui.control.createUser({ role: 'member', organization });
    const { page, faults, close } = await ui.open(owner, `/users?q=${member.id}`);
    const interrupt = async (route: Route): Promise<void> => {
      await ui.control.done('PATCH', `/v1/users/${member.id}`, { token: owner.token, body: { status: 'disabled' } });
      await route.fulfill({ status: 503, json: { error: { message: 'Try again.' } } });
    };
    await page.route(`**/v1/users/${member.id}?*`, interrupt, { times: 1 });
    await page.getByRole('button', { name: `Actions of ${member.email}` }).click();
    await page.getByRole('menuitem', { name: 'Delete user' }).click();
    await page.getByLabel('Revoke the API keys that they created').check();
    await page.getByLabel(`Type ${member.email} to confirm`).fill(member.email);
    await page.getByRole('button', { name: 'Delete user' }).click();
    await page.getByText('Try again.').waitFor();
    await page.getByRole('button', { name: 'Delete user' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await ui.control.call('GET', `/v1/users/${member.id}`, { token: owner.token })).status).toBe(404);
    expect(faults.filter((fault) => !fault.includes('503'))).toEqual([]);
    await close();
  });

  test('offers no changes to viewers, and nothing to members', async () => {
    const [viewer, member] = await Promise.all([
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'member', organization }),
    ]);
    const asViewer = await ui.open(viewer, '/users');
    await asViewer.page.getByRole('button', { name: `Actions of ${owner.email}` }).click();
    expect(await asViewer.page.getByRole('menuitem').allTextContents()).toEqual(['Show API keys']);
    const asMember = await ui.open(member, '/users');
    await asMember.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...asViewer.faults, ...asMember.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asMember.close()]);
  });
});
