import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { MAX_ROWS } from '../../../../functions/control/summary/bounded-rows.ts';
import { summarize } from '../../../../functions/control/summary/summarize.ts';
import { Summary } from '../../../../functions/control/summary/summary-resource.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { ROLES } from '../../../../shared/hosts/permissions.ts';
import { HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { noTotals } from '../../../../shared/usage/totals.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { eventOf, NOW, rowsOf } from '../usage/usage-fixtures.ts';
import { type SummaryWorld, startSummaryWorld } from './summary-world.ts';

const MAX_CALLS = 20;

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

const table = (name: string) => createRecordTable(world.emulator.database, world.emulator.tables[name] as string);

describe('a summary', () => {
  test.each([
    ['member', ['api_keys', 'costs', 'deployments', 'onboarding', 'requests', 'tickets']],
    ['viewer', ['api_keys', 'budget', 'costs', 'credit', 'deployments', 'invoices', 'requests', 'tickets', 'webhooks']],
    ['billing', ['budget', 'costs', 'credit', 'invoices', 'tickets']],
    ['owner', ['api_keys', 'budget', 'costs', 'credit', 'deployments', 'invoices', 'onboarding', 'requests', 'tickets', 'webhooks']],
    ['support', ['tickets']],
    ['platform_billing', ['invoices', 'organizations']],
    ['admin', ['deployments', 'invoices', 'onboarding', 'organizations', 'tickets']],
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

  test('has the sections that can be read if a table is unavailable, and names the others', async () => {
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

  test('is read with at most 20 calls of the database', async () => {
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
      expect(calls).toBeLessThanOrEqual(MAX_CALLS);
    }
    for (const role of ['support', 'admin', 'platform_billing'] as const)
      expect((await world.summaryFor(await world.newUser(role, null))).calls).toBeLessThanOrEqual(MAX_CALLS);
  });
});
