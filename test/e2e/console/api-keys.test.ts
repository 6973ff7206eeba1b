import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let organization: string;

const createKey = (fields: object, { token } = owner) =>
  ui.control.done('POST', '/v1/api-keys', { token, body: { name: 'production', ...fields } });

const BACKGROUNDS_OF_LANGUAGES =
  "[...document.querySelectorAll('dialog button[aria-pressed]')].map((button) => getComputedStyle(button).backgroundColor)";

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(() => ui.close());

describe('API keys in the console', () => {
  test('creates a key with two clicks, and shows code with which the first request arrives', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys');
    await page.getByText('No active API keys').waitFor();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('ci');
    await page.getByRole('button', { name: 'Create API key' }).last().click();
    const dialog = page.getByRole('dialog', { name: 'API key ci' });
    const secret = (await dialog.getByLabel('Secret', { exact: true }).locator('pre').textContent()) ?? '';
    const code = (await dialog.getByLabel('Example request with this key').locator('pre').textContent()) ?? '';
    const [, url = ''] = /curl '([^']+)'/.exec(code) ?? [];
    const [, body = ''] = /-d '([^']+)'/.exec(code) ?? [];
    expect(code).not.toContain(secret);
    const [chosen, other] = await page.evaluate<string[]>(BACKGROUNDS_OF_LANGUAGES);
    expect(chosen).not.toBe(other);
    const reply = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).toBe(200);
    await dialog.getByText('The first request has arrived.').waitFor();
    await page.keyboard.press('Escape');
    expect(await dialog.getByLabel('Secret', { exact: true }).locator('pre').textContent()).toBe(secret);
    await dialog.getByRole('button', { name: 'I have saved the secret' }).click();
    await page.getByRole('link', { name: 'ci' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps a secret that is not saved if its reader goes back or loads the page again', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('kept');
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'API key kept' });
    const secret = (await dialog.getByLabel('Secret', { exact: true }).locator('pre').textContent()) ?? '';
    await page.evaluate('history.back()');
    const question = page.waitForEvent('dialog');
    // Not at once: the page answers nothing while its question is open.
    await page.evaluate('void setTimeout(() => location.reload())');
    const asked = await question;
    expect(asked.type()).toBe('beforeunload');
    await asked.dismiss();
    expect(await dialog.getByLabel('Secret', { exact: true }).locator('pre').textContent()).toBe(secret);
    await dialog.getByRole('button', { name: 'I have saved the secret' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'kept' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows the secret of a key whose form somebody tries to leave, and says if it isn’t copied', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys?dialog=create');
    const { promise: isLeft, resolve: goOn } = Promise.withResolvers<void>();
    const creates = /\/v1\/api-keys$/;
    await page.route(creates, async (route) => {
      await isLeft;
      await route.continue();
    });
    await page.getByLabel('Name').fill('slow');
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: 'Create API key' }).click();
    await form.getByRole('button', { name: 'Please wait…' }).waitFor();
    expect(await form.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    goOn();
    const secret = page.getByRole('dialog', { name: 'API key slow' }).getByLabel('Secret', { exact: true });
    expect(await secret.locator('pre').textContent()).toMatch(/^sk-/);
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("denied"))');
    await secret.getByRole('button', { name: 'Copy' }).click();
    await secret.getByText('Not copied: the browser refused').waitFor();
    await page.getByRole('button', { name: 'I have saved the secret' }).click();
    await page.unroute(creates);
    expect(faults).toEqual([]);
    await close();
  });

  test('creates no key that never expires if a part of its expiry is missing', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys?dialog=create');
    const created = () => ui.control.done('GET', '/v1/api-keys?q=dated', { token: owner.token });
    await page.getByLabel('Name').fill('dated');
    const expires = page.getByLabel('Expires');
    await expires.pressSequentially('11262027');
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    expect(await page.evaluate<string>('document.activeElement.type')).toBe('datetime-local');
    expect((await created()).data).toEqual([]);
    // As people type it, without a key between the year and the hour.
    await expires.pressSequentially('112620270930AM');
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    await page.getByRole('dialog', { name: 'API key dated' }).waitFor();
    expect((await created()).data).toMatchObject([{ expires_at: Date.UTC(2027, 10, 26, 9, 30) / 1_000 }]);
    await page.getByRole('button', { name: 'I have saved the secret' }).click();
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps the focus on the range of the usage, and ignores a range of another screen in the address', async () => {
    const { id } = await createKey({});
    const { page, faults, close } = await ui.open(owner, `/api-keys/${id}?range=30d`);
    await page.getByLabel('7 days').focus();
    const read = page.waitForResponse((reply) => reply.url().includes(`${id}/usage`));
    await page.keyboard.press('ArrowRight');
    await (await read).finished();
    expect(await page.evaluate<string>('document.activeElement.value')).toBe('30');
    expect(faults).toEqual([]);
    await close();
  });

  test('leads an admin from a key to the requests of its organization', async () => {
    const { id } = await createKey({});
    const { page, faults, close } = await ui.open(await ui.control.asAdmin(), `/api-keys/${id}`);
    await page.getByRole('link', { name: 'Show requests' }).click();
    await page.getByText('No request matches the filters').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'All API keys' }).click();
    await page.locator(`a[href$="${id}"]`).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('returns the focus to what opened a dialog, and lists the projects that its form has read', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys');
    const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent');
    await page.getByRole('button', { name: 'Create API key' }).click();
    expect(await page.evaluate<string>('document.activeElement.labels[0].textContent')).toBe('Name');
    await page.getByText('Limits and budgets', { exact: true }).click();
    await page.getByRole('dialog').getByLabel('Project').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('Create API key');
    // The browser's back button doesn't open the dialog again.
    await page.goBack();
    expect(await page.evaluate<string>('location.search')).toBe('');
    await goTo(page, '/projects');
    await page.getByRole('button', { name: 'Create project' }).waitFor();
    await page.getByText('No project yet').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps the focus where the reader is, also if what had it is gone', async () => {
    const { id, name } = await createKey({ name: 'short-lived' });
    const { page, faults, close } = await ui.open(owner, '/api-keys');
    const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.id');
    await page.getByRole('link', { name }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await focused()).toBe('main');
    // A failure, too, leaves it at the button that was pressed.
    await goTo(page, '/projects?dialog=create');
    await page.getByLabel('Name').fill('Search');
    await page.route('**/v1/projects', (route) => route.fulfill({ status: 500, json: { error: { message: 'Something broke.' } } }));
    await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).press('Enter');
    await page.getByRole('alert').getByText('Something broke.').waitFor();
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Create project');
    await page.unroute('**/v1/projects');
    await goTo(page, '/api-keys');
    const actions = page.getByRole('row', { name }).getByRole('button', { name: `Actions of ${name}` });
    await actions.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Revoke API key' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: `Revoke ${name}` });
    await dialog.getByText('The key has never been used.').waitFor();
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction('document.activeElement !== document.body');
    expect(await focused()).toBe('API keys');
    expect(await page.locator(`a[href$="${id}"]`).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows limits and what others wrote as text, and is accessible on a phone in the dark', async () => {
    const { id } = await createKey({ name: PLANTED, metadata: { team: PLANTED }, budgets: { month: '100' } });
    const visited = await ui.open(owner, `/api-keys/${id}`, PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('heading', { name: PLANTED }).waitFor();
    await page.getByLabel('Budget this month').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await goTo(page, '/api-keys?q=onerror');
    await page.getByRole('link', { name: PLANTED }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('saves nothing over the change of somebody else, and goes on with what the user chooses', async () => {
    const { id } = await createKey({});
    const { page, faults, close } = await ui.open(owner, `/api-keys/${id}`);
    await page.getByRole('button', { name: 'Edit API key' }).click();
    await page.getByLabel('Name').fill('mine');
    await page.getByLabel('Concurrent requests', { exact: true }).fill('8');
    await page.getByText('0 in progress now.').waitFor();
    await ui.control.done('PATCH', `/v1/api-keys/${id}`, { token: owner.token, body: { name: 'theirs', budgets: { month: '250' } } });
    await page.getByRole('button', { name: 'Save API key' }).click();
    await page.getByText('Use the saved value').click();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save API key' }).click();
    await page.getByRole('heading', { name: 'theirs' }).waitFor();
    const stored = await ui.control.done('GET', `/v1/api-keys/${id}`, { token: owner.token });
    expect(stored).toMatchObject({ name: 'theirs', limits: { concurrency: 8 }, budgets: { month: '250' } });
    expect(faults).toEqual([]);
    await close();
  });

  test('rotates a secret with an overlap, and revokes a key only after its name was typed', async () => {
    const { id } = await createKey({ name: 'old  key' });
    const { page, faults, close } = await ui.open(owner, `/api-keys/${id}`);
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('The current secret works').selectOption('for one hour');
    await page.getByRole('button', { name: 'Rotate secret' }).last().click();
    await page.getByText('The previous secret works until').waitFor();
    await page.getByRole('button', { name: 'I have saved the secret' }).click();
    await page.getByRole('button', { name: 'Revoke API key' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Revoke API key' });
    expect(await confirm.isDisabled()).toBe(true);
    // A page shows several blanks as one, so nobody can type them all.
    await page.getByLabel('Type old key to confirm').fill('old key');
    await confirm.click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect((await ui.control.done('GET', `/v1/api-keys/${id}`, { token: owner.token })).status).toBe('revoked');
    expect(faults).toEqual([]);
    await close();
  });

  test('offers no changes to viewers, and nothing to those who manage only bills', async () => {
    const [viewer, billing] = await Promise.all([
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'billing', organization }),
    ]);
    const { id } = await createKey({ name: 'seen' });
    const asViewer = await ui.open(viewer, `/api-keys/${id}`);
    await asViewer.page.getByRole('heading', { name: 'seen' }).waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Edit|Rotate|Revoke/ }).count()).toBe(0);
    // The address of a form, which somebody else has copied.
    for (const screen of ['api-keys', 'service-accounts', 'identity-providers', 'exports', 'users']) {
      await goTo(asViewer.page, `/${screen}?dialog=${screen === 'users' ? 'invite' : 'create'}`);
      expect([screen, await asViewer.page.getByRole('dialog').count()]).toEqual([screen, 0]);
    }
    await goTo(asViewer.page, '/webhooks');
    await asViewer.page.getByText('is answered. An owner of the organization can create one.').waitFor();
    const asBilling = await ui.open(billing, '/api-keys');
    await asBilling.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...asViewer.faults, ...asBilling.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asBilling.close()]);
  });
});
