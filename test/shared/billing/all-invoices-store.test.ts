import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AllInvoicesStore, createAllInvoicesStore } from '../../../shared/billing/all-invoices-store.ts';
import type { Invoice, InvoiceState } from '../../../shared/billing/invoice.ts';
import { createInvoiceStore, type InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newInvoice } from '../../support/fixtures/invoices.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase | undefined;
let invoices: InvoiceStore;
let all: AllInvoicesStore;
// Each test has its own tables, because the list is one for all organizations.
beforeEach(async () => {
  await database?.close();
  database = await startTestDatabase();
  const table = createRecordTable(database.database, database.tables.Billing as string);
  invoices = createInvoiceStore(table);
  all = createAllInvoicesStore(table);
});
afterAll(async () => {
  await database?.close();
});

const write = (writes: Parameters<typeof transact>[1]): Promise<void> => transact((database as TestDatabase).database, writes);

const create = async (fields: Partial<Invoice> = {}): Promise<Invoice> => {
  const invoice = newInvoice({ organization: newId('organization'), ...fields });
  await write(invoices.toCreate(invoice));
  return invoice;
};

const change = async ({ id }: Invoice, changes: Partial<Invoice>): Promise<void> =>
  write(invoices.toReplace((await invoices.find(id)) as Invoice, changes));

const idsIn = async (filter: Parameters<AllInvoicesStore['page']>[0] = {}): Promise<string[]> =>
  (await all.page(filter, { limit: 100 })).entries.map(({ id }) => id);

describe('the list of all invoices', () => {
  test('has an invoice in its state only, from its creation on', async () => {
    const invoice = await create();
    const listedIn = async (): Promise<InvoiceState[]> => {
      const states: InvoiceState[] = [];
      for (const state of ['draft', 'issued', 'paid', 'void'] as const)
        if ((await idsIn({ state })).includes(invoice.id)) states.push(state);
      return states;
    };
    expect(await listedIn()).toEqual(['draft']);
    for (const state of ['issued', 'paid'] as const) {
      await change(invoice, { state });
      expect(await listedIn()).toEqual([state]);
    }
    await change(invoice, { credited_nanos: 1n });
    expect(await listedIn()).toEqual(['paid']);
    const other = await create();
    await change(other, { state: 'void' });
    expect(await idsIn({ state: 'void' })).toEqual([other.id]);
  });

  test('keeps an entry if the change of the invoice is refused', async () => {
    const invoice = await create();
    await expect(write(invoices.toReplace({ ...invoice, version: 7 }, { state: 'issued' }))).rejects.toMatchObject({ status: 412 });
    expect(await idsIn({ state: 'draft' })).toEqual([invoice.id]);
    expect(await idsIn({ state: 'issued' })).toEqual([]);
  });

  test('has the latest month first, in pages, with and without a state and a month', async () => {
    const months = ['2026-08', '2026-10', '2026-09', '2026-10'];
    const [august, october, september, alsoOctober] = await Promise.all(months.map((month) => create({ month })));
    await change(september as Invoice, { state: 'issued' });
    const octobers = [october, alsoOctober]
      .map((invoice) => invoice?.id)
      .toSorted()
      .reverse();
    const expected = [...octobers, september?.id, august?.id];
    expect(await idsIn()).toEqual(expected);
    expect(await idsIn({ state: 'draft' })).toEqual([...octobers, august?.id]);
    expect(await idsIn({ month: '2026-10' })).toEqual(octobers);
    expect(await idsIn({ month: '2026-09', state: 'draft' })).toEqual([]);
    for (const filter of [{}, { month: '2026-10' }]) {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const { entries, next } = await all.page(filter, { limit: 1, after });
        found.push(...entries.map(({ id }) => id));
        after = next ?? undefined;
      } while (after !== undefined);
      expect(found).toEqual(await idsIn(filter));
    }
  });

  test('counts drafts, and those that wait for payment or are late', async () => {
    const nowMs = Date.UTC(2026, 10, 20);
    const [, onTime, late, paid] = await Promise.all([create(), create(), create(), create()]);
    await change(onTime as Invoice, { state: 'issued', due_at: nowMs });
    await change(late as Invoice, { state: 'issued', due_at: nowMs - 1 });
    await change(paid as Invoice, { state: 'issued', due_at: nowMs - 1 });
    await change(paid as Invoice, { state: 'paid' });
    expect(await all.countOpen(nowMs)).toEqual({ drafts: 1, open: 2, overdue: 1, isComplete: true });
  });

  test('does not count those of which nothing is left to pay: a total of 0, or credited whole', async () => {
    const nowMs = Date.UTC(2026, 10, 20);
    const before = await all.countOpen(nowMs);
    const [nothing, credited] = await Promise.all([create({ total_nanos: 0n }), create({ total_nanos: 5n })]);
    await change(nothing as Invoice, { state: 'issued', due_at: nowMs - 1 });
    await change(credited as Invoice, { state: 'issued', due_at: nowMs - 1 });
    expect(await all.countOpen(nowMs)).toEqual({ ...before, open: before.open + 1, overdue: before.overdue + 1 });
    await change(credited as Invoice, { credited_nanos: 5n });
    expect(await all.countOpen(nowMs)).toEqual(before);
  });

  test('gets no correction for an invoice that is listed right', async () => {
    expect(await all.toCorrect([await create()])).toEqual([]);
  });
});
