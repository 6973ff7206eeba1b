import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { limitOrganization } from '../../../../functions/control/organizations/update-organization.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createDeliveryStore } from '../../../../shared/notifications/delivery-store.ts';
import type { Webhook } from '../../../../shared/notifications/webhook.ts';
import { createWebhookStore } from '../../../../shared/notifications/webhook-store.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { NOW } from '../usage/usage-fixtures.ts';
import { type SummaryWorld, startSummaryWorld } from './summary-world.ts';

const DOLLAR = 1_000_000_000n;

let world: SummaryWorld;
beforeAll(async () => {
  world = await startSummaryWorld();
});
afterAll(() => world.close());
afterEach(() => {
  jest.restoreAllMocks();
});

const table = (name: string) => createRecordTable(world.emulator.database, world.emulator.tables[name] as string);

describe('the sections of money', () => {
  test('show the balance of prepaid credit, and what is left of the budget', async () => {
    const organization = await world.newOrganization();
    const owner = await world.newUser('owner', organization);
    expect((await world.summaryFor(owner)).summary).toMatchObject({
      credit: { prepaid: false, balance: '0' },
      budget: { month_budget: null, spent: null, left: null },
    });
    const limits = { requests_per_minute: null, tokens_per_minute: null, concurrency: 100, month_budget: '500', prepaid: true };
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    await limitOrganization(world.stores, world.admin.origin, organization, limits);
    await world.stores.limiters.addGrant(organization, 1, 70n * DOLLAR);
    expect((await world.summaryFor(owner)).summary).toMatchObject({
      credit: { prepaid: true, balance: '70' },
      budget: { month_budget: '500', spent: '0', left: '500' },
    });
  });
});

describe('the section deployments', () => {
  test('counts them by state, names failed ones, and sums what their instances cost now', async () => {
    const organization = await world.newOrganization();
    const owner = await world.newUser('owner', organization);
    const failed = await storeDeployment(world.emulator, { organization, name: 'a', state: 'failed' });
    const running = { generation: 1, instance_type: 'ml.g5.xlarge', instances: 3, phase: 'serving' } as const;
    const meter = { until: NOW, held_nanos: 0n, running: [running] };
    await storeDeployment(world.emulator, { organization, name: 'b', state: 'in_service', meter });
    const price = { version: 'price_1', effective_at: 0, hour_nanos: 1_410_000_000 };
    const type = await world.deps.catalogue.instanceTypes.get('ml.g5.xlarge');
    if (!type) throw new Error('The catalogue has no ml.g5.xlarge.');
    await transact(world.emulator.database, [world.deps.catalogue.instanceTypes.toReplace({ ...type, prices: [price] })]);
    expect((await world.summaryFor(owner)).summary.deployments).toEqual({
      states: { failed: 1, in_service: 1 },
      failed: [failed.id],
      cost_per_hour_now: '4.23',
      is_partial: false,
    });
  });
});

describe('the section webhooks', () => {
  const newWebhook = async (organization: string): Promise<Webhook> => {
    const webhook: Webhook = {
      id: 'wh_1',
      organization,
      url: 'https://example.com',
      types: null,
      description: null,
      enabled: true,
      disabled_reason: null,
      secret: 'whsec_YQ==',
      previous_secret: null,
      previous_secret_until: null,
      created_at: NOW,
      updated_at: NOW,
      version: 1,
    };
    await transact(world.emulator.database, createWebhookStore(table('Notifications')).toCreate(webhook));
    return webhook;
  };

  const givenUp = async (organization: string, id: string, atMs: number): Promise<void> => {
    const deliveries = createDeliveryStore(table('Notifications'));
    const delivery = {
      id,
      webhook: 'wh_1',
      organization,
      event: 'evt_1',
      type: 'sluice.invoice.issued.v1',
      body: '{}',
      state: 'pending',
      attempts: [],
      begun: 1,
      next_attempt_at: atMs,
      leased_until: 0,
      created_at: atMs - DAY_MS,
      delivered_at: null,
      expires_at: Math.floor(NOW / SECOND_MS) + 1_000,
      version: 1,
    } as const;
    await transact(world.emulator.database, [deliveries.toCreate({ ...delivery, attempts: [] })]);
    const attempts = [{ at: atMs, duration_ms: 1, status: 500, error: null }];
    await deliveries.change({ ...delivery, attempts: [] }, { state: 'dead', attempts });
  };

  test('counts the deliveries that were given up in the last 24 hours', async () => {
    const organization = await world.newOrganization();
    const owner = await world.newUser('owner', organization);
    await newWebhook(organization);
    await givenUp(organization, 'dlv_1', NOW - 1);
    await givenUp(organization, 'dlv_2', NOW - DAY_MS);
    await givenUp(organization, 'dlv_3', NOW - DAY_MS - 1);
    await givenUp(await world.newOrganization(), 'dlv_4', NOW - 1);
    expect((await world.summaryFor(owner)).summary.webhooks).toEqual({ failed_deliveries_24h: 2, disabled: 0 });
  });

  test('does not count deliveries to a deleted webhook, which nobody can replay', async () => {
    const organization = await world.newOrganization();
    const owner = await world.newUser('owner', organization);
    const webhook = await newWebhook(organization);
    await givenUp(organization, 'dlv_5', NOW - 1);
    await transact(world.emulator.database, createWebhookStore(table('Notifications')).toDelete(webhook));
    expect((await world.summaryFor(owner)).summary.webhooks).toEqual({ failed_deliveries_24h: 0, disabled: 0 });
  });
});

describe('the section invoices', () => {
  test('counts issued invoices of which something is left to pay, and no drafts', async () => {
    const organization = await world.newOrganization();
    const invoices = createInvoiceStore(table('Billing'));
    const issued = { state: 'issued', issued_at: NOW - 40 * DAY_MS } as const;
    for (const fields of [
      { month: '2026-10' },
      { month: '2026-09', ...issued, due_at: NOW + 1 },
      { month: '2026-08', ...issued, due_at: NOW - 1 },
      { month: '2026-07', ...issued, state: 'paid', due_at: NOW - 1 },
      { month: '2026-06', ...issued, total_nanos: 0n, due_at: NOW - 1 },
      { month: '2026-05', ...issued, credited_nanos: 100n * DOLLAR, due_at: NOW - 1 },
    ] as const)
      await transact(world.emulator.database, invoices.toCreate(newInvoice({ organization, ...fields })));
    const owner = await world.newUser('owner', organization);
    expect((await world.summaryFor(owner)).summary.invoices).toEqual({ open: 2, overdue: 1, is_partial: false });
  });
});
