import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let organization: string;

const createAccount = (fields: object = {}) =>
  ui.control.done('POST', '/v1/service-accounts', {
    token: owner.token,
    body: { name: 'report', role: 'viewer', permissions: ['usage:read'], ...fields },
  });

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(() => ui.close());

describe('service accounts in the console', () => {
  test('creates an account with one permission and a secret, and shows a job that works with them', async () => {
    const { page, faults, close } = await ui.open(owner, '/service-accounts');
    await page.getByText('No service account yet').waitFor();
    await page.getByRole('button', { name: 'Create service account' }).click();
    await page.getByLabel('Name').fill('nightly');
    await page.getByLabel('usage:read').check();
    await page.getByRole('button', { name: 'Create service account' }).last().click();
    await page.getByRole('button', { name: 'Create secret' }).click();
    await page.getByRole('button', { name: 'Create secret' }).last().click();
    const dialog = page.getByRole('dialog', { name: 'Secret of nightly' });
    const secret = (await dialog.getByLabel('Secret', { exact: true }).locator('pre').textContent()) ?? '';
    const code = (await dialog.getByLabel('A job with this secret').locator('pre').textContent()) ?? '';
    expect(code).not.toContain(secret);
    // `jq` is not on every machine.
    const jq = `jq() { "${process.execPath}" -e 'process.stdin.on("data", (text) => console.log(JSON.parse(text).access_token))'; }`;
    const output = execFileSync('bash', ['-c', `${jq}\n${code}`], { env: { ...process.env, SERVICE_ACCOUNT_SECRET: secret } });
    expect(JSON.parse(String(output))).toMatchObject({ object: 'page' });
    await dialog.getByRole('button', { name: 'I have saved the secret' }).click();
    expect(await page.content()).not.toContain(secret);
    await page.reload();
    await page.getByText('127.0.0.1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete secret' }).click();
    await page.getByLabel('End all sessions of the service account now').check();
    await page.getByRole('button', { name: 'Delete secret' }).last().click();
    await page.getByText('No secret yet').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('disables an account, names the API keys that still work, and deletes it after its name was typed', async () => {
    const { id } = await createAccount({ role: 'owner', permissions: ['keys:read', 'keys:write'] });
    const { secret } = await ui.control.done('POST', `/v1/service-accounts/${id}/secrets`, { token: owner.token, body: {} });
    const body = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    const { access_token: token } = await ui.control.done('POST', '/v1/auth/token', { body });
    const key = await ui.control.done('POST', '/v1/api-keys', { token, body: { name: 'left behind' } });
    const { page, faults, close } = await ui.open(owner, `/service-accounts/${id}`);
    await page.getByRole('button', { name: 'Disable service account' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable service account' }).click();
    await page.getByRole('link', { name: key.id }).waitFor();
    expect((await ui.control.call('GET', '/v1/api-keys', { token })).status).toBe(401);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete service account' }).click();
    await page.getByLabel('Revoke the API keys that it created').check();
    await page.getByLabel('Type report to confirm').fill('report');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete service account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Service accounts' }).waitFor();
    expect((await ui.control.done('GET', `/v1/api-keys/${key.id}`, { token: owner.token })).status).toBe('revoked');
    expect(faults).toEqual([]);
    await close();
  });

  test('creates a rule for a repository, shows its workflow, and why a token was refused', async () => {
    const { id } = await createAccount();
    const { page, faults, close } = await ui.open(owner, `/federation-rules?service_account=${id}`);
    await page.getByText('No federation rules yet').waitFor();
    await page.getByRole('button', { name: 'Create federation rule' }).click();
    await page.getByLabel('Repository id').fill('123456789');
    await page.getByLabel('Jobs can get an API key').check();
    await page.getByLabel('Budget per key').fill('5');
    await page.getByRole('dialog').getByRole('button', { name: 'Create federation rule' }).click();
    const code = (await page.getByLabel('Example job with this rule').locator('pre').textContent()) ?? '';
    const [, rule = ''] = /FEDERATION_RULE: (\S+)/.exec(code) ?? [];
    expect(await ui.control.done('GET', `/v1/service-accounts/${id}/federation-rules/${rule}`, { token: owner.token })).toMatchObject({
      audience: ui.run.control_url,
      claims: { repository_id: '123456789', ref: 'refs/heads/main' },
      api_key: { budgets: { total: '5' }, lifetime_seconds: 3_600 },
    });
    await page.getByRole('button', { name: 'Disable federation rule' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable federation rule' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: `${part({ alg: 'RS256', kid: '1' })}.${part({ iss: 'https://token.actions.githubusercontent.com' })}.x`,
      client_id: id,
      federation_rule: rule,
    };
    expect((await ui.control.call('POST', '/v1/auth/token', { body })).status).toBe(401);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Enable the rule.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows what others wrote as text, and is accessible on a phone in the dark', async () => {
    const { id } = await createAccount({ name: PLANTED, description: PLANTED });
    await ui.control.done('POST', `/v1/service-accounts/${id}/secrets`, { token: owner.token, body: {} });
    const { id: rule } = await ui.control.done('POST', `/v1/service-accounts/${id}/federation-rules`, {
      token: owner.token,
      body: {
        issuer: 'https://issuer.example.com',
        audience: PLANTED,
        subject: PLANTED,
        claims: { [PLANTED]: PLANTED },
        description: PLANTED,
      },
    });
    const visited = await ui.open(owner, '/service-accounts', PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('link', { name: PLANTED }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const [path, shown] of [
      [`/service-accounts/${id}`, 'Delete secret'],
      [`/federation-rules?service_account=${id}`, 'https://issuer.example.com'],
      [`/federation-rules/${rule}?service_account=${id}`, 'Use it in a job'],
    ] as const) {
      await goTo(page, path);
      await page.getByText(shown).first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('offers no changes to viewers, and nothing to members', async () => {
    const [viewer, member] = await Promise.all([
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'member', organization }),
    ]);
    const { id } = await createAccount({ name: 'seen' });
    const asViewer = await ui.open(viewer, `/service-accounts/${id}`);
    await asViewer.page.getByRole('heading', { name: 'seen' }).waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Edit|Create|Disable|Delete/ }).count()).toBe(0);
    const asMember = await ui.open(member, '/service-accounts');
    await asMember.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...asViewer.faults, ...asMember.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asMember.close()]);
  });
});
