import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { serviceCreditNoteId } from '../../../functions/billing/close/service-credits.ts';
import { createCreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PromiseFigures } from '../../../shared/service-levels/promise.ts';
import type { ServiceLevel } from '../../../shared/service-levels/service-level.ts';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { eventually } from '../../support/eventually.ts';
import { newInvoice } from '../../support/fixtures/invoices.ts';

const SELLER = { legal_name: 'Example GmbH', address: { lines: ['Hafenstraße 1', 'Hamburg'], country: 'DE' }, issue: 'manual' };

let ui: TestConsole;
let admin: SignedIn;
let owner: SignedIn;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  admin = await ui.control.asAdmin();
  await ui.control.done('PUT', '/v1/billing/seller', { token: admin.token, body: SELLER });
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(() => ui.close());

// A draft of 100 dollars, as it is left by the closing of a month.
const storeDraft = async (month: string, fields: Partial<Invoice> = {}): Promise<Invoice> => {
  const draft = newInvoice({ organization, month, replaced: [], ...fields });
  const lines = draft.lines.map((line) => ({ ...line, model: PLANTED, quantity: 500_000_000n }));
  const invoice = { ...draft, lines, buyer: { ...draft.buyer, legal_name: PLANTED } };
  const invoices = createInvoiceStore(createRecordTable(ui.run.database, ui.run.tables.Billing as string));
  await transact(ui.run.database, invoices.toCreate(invoice));
  return invoice;
};

const NO_FACTS = {
  model: null,
  measure: null,
  threshold: null,
  requests: null,
  answered: null,
  p95_ms: null,
  base_nanos: null,
  percent: null,
};
const MISSED: ServiceLevel = {
  model: PLANTED,
  figures: PromiseFigures.parse({ availability: { tiers: [{ below: '0.999', credit_percent: 10 }] } }),
  answered: 9_981,
  failed: 19,
  first_tokens: 0,
  first_token_p95_ms: null,
  waits: 0,
  wait_p95_ms: null,
  charges_nanos: 100_000_000_000n,
  prepaid_nanos: 0n,
  misses: [{ measure: 'availability', threshold: '0.999', percent: 10 }],
};

// As the closing of a month credits a promise that it missed.
const storeCreditNote = async (id: string): Promise<void> => {
  const billing = createRecordTable(ui.run.database, ui.run.tables.Billing as string);
  const { number, seller, buyer, currency, currency_symbol, created_at } = await createInvoiceStore(billing).get(organization, id);
  const [amount_nanos, description] = [10_000_000_000n, `${PLANTED}: 9,981 of 10,000 requests answered, below 0.999`];
  const missed = { ...NO_FACTS, model: PLANTED, base_nanos: 100_000_000_000n, percent: 10 };
  const note = {
    ...{ id: serviceCreditNoteId({ id, created_at }), organization, invoice: id, number: 'CN-000009', invoice_number: number ?? '' },
    ...{
      seller: seller ?? buyer,
      buyer,
      currency,
      currency_symbol,
      reason: 'Service levels',
      issued_at: created_at,
      files: {},
      version: 1,
    },
    ...{ amount_nanos, lines: [{ ...missed, kind: 'service_credit' as const, description, amount_nanos }] },
  };
  await transact(ui.run.database, createCreditNoteStore(billing).toCreate(note));
};

// The first bytes of a file that a click saves.
const savedBy = async (page: Page, click: () => Promise<void>): Promise<string> => {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return (await readFile(await download.path(), 'latin1')).slice(0, 24);
};

