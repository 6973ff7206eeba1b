import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { limitOrganization } from '../../../../functions/control/organizations/update-organization.ts';
import { MAX_ROWS } from '../../../../functions/control/summary/bounded-rows.ts';
import { summarize } from '../../../../functions/control/summary/summarize.ts';
import { Summary } from '../../../../functions/control/summary/summary-resource.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { ROLES } from '../../../../shared/hosts/permissions.ts';
import { createDeliveryStore } from '../../../../shared/notifications/delivery-store.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { noTotals } from '../../../../shared/usage/totals.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { eventOf, NOW, rowsOf } from '../usage/usage-fixtures.ts';
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

const newKey = (actor: Actor, fields: object = {}) => createApiKey(world.stores, actor, NewApiKey.parse({ name: 'key', ...fields }));

const addUsage = async (organization: string, events: readonly Parameters<typeof eventOf>[1][]): Promise<void> => {
  const totals = createOrganizationTotalsStore(world.emulator.database, world.emulator.tables.Usage as string);
  const rows = rowsOf(
    events.map((facts) => eventOf(organization, facts)),
    ['hour', 'day'],
    ['model', 'key'],
  );
  for (const row of rows) await totals.put(row);
};

describe('a summary', () => {
  test.each([
    ['member', ['api_keys', 'costs', 'deployments', 'onboarding', 'requests', 'tickets']],
    ['viewer', ['api_keys', 'budget', 'costs', 'credit', 'deployments', 'invoices', 'requests', 'tickets', 'webhooks']],
    ['billing', ['budget', 'costs', 'credit', 'invoices', 'tickets']],
    ['owner', ['api_keys', 'budget', 'costs', 'credit', 'deployments', 'invoices', 'onboarding', 'requests', 'tickets', 'webhooks']],
    ['support', ['tickets']],
    ['platform_billing', []],
    ['admin', ['onboarding', 'tickets']],
  ] as const)('has the sections of the permissions of the role %s', async (role, sections) => {
    const isOfPlatform = ['support', 'platform_billing', 'admin'].includes(role);
    const actor = await world.newUser(role, isOfPlatform ? null : await world.newOrganization());
    const { summary } = await world.summaryFor(actor);
    const { object, created_at, organization, unavailable, ...shown } = Summary.strict().parse(summary);
    expect({ object, created_at, organization, unavailable }).toEqual({
      object: 'summary',
      created_at: Math.floor(NOW / SECOND_MS),
      organization: actor.organization,
      unavailable: [],
    });
    expect(Object.keys(shown).sort()).toEqual(sections);
    expect(Object.values(shown)).not.toContain(null);
  });

  test('covers every role', () => {
    expect(ROLES).toEqual(['member', 'viewer', 'billing', 'owner', 'support', 'platform_billing', 'admin']);
  });

  test('leaves out what a service account was not given', async () => {
    const owner = await world.newUser('owner', await world.newOrganization());
    const { summary } = await world.summaryFor({ ...owner, kind: 'service_account', permissions: new Set(['account:read', 'usage:read']) });
    expect(Object.keys(summary).sort()).toEqual(['budget', 'costs', 'created_at', 'object', 'organization', 'unavailable']);
  });

  test('has the sections that can be read if a table is away, and names the others', async () => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const owner = await world.newUser('owner', await world.newOrganization());
    const { summary } = await world.without('Usage', () => world.summaryFor(owner));
    expect(summary).toMatchObject({ unavailable: ['costs', 'requests'], costs: null, requests: null, api_keys: { open: 0 } });
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toMatchObject([
      { message: 'summary_section_failed', section: 'costs' },
      { message: 'summary_section_failed', section: 'requests' },
    ]);
  });

  test('lacks a section that would read too many rows, instead of a number that is too small', async () => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const rows = Array.from({ length: MAX_ROWS + 1 }, () => ({ startMs: NOW, model: 'small', totals: noTotals() }));
    const organizationTotals = {
      list: async function* () {
        yield* rows as never[];
      },
    };
    const owner = await world.newUser('owner', await world.newOrganization());
    const { unavailable, costs, requests } = await summarize({ ...world.deps, organizationTotals }, owner);
    expect({ unavailable, costs, requests }).toEqual({ unavailable: ['costs', 'requests'], costs: null, requests: null });
    expect(JSON.parse(String(write.mock.calls[0]?.[0]))).toMatchObject({ level: 'INFO', message: 'summary_section_too_large' });
    rows.pop();
    expect((await summarize({ ...world.deps, organizationTotals }, owner)).unavailable).toEqual([]);
  });

  test('is read with at most 16 calls of the database', async () => {
    const organization = await world.newOrganization();
    const owner = await world.newUser('owner', organization);
    const { id: key } = await newKey(owner);
    await addUsage(organization, [{ atMs: NOW - HOUR_MS, key, model: 'small' }]);
    await storeDeployment(world.emulator, { organization, state: 'in_service' });
    await transact(world.emulator.database, createInvoiceStore(table('Billing')).toCreate(newInvoice({ organization })));
    for (const role of ['owner', 'viewer', 'member'] as const) {
      const actor = role === 'owner' ? owner : await world.newUser(role, organization);
      const { summary, calls } = await world.summaryFor(actor);
      expect(summary.unavailable).toEqual([]);
      expect(calls).toBeLessThanOrEqual(16);
    }
    for (const role of ['support', 'admin', 'platform_billing'] as const)
      expect((await world.summaryFor(await world.newUser(role, null))).calls).toBeLessThanOrEqual(12);
  });
});

