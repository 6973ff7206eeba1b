import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { REASONING_MODEL } from '../../../infra/local/container.ts';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { openConsole, PHONE, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { pythonWith } from '../../support/clients/python-clients.ts';

const execute = promisify(execFile);
const python = await pythonWith('openai==3.57.0');

let ui: TestConsole;
let owner: SignedIn;
let member: SignedIn;

beforeAll(async () => {
  ui = await openConsole();
  const { id: organization } = await ui.control.createOrganization();
  [owner, member] = await Promise.all([
    ui.control.createUser({ role: 'owner', organization }),
    ui.control.createUser({ role: 'member', organization }),
  ]);
});
afterAll(() => ui.close());

describe('models in the console', () => {
  test('leads from the list to the price of a model and code that works', async () => {
    const { page, faults, close } = await ui.open(member, '/models');
    await page.getByRole('link', { name: ui.run.model, exact: true }).click();
    await page.getByRole('heading', { name: 'Price per million tokens' }).waitFor();
    expect(await page.getByLabel('A request to this model').locator('pre').textContent()).toContain(
      `${ui.run.base_url}/v1/chat/completions`,
    );
    expect(await page.locator('main').textContent()).toMatch(/Input\s*\$0\.10/);
    expect(await page.getByRole('button', { name: 'Unpublish' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  // The output of curl, and of the other languages, for a model of each task.
  test.each([
    ['sluice-tiny', /"content":/, /\w/],
    ['sluice-tiny-embed', /"embedding":/, /^0 \d+ \[.+\n1 \d+ \[.+\n$/s],
    ['sluice-tiny-rerank', /"relevance_score":/, /^0 0?\.\d+.*\n1 [\d.e-]+\n$/s],
  ])('shows code for %s that works in each language', async (model, json, printed) => {
    const { page, faults, close } = await ui.open(member, `/models/${model}`);
    const { secret } = await ui.control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'snippets' } });
    const options = { env: { ...process.env, API_KEY: secret } };
    const shown = async (language: string): Promise<string> => {
      await page.getByLabel('A request to this model').getByRole('button', { name: language }).click();
      return (await page.getByLabel('A request to this model').locator('pre').textContent()) ?? '';
    };
    expect((await execute('sh', ['-c', await shown('curl')], options)).stdout).toMatch(json);
    const script = await shown('JavaScript');
    expect((await execute(process.execPath, ['--input-type=module', '-e', script], options)).stdout).toMatch(printed);
    if (python) expect((await execute(python, ['-c', await shown('Python')], options)).stdout).toMatch(printed);
    expect(faults).toEqual([]);
    await close();
  });

  test('says that no model has the name of an address that was cut off', async () => {
    const { page, faults, close } = await ui.open(member, '/nowhere');
    await page.evaluate("history.pushState(null, '', '/console/models/%E0%A4%A')");
    await page.getByRole('alert').getByText("The model '%E0%A4%A' does not exist").waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('lets an admin announce the end of a model, and withdraw it', async () => {
    const { page, faults, close } = await ui.open(await ui.control.asAdmin(), `/models/${ui.run.model}`);
    await page.getByRole('button', { name: 'Deprecate' }).click();
    await page.getByLabel('Removal date (UTC)').fill('2099-01-31');
    await page.getByRole('button', { name: 'Deprecate model' }).click();
    await page.getByText('will be removed on 2099-01-31').waitFor();
    const { deprecation } = await ui.control.done('GET', `/v1/models/${ui.run.model}`, { token: owner.token });
    expect(deprecation.sunset_at).toBe(Date.UTC(2099, 0, 31) / 1_000);
    await page.getByRole('button', { name: 'Withdraw deprecation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw deprecation' }).click();
    await page.getByText('will be removed on').waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});

describe('service levels in the console', () => {
  test('let an admin promise them although somebody else has just promised others, and end them', async () => {
    const admin = await ui.control.asAdmin();
    const promised = () => ui.control.done('GET', `/v1/service-promises?model=${ui.run.model}`, { token: admin.token });
    const { page, faults, close } = await ui.open(admin, `/models/${ui.run.model}`);
    const dialog = page.getByRole('dialog');
    await page.getByText('Nothing is promised this month.').waitFor();
    await page.getByRole('button', { name: 'State promise' }).click();
    await dialog.getByLabel('Availability: below').fill('99.9: 10\n99.95: 25');
    await dialog.getByText('Each line must be a worse miss').waitFor();
    await dialog.getByLabel('Availability: below').fill('99.9: 10\n99: 25');
    await dialog.getByText('10% below 99.9%, 25% below 99%').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const body = { model: ui.run.model, first_token_p95_ms: { tiers: [{ above: 2_000, credit_percent: 5 }] } };
    await ui.control.done('POST', '/v1/service-promises', { token: admin.token, body });
    await dialog.getByRole('button', { name: 'State promise' }).click();
    await dialog.getByText('Someone else changed this').waitFor();
    await dialog.getByRole('button', { name: 'Continue with these values' }).click();
    await dialog.getByRole('button', { name: 'State promise' }).click();
    await page.getByRole('cell', { name: '95% of streams begin within 2,000 ms' }).waitFor();
    const availability = { tiers: [{ below: '0.999' }, { below: '0.99', credit_percent: 25 }] };
    expect(await promised()).toMatchObject({ version: 2, data: [{ availability, first_token_p95_ms: { tiers: [{ above: 2_000 }] } }] });
    await page.getByRole('button', { name: 'End promise' }).click();
    await dialog.getByRole('button', { name: 'End promise' }).click();
    await page.getByRole('cell', { name: 'Nothing is promised.' }).waitFor();
    expect(await promised()).toMatchObject({ version: 3, data: [{ availability: null, first_token_p95_ms: null }] });
    // Each month has its own.
    const answered = dialog.getByLabel('Availability: below');
    const openAt = async (month: number): Promise<string> => {
      await page.getByRole('button', { name: 'State promise' }).click();
      await dialog.getByLabel('From (UTC)').selectOption({ index: month });
      return answered.inputValue();
    };
    expect(await openAt(2)).toBe('');
    await answered.fill('95: 10');
    await dialog.getByRole('button', { name: 'State promise' }).click();
    await page.getByRole('cell', { name: 'At least 95%' }).waitFor();
    expect(await openAt(2)).toBe('95: 10');
    await dialog.getByLabel('From (UTC)').selectOption({ index: 0 });
    expect(await answered.inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).toEqual([]);
    const asMember = await ui.open(member, `/models/${ui.run.model}`);
    await asMember.page.getByRole('heading', { name: 'Price per million tokens' }).waitFor();
    expect(await asMember.page.getByRole('button', { name: /promise/ }).count()).toBe(0);
    expect([...faults, ...asMember.faults]).toEqual([]);
    await Promise.all([close(), asMember.close()]);
  });
});

describe('aliases in the console', () => {
  const aliasOf = (name: string) => ui.control.done('GET', `/v1/model-aliases/${name}`, { token: owner.token });

  test('are created with a fallback and a split, changed over the change of somebody else, and deleted', async () => {
    const { page, faults, close } = await ui.open(owner, '/aliases');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create alias' }).click();
    await dialog.getByLabel('Alias', { exact: true }).fill('team/assistant');
    await dialog.getByLabel('Model', { exact: true }).fill(ui.run.model);
    await dialog.getByLabel('First fallback').fill(REASONING_MODEL);
    await dialog.getByLabel('Split callers').check();
    await dialog.getByLabel('New model', { exact: true }).fill(REASONING_MODEL);
    await dialog.getByRole('button', { name: 'Create alias' }).click();
    await page.getByText(`95% of callers on ${ui.run.model}, 5% on ${REASONING_MODEL}`).waitFor();
    const created = await aliasOf('team/assistant');
    expect(created).toMatchObject({ fallbacks: [REASONING_MODEL], split: { percent: 5, max_error_percent: 5 }, version: 1 });
    await page.getByRole('button', { name: 'Edit alias' }).click();
    await dialog.getByLabel('Callers on the new model').fill('20');
    const body = { model: ui.run.model, split: { model: REASONING_MODEL, percent: 5 } };
    await ui.control.done('PUT', '/v1/model-aliases/team/assistant', { token: owner.token, body });
    await page.getByRole('button', { name: 'Save alias' }).click();
    await page.getByText('Someone else changed this').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save alias' }).click();
    await page.getByText(`20% on ${REASONING_MODEL}`).waitFor();
    expect(await aliasOf('team/assistant')).toMatchObject({ fallbacks: [], split: { percent: 20, max_error_percent: null }, version: 3 });
    await page.getByRole('button', { name: 'Delete alias' }).click();
    await dialog.getByLabel('to confirm').fill('team/assistant');
    await dialog.getByRole('button', { name: 'Delete alias' }).click();
    await page.getByRole('heading', { level: 1, name: 'Aliases' }).waitFor();
    const gone = await ui.control.call('GET', '/v1/model-aliases/team/assistant', { token: owner.token });
    expect(gone.status).toBe(404);
    expect(faults).toEqual([]);
    await close();
  });

  test('show why a split stopped and start it again, for owners only, on a phone in the dark', async () => {
    const split = { model: REASONING_MODEL, percent: 5, max_error_percent: 2 };
    const body = { model: ui.run.model, split };
    const { organization } = await ui.control.done('PUT', '/v1/model-aliases/stopped', { token: owner.token, body });
    const stop = { requests: 200, failed_requests: 9 };
    await ui.run.database.update({
      TableName: ui.run.tables.Models as string,
      Key: { pool: `aliases#${organization}`, name: 'stopped' },
      UpdateExpression: 'SET #split.stopped_at = :at, #split.stopped_by = :by',
      ExpressionAttributeNames: { '#split': 'split' },
      ExpressionAttributeValues: { ':at': 1_790_000_000, ':by': stop },
    });
    const asMember = await ui.open(member, '/aliases/stopped');
    await asMember.page.getByText(`9 of the last 200 requests to ${REASONING_MODEL} failed; the limit is 2%`).waitFor();
    expect(await asMember.page.getByRole('button', { name: /alias|split/ }).count()).toBe(0);
    const { page, faults, close } = await ui.open(owner, '/aliases/stopped', PHONE);
    await page.getByText(`100% of callers on ${ui.run.model}, 0%`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Restart split' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart split' }).click();
    await page.getByText(`5% on ${REASONING_MODEL}`).waitFor();
    expect(await aliasOf('stopped')).toMatchObject({ split: { ...split, stopped_at: null, stopped_by: null } });
    expect([...faults, ...asMember.faults]).toEqual([]);
    await Promise.all([close(), asMember.close()]);
  });
});

describe('the payload log in the console', () => {
  test('switches the log on, and keeps what somebody else has changed meanwhile', async () => {
    const { page, faults, close } = await ui.open(owner, '/payload-log');
    await page.getByLabel('Log the content of requests').check();
    await page.getByLabel('Retention').selectOption('7');
    await ui.control.done('PUT', '/v1/observability/payload-log', { token: owner.token, body: { enabled: false, paths: ['$.user'] } });
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Someone else changed this').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved. The settings apply').waitFor();
    expect(await ui.control.done('GET', '/v1/observability/payload-log', { token: owner.token })).toMatchObject({
      enabled: true,
      retention_days: 7,
      paths: ['$.user'],
    });
    expect(faults).toEqual([]);
    await close();
  });

  test('is only for owners, and is accessible on a phone in the dark', async () => {
    const ofMember = await ui.open(member, '/payload-log');
    await ofMember.page.getByText("Your role doesn't have access to this page").waitFor();
    const { page, faults, close } = await ui.open(owner, '/payload-log', PHONE);
    await page.getByRole('button', { name: 'Save settings' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect([...faults, ...ofMember.faults]).toEqual([]);
    await Promise.all([close(), ofMember.close()]);
  });
});
