import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/emulators/openid-provider.ts';

let ui: TestConsole;
let openId: OpenIdProvider;
let owner: SignedIn;
let organization: string;

const createProvider = (fields: object = {}) =>
  ui.control.done('POST', '/v1/identity-providers', {
    token: owner.token,
    body: { name: 'Okta', issuer: openId.issuer, client_id: 'sluice', domains: ['acme.example'], ...fields },
  });

beforeAll(async () => {
  ui = await openConsole();
  openId = await startOpenIdProvider(`${ui.run.control_url}/v1/auth/sso/callback`);
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(() => Promise.all([ui.close(), openId.close()]));

describe('identity providers in the console', () => {
  test('asks once for the proof that two changes need, then makes both', async () => {
    const { id } = await createProvider();
    await ui.control.done('PATCH', `/v1/organizations/${organization}`, { token: owner.token, body: { fresh_login_minutes: 5 } });
    const { page, faults, close } = await ui.open(owner, `/identity-providers/${id}`);
    let sendOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      sendOn = resolve;
    });
    await page.route('**/scim-tokens', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await ui.run.controlFunctions('clock', { offset_seconds: 360 });
    try {
      await page.getByRole('button', { name: 'Create SCIM token' }).click();
      await page.getByRole('button', { name: 'Edit identity provider' }).click();
      await page.getByLabel('Name').fill('Okta of Acme');
      await page.getByRole('button', { name: 'Save identity provider' }).click();
      const dialog = page.getByRole('dialog', { name: 'Confirm your identity' });
      await dialog.waitFor();
      const refused = page.waitForResponse((reply) => reply.url().includes('scim-tokens') && reply.status() === 403);
      sendOn();
      await (await refused).finished();
      await dialog.getByLabel('Password').fill(owner.password);
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      const token = await page.getByRole('dialog', { name: 'SCIM token' }).getByLabel('Secret', { exact: true }).textContent();
      expect(token).toContain('scim_');
      await page.getByRole('button', { name: 'I have saved the secret' }).click();
      await page.getByRole('heading', { name: 'Okta of Acme' }).waitFor();
      await page.getByRole('button', { name: 'Delete token' }).click();
      await page.getByText('keep their access. The token has never been used.').waitFor();
      await page.keyboard.press('Escape');
      expect(await dialog.count()).toBe(0);
    } finally {
      await ui.run.controlFunctions('clock');
      await ui.control.done('PATCH', `/v1/organizations/${organization}`, { token: owner.token, body: { fresh_login_minutes: 720 } });
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('shows what others wrote as text, is accessible on a phone, and deletes after the name was typed', async () => {
    const { id } = await createProvider({
      name: PLANTED,
      client_id: PLANTED,
      role_claim: PLANTED,
      role_mapping: [{ value: PLANTED, role: 'owner' }],
      required_acr: [PLANTED],
    });
    const visited = await ui.open(owner, '/identity-providers', PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('link', { name: PLANTED }).click();
    await page.getByRole('button', { name: 'Check now' }).waitFor();
    await page.getByText('Nobody has signed in').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete identity provider' }).click();
    await page.getByLabel(`Type ${PLANTED} to confirm`).fill(PLANTED);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete identity provider' }).click();
    await page.getByRole('heading', { level: 1, name: 'Identity providers' }).waitFor();
    expect((await ui.control.call('GET', `/v1/identity-providers/${id}`, { token: owner.token })).status).toBe(404);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('offers no changes to viewers, and nothing to members', async () => {
    const [viewer, member] = await Promise.all([
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'member', organization }),
    ]);
    const { id } = await createProvider({ name: 'seen' });
    const asViewer = await ui.open(viewer, `/identity-providers/${id}`);
    await asViewer.page.getByRole('heading', { name: 'seen' }).waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Edit|Create|Disable|Delete|Check|Test|Refuse/ }).count()).toBe(0);
    const asMember = await ui.open(member, '/identity-providers');
    await asMember.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...asViewer.faults, ...asMember.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asMember.close()]);
  });
});
