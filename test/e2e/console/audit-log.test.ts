import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { startChromium } from '../../support/browser/chromium.ts';
import { hasRunPlanted, PLANTED, visit } from '../../support/browser/console-session.ts';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let browser: Browser;
let owner: SignedIn;
let member: SignedIn;
let key: string;

beforeAll(async () => {
  run = await shareTestRun();
  const control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  [browser, owner, member] = await Promise.all([
    startChromium(),
    control.createUser({ role: 'owner', organization }),
    control.createUser({ role: 'member', organization }),
  ]);
  ({ id: key } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: PLANTED } }));
});
afterAll(() => browser.close());

const open = (user: SignedIn, path = '/audit-log') => visit({ browser, controlUrl: run.control_url as string, user, path });

describe('the audit log in the console', () => {
  test('finds who changed a thing by its id, keeps the filter in the address, and shows names as text', async () => {
    const visited = await open(owner);
    const { page, faults, close } = visited;
    await page.getByRole('cell', { name: 'api_key.created' }).waitFor();
    await page.getByLabel('What (id)').fill(key);
    await page.getByLabel('What (id)').press('Enter');
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
    const { page, faults, close } = await open(owner, '/audit-log?action=price.created');
    await page.getByText('No entry matches the filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('cell', { name: 'api_key.created' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('is closed to a member, also by its address', async () => {
    const { page, faults, close } = await open(member);
    await page.getByText("Your role can't see this").waitFor();
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
