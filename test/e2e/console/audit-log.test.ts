import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { hasRunPlanted, openConsole, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let member: SignedIn;
let key: string;

beforeAll(async () => {
  ui = await openConsole();
  const { id: organization } = await ui.control.createOrganization();
  [owner, member] = await Promise.all([
    ui.control.createUser({ role: 'owner', organization }),
    ui.control.createUser({ role: 'member', organization }),
  ]);
  ({ id: key } = await ui.control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: PLANTED } }));
});
afterAll(() => ui.close());

describe('the audit log in the console', () => {
  test('finds who changed a thing by its id, keeps the filter in the address, and shows names as text', async () => {
    const visited = await ui.open(owner, '/audit-log');
    const { page, faults, close } = visited;
    await page.getByRole('cell', { name: 'api_key.created' }).waitFor();
    await page.getByLabel('Target (id)').fill(key);
    await page.getByLabel('Target (id)').press('Enter');
    await page.getByText('1 in all').waitFor();
    expect(new URL(page.url()).searchParams.get('target')).toBe(key);
    expect(await page.getByRole('row').last().textContent()).toContain(owner.id);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.reload();
    await page.getByText('1 in all').waitFor();
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('says that no entry matches, and how to see all again', async () => {
    const { page, faults, close } = await ui.open(owner, '/audit-log?action=price.created');
    await page.getByText('No entries match these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('cell', { name: 'api_key.created' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('is closed to a member, also by its address', async () => {
    const { page, faults, close } = await ui.open(member, '/audit-log');
    await page.getByText("Your role doesn't have access to this page").waitFor();
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