describe('billing in the console', () => {
  test('issues the drafts that were reviewed, credits an invoice once, and records its payment', async () => {
    const drafts = await Promise.all(['2026-08', '2026-09', '2026-10'].map((month) => storeDraft(month)));
    const [first, deleted] = drafts as [Invoice, Invoice];
    const visited = await ui.open(admin, `/invoices?state=draft&organization=${organization}`);
    const { page, faults, close } = visited;
    await page.getByRole('link', { name: 'Draft of August 2026' }).click();
    await page.getByRole('heading', { name: 'Lines' }).waitFor();
    await page.goBack();
    for (const month of ['August', 'September', 'October']) await page.getByRole('checkbox', { name: `${month} 2026` }).check();
    await ui.control.done('DELETE', `/v1/billing/invoices/${deleted.id}`, { token: admin.token });
    await page.getByRole('button', { name: 'Issue 3 reviewed drafts' }).click();
    await page.getByRole('button', { name: 'Issue 3 invoices' }).click();
    await page.getByRole('button', { name: 'Close' }).waitFor();
    const results = await page.getByRole('dialog').getByRole('status').allTextContents();
    expect(results).toEqual([
      expect.stringMatching(/^issued INV-/),
      expect.stringMatching(/^not issued The resource has changed/),
      expect.stringMatching(/^issued INV-/),
    ]);

    await goTo(page, `/invoices/${first.id}`);
    await page.getByRole('button', { name: 'Create credit note' }).click();
    await page.getByLabel('Amount in USD').fill('100.01');
    await page.getByLabel('Reason').fill(PLANTED);
    await page.getByText('Enter an amount up to 100.00').waitFor();
    await page.getByLabel('Amount in USD').fill('12.50');
    await page.getByText('gets a credit note of $12.50').waitFor();
    const read = () => ui.control.done('GET', `/v1/billing/invoices/${first.id}`, { token: admin.token });
    await eventually(async () => (await read()).files.length > 0, 'the files of the invoice are made');
    // The page shows the invoice as it was before its credit note, and then as before its files were made.
    const earlier = [{ credited: '0' }, undefined, { files: [] }];
    const showEarlier = async (route: Route): Promise<void> => {
      const fields = earlier.shift();
      if (!fields) return route.continue();
      const invoice = await (await route.fetch()).json();
      await route.fulfill({ json: { ...invoice, ...fields, version: invoice.version - 1 } });
    };
    await page.route(`**/v1/billing/invoices/${first.id}`, showEarlier);
    await page.getByRole('dialog').getByRole('button', { name: 'Create credit note' }).dblclick();
    await page.getByRole('heading', { name: 'Credit notes' }).waitFor();
    const { data: notes } = await ui.control.done('GET', `/v1/billing/credit-notes?invoice=${first.id}`, { token: owner.token });
    expect(notes).toMatchObject([{ amount: '12.5', reason: PLANTED }]);
    await page.getByRole('button', { name: 'Record payment' }).click();
    await page.getByText('has paid $100.00').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Record payment' }).click();
    await page.getByText('The resource has changed').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Record payment' }).click();
    await page.getByText('has paid $87.50').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Record payment' }).click();
    await page.getByText('paid', { exact: true }).waitFor();
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('gives an owner the PDF of an invoice, and leads from a line to its usage records', async () => {
    const { id } = await storeDraft('2026-07');
    await ui.control.done('POST', `/v1/billing/invoices/${id}/issue`, { token: admin.token });
    const isMade = async () => (await ui.control.done('GET', `/v1/billing/invoices/${id}`, { token: owner.token })).files.length > 0;
    await eventually(isMade, 'the files of the invoice are made');
    const { page, faults, close } = await ui.open(owner, '/invoices?month=2026-07');
    await page.getByRole('link', { name: /^INV-/ }).click();
    expect(await savedBy(page, () => page.getByRole('button', { name: 'Download PDF' }).click())).toMatch(/^%PDF-/);
    expect(await page.getByRole('button', { name: /Issue|Void|Record|credit/ }).count()).toBe(0);
    await page.getByRole('link', { name: '$100.00' }).click();
    await page.getByText('No usage records in this period').waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-07-01');
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps what was typed in a profile that others changed, and shows alerts and what is left of credit', async () => {
    const limits = { prepaid: true, month_budget: '100' };
    await ui.control.done('PUT', `/v1/organizations/${organization}/limits`, { token: admin.token, body: limits });
    const { page, faults, close } = await ui.open(owner, '/billing?view=profile');
    await page.getByLabel('Legal name').fill('Acme Robotics');
    await page.getByLabel('Purchase order').fill('PO-1');
    await ui.control.done('PATCH', '/v1/billing/profile', { token: owner.token, body: { purchase_order: 'PO-2', tax_id: 'DE1' } });
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.getByText('Nothing was saved').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.getByText('Saved.').waitFor();
    const stored = await ui.control.done('GET', '/v1/billing/profile', { token: owner.token });
    expect(stored).toMatchObject({ legal_name: 'Acme Robotics', purchase_order: 'PO-1', tax_id: 'DE1' });

    await page.getByText('This month', { exact: true }).click();
    await page.getByRole('button', { name: 'Edit alerts' }).click();
    await page.getByLabel('Budget alerts').fill('90');
    await page.getByRole('button', { name: 'Save alerts' }).click();
    await page.getByRole('cell', { name: '$90.00' }).waitFor();
    const asAdmin = await ui.open(admin, `/billing?view=credit&organization=${organization}`);
    await asAdmin.page.getByRole('button', { name: 'Grant credit' }).click();
    await asAdmin.page.getByRole('dialog', { name: 'Grant credit to Acme' }).waitFor();
    await asAdmin.page.getByLabel('Amount ($)').fill('25.5');
    await asAdmin.page.getByLabel('Reason').fill('Order 1');
    await asAdmin.page.getByRole('dialog').getByRole('button', { name: 'Grant credit' }).dblclick();
    await asAdmin.page.getByRole('cell', { name: '$25.50' }).nth(1).waitFor();
    await page.getByText('Credit', { exact: true }).click();
    const entry = page.getByRole('row', { name: 'Order 1' });
    await entry.getByRole('cell', { name: '$25.50' }).nth(1).waitFor();
    expect((await entry.getByRole('cell').allTextContents()).slice(0, 4)).toEqual(['1 grant', '$25.50', '$25.50', 'never']);
    expect([...faults, ...asAdmin.faults]).toEqual([]);
    await Promise.all([close(), asAdmin.close()]);
  });

  test('exports usage records to a file once', async () => {
    const { page, faults, close } = await ui.open(owner, '/nowhere');
    const created = page.waitForResponse((reply) => /\/exports$/.test(reply.url()) && reply.request().method() === 'POST');
    // The list that is read first is that of before the export, and comes after it.
    const delay = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      await created;
      await route.fulfill({ response });
    };
    await page.route(/\/v1\/billing\/exports$/, delay, { times: 1 });
    await page.evaluate("history.pushState(null, '', '/console/exports?dialog=create')");
    await page.getByRole('dialog').getByRole('button', { name: 'Create export' }).dblclick();
    await page.getByRole('cell', { name: 'CSV' }).waitFor();
    const exports = async () => (await ui.control.done('GET', '/v1/billing/exports', { token: owner.token })).data;
    await eventually(async () => (await exports())[0].state === 'completed', 'the export is completed');
    expect(await exports()).toHaveLength(1);
    await page.reload();
    expect(await savedBy(page, () => page.getByRole('button', { name: /^Download/ }).click())).toMatch(/^id,/);
    expect(faults).toEqual([]);
    await close();
  });

  test('offers an export of the days that are too many to list', async () => {
    const { page, faults, close } = await ui.open(owner, '/exports?view=records&range=custom&from=2026-01-01&to=2026-11-30');
    await page.getByRole('heading', { name: 'Choose at most 31 days' }).waitFor();
    await page.getByRole('button', { name: 'Create export' }).click();
    expect(await page.getByRole('dialog').getByLabel('First day (UTC)').inputValue()).toBe('2026-01-01');
    expect(await page.getByRole('dialog').getByLabel('Last day (UTC)').inputValue()).toBe('2026-11-30');
    expect(faults).toEqual([]);
    await close();
  });

  test('shows texts of others as text, is accessible on a phone, and offers nothing to those who may not', async () => {
    const project = await ui.control.done('POST', '/v1/projects', {
      token: owner.token,
      body: { name: `Search ${PLANTED}`, budgets: { month: '500' } },
    });
    const { id } = await storeDraft('2026-06', {
      projects: [
        { project_id: project.id, requests: 1_234, amount_nanos: 60_000_000_000n },
        { project_id: null, requests: 2, amount_nanos: 40_000_000_000n },
      ],
      service_levels: [MISSED],
    });
    await ui.control.done('PATCH', '/v1/billing/profile', { token: owner.token, body: { legal_name: PLANTED } });
    await ui.control.done('POST', `/v1/billing/invoices/${id}/issue`, { token: admin.token });
    await storeCreditNote(id);
    const visited = await ui.open(owner, `/invoices/${id}`, PHONE);
    const { page, faults, close } = visited;
    await page.getByText(PLANTED).nth(1).waitFor();
    const rowOf = async (name: string): Promise<string[]> => {
      const cells = page.getByRole('row', { name }).getByRole('cell');
      // Some are read after the invoice, such as those of its credit notes.
      await cells.first().waitFor();
      return (await cells.allTextContents()).slice(1);
    };
    await page.getByRole('link', { name: `Search ${PLANTED}` }).waitFor();
    expect(await rowOf('Search')).toEqual(['1,234', '$60.00']);
    expect(await rowOf('All models')).toEqual(['1,236', '$100.00']);
    expect(await rowOf('9,981 of 10,000 requests answered')).toEqual(['$100.00', '10%', '$10.00']);
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const path of ['/billing', '/billing?view=credit', '/billing?view=profile', '/invoices', '/exports']) {
      await goTo(page, path);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await goTo(page, `/projects/${project.id}`);
    await page.getByText('$500.00 left').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await goTo(page, '/service-levels?month=2026-06');
    await page.getByText('A credit note for the month').waitFor();
    const level = ['Availability', 'at least 99.9%', '99.81% (9,981 of 10,000)', '10,000', 'missed', '10% of $100.00'];
    expect(await rowOf(PLANTED)).toEqual(level);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Month').selectOption({ index: 1 });
    await page.getByRole('heading', { name: 'No promises in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    const [member, viewer, finance] = await Promise.all([
      ui.control.createUser({ role: 'member', organization }),
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'billing', organization }),
    ]);
    const asMember = await ui.open(member, '/invoices');
    await asMember.page.getByText("Your role doesn't have access to this page").waitFor();
    const asViewer = await ui.open(viewer, '/billing?view=profile');
    await asViewer.page.getByText(PLANTED).waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Save|Edit|Create/ }).count()).toBe(0);
    // Finance can't open the page of a model.
    const asFinance = await ui.open(finance, '/service-levels?month=2026-06');
    await asFinance.page.getByRole('cell', { name: PLANTED }).waitFor();
    expect(await asFinance.page.getByRole('link', { name: PLANTED }).count()).toBe(0);
    expect([...faults, ...asMember.faults, ...asViewer.faults, ...asFinance.faults]).toEqual([]);
    await Promise.all([close(), asMember.close(), asViewer.close(), asFinance.close()]);
  });
});
