import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

const SECOND_MS = 1_000;
const HOUR_S = 3_600;

let ui: TestConsole;
let admin: SignedIn;

// A model of its own, because prices are never removed.
const registerModel = async (): Promise<string> => {
  const name = `priced-${randomUUID()}`;
  const { targets } = await ui.control.done('GET', `/v1/models/${ui.run.model}`, { token: admin.token });
  const [{ endpoint, component }] = targets;
  const body = {
    name,
    targets: [{ endpoint, ...(component !== null && { component }) }],
    context_length: 4_096,
    max_output_tokens: 1_024,
    default_output_tokens: 256,
    prices: [{ per_million: { prompt: '0.10', completion: '0.40' } }],
  };
  await ui.control.done('POST', '/v1/models', { token: admin.token, body });
  return name;
};

beforeAll(async () => {
  ui = await openConsole();
  admin = await ui.control.asAdmin();
});
afterAll(() => ui.close());

describe('prices in the console', () => {
  test('adds a price after it has shown what changes for whom and from when', async () => {
    const model = await registerModel();
    const { page, faults, close } = await ui.open(admin, `/prices?model=${model}`);
    await page.getByText('current', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add price' }).click();
    await page.getByLabel('Input ($ per million tokens)', { exact: true }).fill('0.123456789');
    await page.getByLabel('Effective from (UTC)').fill('2099-01-01T00:00');
    await page.getByRole('button', { name: 'Review price' }).click();
    await page.getByText(`All organizations pay this price for ${model} from 2099-01-01 00:00:00 UTC`).waitFor();
    await page.getByRole('cell', { name: '+0.023456789' }).waitFor();
    const before = await ui.control.done('GET', `/v1/prices?model=${model}`, { token: admin.token });
    expect(before.data).toHaveLength(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add price' }).last().click();
    await page.getByText('scheduled').waitFor();
    const after = await ui.control.done('GET', `/v1/prices?model=${model}`, { token: admin.token });
    expect(after.data[0]).toMatchObject({ per_million: { prompt: '0.123456789', completion: '0.4' }, effective_at: 4_070_908_800 });
    expect(faults).toEqual([]);
    await close();
  });

  test('previews a rerate, and executes it only then', async () => {
    const model = await registerModel();
    const right = { model, effective_at: 4_070_908_800, per_million: { prompt: '0.01', completion: '0.04' } };
    await ui.control.done('POST', '/v1/prices', { token: admin.token, body: right });
    const { data } = await ui.control.done('GET', `/v1/prices?model=${model}`, { token: admin.token });
    const { page, faults, close } = await ui.open(admin, `/prices?model=${model}`);
    // As of a platform whose first hundred organizations are not affected.
    await page.route(/\/rerates\/[^/]+\/organizations(?!.*after=)/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { object: 'list', data: [], has_more: true, next: 'org_0' } });
    });
    await page.getByRole('link', { name: 'Rerate past usage' }).click();
    await page.getByLabel('From price version').selectOption(data.at(-1).id);
    await page.getByLabel('To price version').selectOption(data[0].id);
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_S * SECOND_MS).toISOString().slice(0, 16);
    await page.getByLabel('From (UTC)').fill(hoursAgo(5));
    await page.getByLabel('Until (UTC)').fill(hoursAgo(2));
    await page.getByLabel('Reason').fill(PLANTED);
    await page.getByRole('button', { name: 'Preview rerate' }).click();
    await page.getByText('Nothing has been billed or credited yet').waitFor();
    await page.getByText('No organization is affected').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Execute rerate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Execute rerate' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All rerates' }).click();
    await page.getByText(PLANTED).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('sets the seller, and keeps what somebody else has changed meanwhile', async () => {
    const { body: before } = await ui.control.call('GET', '/v1/billing/seller', { token: admin.token });
    const { page, faults, close } = await ui.open(admin, '/seller');
    const name = `Example ${randomUUID()}`;
    await page.getByLabel('Legal name').fill(name);
    await page.getByLabel('Address').fill(`${name}\n20457 Hamburg`);
    await page.getByLabel('Country').fill('de');
    const body = { legal_name: 'Other', address: { lines: ['1'], country: 'DE' }, invoice_note: PLANTED };
    await ui.control.done('PUT', '/v1/billing/seller', { token: admin.token, body });
    await page.getByRole('button', { name: 'Save seller' }).click();
    await page.getByText('Someone else changed this').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    // The user is read again, who names the currency of all prices.
    await Promise.all([page.waitForResponse(/\/v1\/me$/), page.getByRole('button', { name: 'Save seller' }).click()]);
    await page.getByText('Saved. Invoices').waitFor();
    expect(await ui.control.done('GET', '/v1/billing/seller', { token: admin.token })).toMatchObject({
      legal_name: name,
      address: { lines: [name, '20457 Hamburg'], country: 'DE' },
      invoice_note: PLANTED,
    });
    // The suites of a run share its seller.
    const { object: _, version: __, ...fields } = before as Record<string, unknown>;
    if (before.object === 'seller') await ui.control.done('PUT', '/v1/billing/seller', { token: admin.token, body: fields });
    expect(faults).toEqual([]);
    await close();
  });

  test.each([
    ['the seller', { code: 'JPY', symbol: '¥', decimals: 0 }, 'JPY', '¥'],
    ['the United States if an earlier API names none', undefined, 'USD', '$'],
  ])('shows prices and amounts in the currency of %s', async (_, currency, code, symbol) => {
    const { page, faults, close } = await ui.open(admin, '/account');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await page.route('**/v1/me', async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, json: { ...(await reply.json()), currency } });
    });
    await page.goto(`${ui.run.control_url}/console/prices`);
    await page.getByText(`In ${code} per million tokens.`).waitFor();
    await page
      .getByText(symbol === '¥' ? /^¥\d/ : /^\$\d/)
      .first()
      .waitFor();
    expect(await page.getByText(symbol === '¥' ? /\$\d/ : /¥\d/).count()).toBe(0);
    await goTo(page, `/models/${ui.run.model}`);
    await page.getByRole('button', { name: 'Add price' }).click();
    await page.getByLabel(`Input (${symbol} per million tokens)`, { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows the platform on a phone in the dark, lets finance only see prices, and shows support none', async () => {
    await ui.control.createOrganization(PLANTED);
    const [finance, support] = await Promise.all([
      ui.control.createUser({ role: 'platform_billing' }),
      ui.control.createUser({ role: 'support' }),
    ]);
    const visited = await ui.open(admin, '/', PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('heading', { name: 'Health now' }).waitFor();
    await page.getByText('Starting deployments').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Change prices' }).click();
    await page.getByRole('link', { name: ui.run.model, exact: true }).click();
    await page.getByText('current', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    const ofFinance = await ui.open(finance, `/prices?model=${ui.run.model}`);
    await ofFinance.page.getByText('current', { exact: true }).waitFor();
    expect(await ofFinance.page.getByRole('button', { name: 'Add price' }).count()).toBe(0);
    const ofSupport = await ui.open(support, '/prices');
    await ofSupport.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...faults, ...ofFinance.faults, ...ofSupport.faults]).toEqual([]);
    await Promise.all([close(), ofFinance.close(), ofSupport.close()]);
  });
});
