import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { invoiceIdOf } from '../../../functions/billing/close/invoice-id.ts';
import { createBilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { createInvoiceStore, InvoiceExists, type InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase;
let invoices: InvoiceStore;
let organization: string;
beforeAll(async () => {
  database = await startTestDatabase();
  invoices = createInvoiceStore(createRecordTable(database.database, database.tables.Billing as string));
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  organization = newId('organization');
});

const LINE: InvoiceLine = {
  kind: 'tokens',
  description: 'small, prompt tokens',
  month: '2026-10',
  is_correction: false,
  model: 'small',
  token_kind: 'prompt',
  deployment: null,
  deployment_name: null,
  instance_type: null,
  price_version: 'price_1',
  quantity: 2n ** 70n,
  unit: 'token',
  unit_price_nanos: 100n,
  amount_nanos: -(2n ** 62n) - 1n,
};

const invoice = (month: string, attempt = 0, facts: Partial<Invoice> = {}): Invoice => ({
  id: invoiceIdOf(organization, month, attempt),
  organization,
  month,
  state: 'draft',
  number: null,
  currency: 'USD',
  currency_symbol: '$',
  seller: null,
  buyer: { legal_name: 'Ada', address: null, tax_id: null, email: null },
  purchase_order: null,
  payment_terms_days: 30,
  payment_instructions: null,
  lines: [LINE],
  subtotal_nanos: 0n,
  tax_nanos: 0n,
  total_nanos: 0n,
  carried_forward_nanos: 0n,
  credited_nanos: 0n,
  inputs_sha256: 'abc',
  inputs: null,
  replaced: [],
  release: 'test',
  created_at: 1,
  issued_at: null,
  due_at: null,
  paid_at: null,
  payment_reference: null,
  voided_at: null,
  void_reason: null,
  files: {},
  version: 1,
  ...facts,
});
const create = async (...all: Invoice[]): Promise<void> => transact(database.database, all.flatMap(invoices.toCreate));

describe('an invoice', () => {
  test('is read as it was written, with integers of any size', async () => {
    const written = invoice('2026-10', 0, { replaced: [{ month: '2026-10', before: null }] });
    await create(written);
    expect(await invoices.get(organization, written.id)).toEqual(written);
  });

  test('can have ten thousand lines', async () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => ({ ...LINE, model: `model-${i}`, amount_nanos: BigInt(i) * 1_234_567n }));
    const written = invoice('2026-10', 0, { lines });
    await create(written);
    expect((await invoices.get(organization, written.id)).lines).toEqual(lines);
  });

  test('is a 404 for another organization', async () => {
    const { id } = invoice('2026-10');
    await create(invoice('2026-10'));
    await expect(invoices.get(newId('organization'), id)).rejects.toMatchObject({ status: 404 });
  });

  test('is created once', async () => {
    await create(invoice('2026-10'));
    await expect(create(invoice('2026-10'))).rejects.toThrow(InvoiceExists);
  });

  test('can change only in its state, payment, credit and files once it is issued', async () => {
    await create(invoice('2026-10'));
    const draft = await invoices.get(organization, invoice('2026-10').id);
    await transact(database.database, [...invoices.toReplace(draft, { state: 'issued', number: 'INV-000001', total_nanos: 10_000_000n })]);
    const issued = await invoices.get(organization, draft.id);
    expect(issued).toMatchObject({ state: 'issued', version: 2 });
    expect(() => invoices.toReplace(issued, { total_nanos: 0n })).toThrow("is issued, so total_nanos can't change");
    expect(() => invoices.toReplace(issued, { lines: [] })).toThrow("lines can't change");
    await transact(database.database, [...invoices.toReplace(issued, { state: 'paid', paid_at: 5 })]);
    expect(await invoices.get(organization, draft.id)).toMatchObject({ state: 'paid', paid_at: 5, total_nanos: 10_000_000n, version: 3 });
  });

  test('is not replaced if another change came first', async () => {
    await create(invoice('2026-10'));
    const read = await invoices.get(organization, invoice('2026-10').id);
    await transact(database.database, [...invoices.toReplace(read, { state: 'issued' })]);
    await expect(transact(database.database, [...invoices.toReplace(read, { state: 'issued' })])).rejects.toMatchObject({ status: 412 });
  });
});

test('lists invoices newest first, page by page, and by month', async () => {
  await create(invoice('2026-09'), invoice('2026-10'), invoice('2026-10', 1), invoice('2026-11'));
  const first = await invoices.list(organization, { limit: 3 });
  expect(first.invoices.map(({ id }) => id)).toEqual([
    invoiceIdOf(organization, '2026-11', 0),
    invoiceIdOf(organization, '2026-10', 1),
    invoiceIdOf(organization, '2026-10', 0),
  ]);
  const second = await invoices.list(organization, { limit: 3, after: first.next as string });
  expect(second).toMatchObject({ hasMore: false, next: null, invoices: [{ month: '2026-09' }] });
  expect(await invoices.ofMonth(organization, '2026-10')).toHaveLength(2);
});

test('never replaces the sums of a day that were read for an invoice', async () => {
  const billed = createBilledMonthsStore(createRecordTable(database.database, database.tables.Billing as string));
  const day = { events: 1, cost_nanos: 2n ** 60n + 1n, gpu_seconds: 0n, gpu_cost_nanos: 0n, sha256: 'a' };
  await transact(database.database, billed.toKeepDay(organization, 'inv_1', '2026-10-01', day));
  const again = billed.toKeepDay(organization, 'inv_1', '2026-10-01', { ...day, sha256: 'b' });
  await expect(transact(database.database, again)).rejects.toMatchObject({ status: 412 });
  expect(await billed.readDays(organization, 'inv_1')).toEqual(new Map([['2026-10-01', day]]));
});
