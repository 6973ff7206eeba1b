import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { checkInvoiceList, type ListCheckDependencies } from '../../../../functions/billing/due/check-invoice-list.ts';
import { createAllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import type { Invoice, InvoiceState } from '../../../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createOrganizationDirectory, DIRECTORY, LISTED } from '../../../../shared/billing/organization-directory.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const NOW = Date.UTC(2026, 10, 20);
const NEXT_MONTH = Date.UTC(2026, 11, 1);

let emulator: TestDatabase;
// With the permissions of the function.
let billing: Database;
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  emulator = await startTestDatabase();
  billing = await emulator.as('billing');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await emulator.close();
});

const tableOf = (name: string, over: Database) => createRecordTable(over, emulator.tables[name] as string);
const stores = (over: Database) => ({
  invoices: createInvoiceStore(tableOf('Billing', over)),
  allInvoices: createAllInvoicesStore(tableOf('Billing', over)),
});

const depsOf = (changes: Partial<ListCheckDependencies> = {}): ListCheckDependencies => ({
  database: billing,
  ...stores(billing),
  organizations: createOrganizationDirectory(tableOf('Accounts', billing)),
  now: () => NOW,
  hasTime: () => true,
  ...changes,
});

const newOrganization = async (): Promise<string> => {
  const id = newId('organization');
  await tableOf('Accounts', emulator.database).put({ account: DIRECTORY, record: LISTED + id }, {});
  return id;
};

const entryOf = ({ month, id }: Invoice, state: InvoiceState) => ({ account: 'invoices', record: `${state}#${month}#${id}` });

// As release 0.1.0 writes it: without an entry.
const createEarlier = async (organization: string, fields: Partial<Invoice> = {}): Promise<Invoice> => {
  const invoice = newInvoice({ organization, ...fields });
  await transact(emulator.database, stores(emulator.database).invoices.toCreate(invoice));
  await tableOf('Billing', emulator.database).remove(entryOf(invoice, invoice.state));
  return invoice;
};

const listed = async (state: InvoiceState): Promise<string[]> =>
  (await stores(emulator.database).allInvoices.page({ state }, { limit: 100 })).entries.map(({ id }) => id);

describe('checkInvoiceList', () => {
  test('lists the invoices that an earlier release has created, of all organizations', async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push((await createEarlier(one, { created_at: NOW + i })).id);
    ids.push((await createEarlier(other)).id);
    expect(await listed('draft')).toEqual([]);
    await checkInvoiceList(depsOf());
    expect((await listed('draft')).toSorted()).toEqual(ids.toSorted());
  });

  test('moves the entry of an invoice whose state an earlier release has changed', async () => {
    const invoice = await createEarlier(await newOrganization(), { state: 'paid' });
    await tableOf('Billing', emulator.database).put(entryOf(invoice, 'issued'), { id: invoice.id });
    await checkInvoiceList(depsOf());
    expect([await listed('issued'), await listed('paid')]).toEqual([[], [invoice.id]]);
  });

  test('counts an invoice no longer as open that an earlier release has listed, or credited whole', async () => {
    const organization = await newOrganization();
    const due = { state: 'issued', due_at: NOW - 1, total_nanos: 10_000_000n } as const;
    const paid = await createEarlier(organization, { ...due, total_nanos: 0n });
    const credited = await createEarlier(organization, { ...due, credited_nanos: 10_000_000n, created_at: NOW + 1 });
    const open = await createEarlier(organization, { ...due, created_at: NOW + 2 });
    await tableOf('Billing', emulator.database).put(entryOf(paid, 'issued'), { id: paid.id, due_at: paid.due_at });
    await tableOf('Billing', emulator.database).put(entryOf(credited, 'issued'), { id: credited.id, due_at: NOW - 1, is_open: true });
    await tableOf('Billing', emulator.database).put(entryOf(open, 'issued'), { id: open.id, due_at: open.due_at });
    await checkInvoiceList(depsOf());
    const { allInvoices } = stores(emulator.database);
    expect(await allInvoices.countOpen(NOW)).toEqual({ drafts: 0, open: 1, overdue: 1, isComplete: true });
    expect(await allInvoices.toCorrect([paid, credited, open])).toEqual([]);
  });

  test('checks once a month', async () => {
    const organization = await newOrganization();
    await checkInvoiceList(depsOf());
    const { id } = await createEarlier(organization);
    await checkInvoiceList(depsOf());
    expect(await listed('draft')).toEqual([]);
    await checkInvoiceList(depsOf({ now: () => NEXT_MONTH }));
    expect(await listed('draft')).toEqual([id]);
  });

  test('continues where a run without time ended, and says only then that it has finished', async () => {
    const organizations = await Promise.all(Array.from({ length: 101 }, newOrganization));
    const { id } = await createEarlier(organizations.toSorted().at(-1) as string);
    const { allInvoices } = depsOf();
    let batches = 0;
    await checkInvoiceList(depsOf({ hasTime: () => batches++ === 0 }));
    expect(await listed('draft')).toEqual([]);
    expect(await allInvoices.getCheck()).toEqual({ finished: null, after: organizations.toSorted()[99] });
    await checkInvoiceList(depsOf());
    expect(await listed('draft')).toEqual([id]);
    expect(await allInvoices.getCheck()).toEqual({ finished: '2026-11', after: null });
  });

  test('lists an invoice in the state that it came into while it was checked', async () => {
    const invoice = await createEarlier(await newOrganization());
    const { invoices } = stores(emulator.database);
    const deps = depsOf();
    const toCorrect: typeof deps.allInvoices.toCorrect = async (read) => {
      const corrections = await deps.allInvoices.toCorrect(read);
      const [first] = await invoices.getMany([invoice.id]);
      if (first?.version === 1) await transact(emulator.database, invoices.toReplace(invoice, { state: 'issued' }));
      return corrections;
    };
    await checkInvoiceList({ ...deps, allInvoices: { ...deps.allInvoices, toCorrect } });
    expect([await listed('draft'), await listed('issued')]).toEqual([[], [invoice.id]]);
  });

  test('does not finish while an invoice changes all the time', async () => {
    const invoice = await createEarlier(await newOrganization());
    const { invoices } = stores(emulator.database);
    const deps = depsOf();
    const toCorrect: typeof deps.allInvoices.toCorrect = async (read) => {
      const corrections = await deps.allInvoices.toCorrect(read);
      const current = (await invoices.find(invoice.id)) as Invoice;
      await transact(emulator.database, invoices.toReplace(current, { credited_nanos: BigInt(current.version) }));
      return corrections;
    };
    const changed = { ...deps, allInvoices: { ...deps.allInvoices, toCorrect } };
    await expect(checkInvoiceList(changed)).rejects.toThrow(`${invoice.id} were changed while they were checked`);
    expect(await deps.allInvoices.getCheck()).toEqual({ finished: null, after: null });
  });
});
