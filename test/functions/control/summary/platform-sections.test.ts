import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { setSuspended } from '../../../../functions/control/organizations/update-organization.ts';
import type { Summary } from '../../../../functions/control/summary/summary-resource.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../../../shared/billing/number-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { Ticket } from '../../../../shared/tickets/ticket.ts';
import { createTicketStore } from '../../../../shared/tickets/ticket-store.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { NOW } from '../usage/usage-fixtures.ts';
import { type SummaryWorld, startSummaryWorld } from './summary-world.ts';

let world: SummaryWorld;
beforeAll(async () => {
  world = await startSummaryWorld();
});
afterAll(() => world.close());
afterEach(() => {
  jest.restoreAllMocks();
});

const table = (name: string) => createRecordTable(world.emulator.database, world.emulator.tables[name] as string);

const NEW_MODEL = {
  name: 'small',
  status: 'published' as const,
  created: 0,
  context_length: 1_000,
  max_output_tokens: 100,
  default_output_tokens: 50,
  targets: [{ endpoint: 'e' }] as [{ endpoint: string }],
  prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
};

describe('a summary of the platform', () => {
  test('sums up the deployments and invoices of all organizations', async () => {
    const { summary: before } = await world.summaryFor(world.admin);
    for (const organization of [await world.newOrganization(), await world.newOrganization()]) {
      await storeDeployment(world.emulator, { organization, state: 'creating' });
      const invoices = createInvoiceStore(table('Billing'));
      const issued = { month: '2026-09', state: 'issued', issued_at: NOW - DAY_MS } as const;
      await transact(world.emulator.database, invoices.toCreate(newInvoice({ organization })));
      await transact(world.emulator.database, invoices.toCreate(newInvoice({ organization, ...issued, due_at: NOW - 1 })));
    }
    const { summary: after } = await world.summaryFor(world.admin);
    const counts = ({ deployments, invoices }: Summary) => [
      deployments?.states.creating ?? 0,
      invoices?.drafts ?? 0,
      invoices?.open ?? 0,
      invoices?.overdue ?? 0,
    ];
    expect(counts(after)).toEqual(counts(before).map((count) => count + 2));
  });

  test('counts the suspended ones of the newest organizations', async () => {
    const suspended = async () => (await world.summaryFor(world.admin)).summary.organizations?.suspended ?? 0;
    const before = await suspended();
    const organization = await world.newOrganization();
    expect(await suspended()).toBe(before);
    await setSuspended(world.stores, world.admin.origin, organization, { isSuspended: true, reason: 'Overdue.' });
    expect(await suspended()).toBe(before + 1);
  });

  test('follows the first model, organization, owner, key, request and invoice', async () => {
    const fresh = await startSummaryWorld();
    const done = async () => (await fresh.summaryFor(fresh.admin)).summary.onboarding;
    try {
      const nothing = {
        has_model: false,
        has_organization: false,
        has_owner: false,
        has_key: false,
        has_request: false,
        has_invoice: false,
      };
      expect(await done()).toEqual(nothing);
      const organization = await fresh.newOrganization();
      expect(await done()).toEqual({ ...nothing, has_organization: true });
      const owner = await fresh.newUser('owner', organization);
      expect(await done()).toMatchObject({ has_owner: true, has_key: false });
      const { id } = await createApiKey(fresh.stores, owner, NewApiKey.parse({ name: 'key' }));
      expect(await done()).toMatchObject({ has_key: true, has_request: false });
      await noteUse(fresh.emulator, id, NOW);
      expect(await done()).toMatchObject({ has_request: true, has_invoice: false });
      await fresh.newOrganization();
      expect(await done()).toMatchObject({ has_owner: true, has_request: true });
      const numbers = createNumberStore(createRecordTable(fresh.emulator.database, fresh.emulator.tables.Billing as string));
      await transact(fresh.emulator.database, [numbers.toTake('invoice', 0)]);
      expect(await done()).toMatchObject({ has_invoice: true, has_model: false });
      await fresh.emulator.models.put(SERVERLESS_POOL, NEW_MODEL);
      expect(await done()).toMatchObject({ has_model: true });
    } finally {
      await fresh.close();
    }
  });
});

describe('the section tickets', () => {
  const newTicket = async (organization: string, fields: Partial<Ticket>): Promise<Ticket> => {
    const id = newTimedId('ticket', NOW);
    const ticket: Ticket = {
      id,
      organization,
      subject: 'It fails.',
      severity: 'normal',
      category: 'api',
      status: 'open',
      created_by: 'user_1',
      assignee: null,
      created_at: NOW,
      updated_at: NOW,
      closes_at: null,
      clocks: {
        first_response_due_at: NOW + HOUR_MS,
        first_response_at: null,
        resolution_due_at: NOW + 2 * HOUR_MS,
        resolution_running_since: NOW,
        resolution_used_ms: 0,
      },
      email: 'ann@example.com',
      evidence: [],
      message_count: 1,
      version: 1,
      ...fields,
    };
    const tickets = createTicketStore(world.emulator.database, world.emulator.tables.Tickets as string, table('Tickets'));
    await transact(world.emulator.database, tickets.toCreate(ticket));
    return ticket;
  };

  test('counts the visible tickets that wait for the customer', async () => {
    const organization = await world.newOrganization();
    const [owner, member] = [await world.newUser('owner', organization), await world.newUser('member', organization)];
    await newTicket(organization, { status: 'waiting_on_customer', created_by: owner.userId });
    await newTicket(organization, { status: 'waiting_on_customer', created_by: member.userId });
    await newTicket(organization, { status: 'open', created_by: member.userId });
    expect((await world.summaryFor(owner)).summary.tickets).toEqual({ waiting_on_me: 2, is_partial: false });
    expect((await world.summaryFor(member)).summary.tickets).toEqual({ waiting_on_me: 1, is_partial: false });
  });

  test('counts the tickets of the caller and of nobody for support, and names the earliest clock', async () => {
    const support = await world.newUser('support', null);
    const { tickets: before } = (await world.summaryFor(support)).summary;
    const organization = await world.newOrganization();
    const answered = {
      first_response_due_at: 0,
      first_response_at: 1,
      resolution_due_at: NOW + 30 * SECOND_MS,
      resolution_running_since: NOW,
      resolution_used_ms: 0,
    };
    const first = await newTicket(organization, { status: 'waiting_on_support', assignee: support.userId, clocks: answered });
    await newTicket(organization, {});
    await newTicket(organization, { assignee: 'user_other' });
    await newTicket(organization, { status: 'waiting_on_customer', assignee: support.userId });
    expect((await world.summaryFor(support)).summary.tickets).toEqual({
      waiting_on_me: 1,
      unassigned: (before?.unassigned ?? 0) + 1,
      breaching_next: { id: first.id, clock: 'resolution', due_at: Math.floor((NOW + 30 * SECOND_MS) / SECOND_MS) },
      is_partial: false,
    });
  });
});