const table = (name: string) => createRecordTable(world.emulator.database, world.emulator.tables[name] as string);

describe('the sections of usage', () => {
  test('show owners the costs and requests of the organization, and members those of their keys', async () => {
    const organization = await world.newOrganization();
    const [owner, member] = [await world.newUser('owner', organization), await world.newUser('member', organization)];
    const [ofOwner, ofMember] = [await newKey(owner), await newKey(member)];
    await addUsage(organization, [
      { atMs: NOW, key: ofOwner.id, model: 'small', costNanos: DOLLAR },
      { atMs: NOW - 5 * HOUR_MS, key: ofMember.id, model: 'small', costNanos: 2n * DOLLAR },
      { atMs: NOW - 24 * HOUR_MS, key: ofMember.id, model: 'small', costNanos: 4n * DOLLAR },
      { atMs: NOW - 30 * DAY_MS, key: ofMember.id, model: 'small', costNanos: 8n * DOLLAR },
    ]);
    expect((await world.summaryFor(owner)).summary).toMatchObject({
      costs: { today: '3', month_to_date: '7', last_month: '8' },
      requests: { requests: 2, errors: 0, refusals: 0 },
    });
    expect((await world.summaryFor(member)).summary).toMatchObject({
      costs: { today: '2', month_to_date: '6', last_month: '8' },
      requests: { requests: 1, errors: 0, refusals: 0 },
    });
  });

  test('show nothing of another organization', async () => {
    const [organization, other] = [await world.newOrganization(), await world.newOrganization()];
    await addUsage(other, [{ atMs: NOW, key: 'key_other', model: 'small', costNanos: DOLLAR }]);
    expect((await world.summaryFor(await world.newUser('owner', organization))).summary).toMatchObject({
      costs: { today: '0', month_to_date: '0' },
      requests: { requests: 0 },
    });
  });
});

describe('the section api_keys', () => {
  test('counts active keys, those that expire within a week, and how many more are allowed', async () => {
    const organization = await world.newOrganization();
    const [owner, member] = [await world.newUser('owner', organization), await world.newUser('member', organization)];
    const inDays = (days: number): number => Math.floor((NOW + days * DAY_MS) / SECOND_MS);
    await newKey(owner);
    await newKey(owner, { expires_at: inDays(8) });
    await newKey(member, { expires_at: inDays(6) });
    const revoked = await newKey(member, { expires_at: inDays(6) });
    await revokeApiKey(world.stores, member, revoked.id);
    expect((await world.summaryFor(owner)).summary.api_keys).toEqual({ open: 3, expiring_soon: 1, left: 997 });
    expect((await world.summaryFor(member)).summary.api_keys).toEqual({ open: 1, expiring_soon: 1, left: 4 });
  });
});

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
    });
  });
});

describe('the section webhooks', () => {
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
    await givenUp(organization, 'dlv_1', NOW - 1);
    await givenUp(organization, 'dlv_2', NOW - DAY_MS);
    await givenUp(organization, 'dlv_3', NOW - DAY_MS - 1);
    await givenUp(await world.newOrganization(), 'dlv_4', NOW - 1);
    expect((await world.summaryFor(owner)).summary.webhooks).toEqual({ failed_deliveries_24h: 2, disabled: 0 });
  });
});

describe('the section invoices', () => {
  test('counts issued invoices that are not paid, and no drafts', async () => {
    const organization = await world.newOrganization();
    const invoices = createInvoiceStore(table('Billing'));
    const issued = { state: 'issued', issued_at: NOW - 40 * DAY_MS } as const;
    for (const fields of [
      { month: '2026-10' },
      { month: '2026-09', ...issued, due_at: NOW + 1 },
      { month: '2026-08', ...issued, due_at: NOW - 1 },
      { month: '2026-07', ...issued, state: 'paid', due_at: NOW - 1 },
    ] as const)
      await transact(world.emulator.database, invoices.toCreate(newInvoice({ organization, ...fields })));
    const owner = await world.newUser('owner', organization);
    expect((await world.summaryFor(owner)).summary.invoices).toEqual({ open: 2, overdue: 1, is_partial: false });
  });
});

describe('the section onboarding', () => {
  test.each(['owner', 'member'] as const)('follows the first key and the first request of a %s', async (role) => {
    const organization = await world.newOrganization();
    const actor = await world.newUser(role, organization);
    const other = await newKey(await world.newUser('member', await world.newOrganization()));
    await noteUse(world.emulator, other.id, NOW);
    const done = async () => (await world.summaryFor(actor)).summary.onboarding;
    expect(await done()).toEqual({ has_key: false, has_request: false });
    const { id } = await newKey(actor);
    expect(await done()).toEqual({ has_key: true, has_request: false });
    await noteUse(world.emulator, id, NOW);
    expect(await done()).toEqual({ has_key: true, has_request: true });
  });
});
