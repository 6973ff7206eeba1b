import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';

let ui: TestConsole;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization(PLANTED));
});
afterAll(() => ui.close());

const open = async (role: 'owner' | 'member' | 'support', options = {}) => {
  const user = await ui.control.createUser({ role, ...(role !== 'support' && { organization }) });
  return { user, ...(await ui.open(user, '/', options)) };
};

describe('the home screen of the console', () => {
  test('leads a new member to their first key with one click', async () => {
    const { page, faults, close } = await open('member');
    await page.getByRole('list').getByRole('link', { name: 'Create API key' }).click();
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows an owner what needs attention, and is accessible in both themes', async () => {
    const visited = await open('owner', { viewport: { width: 390, height: 800 } });
    const { user, page, faults, close } = visited;
    const expires_at = Math.floor(Date.now() / 1_000) + 86_400;
    await ui.control.done('POST', '/v1/api-keys', { token: user.token, body: { name: 'short', expires_at } });
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

  test('finds a screen without a keyboard, and wraps long names on a phone', async () => {
    const { id } = await ui.control.createOrganization(`${'W'.repeat(60)} Inc.`);
    const user = await ui.control.createUser({ role: 'owner', organization: id });
    const { page, faults, close } = await ui.open(user, '/', PHONE);
    await page.getByText('Inc. · Your role: owner').waitFor();
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.getByRole('button', { name: 'Go to' }).click();
    await page.keyboard.type('no such screen');
    await page.getByText('No screen has this name').waitFor();
    await page.getByRole('combobox').fill('audit');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps “Sign out” and the link of the current screen in sight in a long navigation', async () => {
    const height = 720;
    const { page, faults, close } = await open('owner', { viewport: { width: 1280, height } });
    const box = await page.getByRole('button', { name: 'Sign out' }).boundingBox();
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    await goTo(page, '/account');
    const [navigation, link] = await Promise.all(
      [page.getByRole('navigation', { name: 'Screens' }), page.getByRole('link', { name: 'Account', exact: true })].map((each) =>
        each.boundingBox(),
      ),
    );
    expect(link?.y).toBeGreaterThan(height / 2);
    expect((link?.y ?? height) + (link?.height ?? 0)).toBeLessThanOrEqual((navigation?.y ?? 0) + (navigation?.height ?? 0));
    expect(faults).toEqual([]);
    await close();
  });

  test('shows support only its tickets', async () => {
    const { page, faults, close } = await open('support');
    await page.getByText('Tickets waiting for you').waitFor();
    expect(await page.getByText(/Cost|API key/).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
