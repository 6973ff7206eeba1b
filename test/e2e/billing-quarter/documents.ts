import { type CloseDependencies, closeMonth } from '../../../functions/billing/close/close-month.ts';
import { noTaxes } from '../../../functions/billing/close/taxes.ts';
import { renderDocument } from '../../../functions/billing/render/render-document.ts';
import { createCreditNote } from '../../../functions/control/billing/credit-notes/create-credit-note.ts';
import { voidInvoice } from '../../../functions/control/billing/invoices/change-invoice.ts';
import { type Verification, verifyInvoice } from '../../../infra/tools/admin/verify-invoice.ts';
import type { BillingFiles } from '../../../shared/billing/billing-files.ts';
import type { BillingTask } from '../../../shared/billing/billing-tasks.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { CreditStore } from '../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { createPromiseStore } from '../../../shared/service-levels/promise-store.ts';
import { testFonts } from '../../functions/billing/documents.ts';
import type { BillingDeps } from '../../functions/control/billing/billing-fixtures.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { storeUser } from '../../support/fixtures/stored-users.ts';
import type { Ingestion } from './ingestion.ts';

const createFiles = () => {
  const files = new Map<string, Buffer>();
  return {
    put: async (key: string, content: Uint8Array) => void files.set(key, Buffer.from(content)),
    putOnce: async (key: string, content: Uint8Array) => {
      const stored = files.get(key) ?? Buffer.from(content);
      files.set(key, stored);
      return stored;
    },
    get: async (key: string) => {
      const content = files.get(key);
      if (!content) throw new Error(`There is no file ${key}.`);
      return content;
    },
    delete: (key: string) => void files.delete(key),
  };
};

interface DocumentDependencies {
  test: TestDatabase;
  ingestion: Ingestion;
  catalogue: ReturnType<typeof createCatalogueStore>;
  billing: BillingDeps;
  credit: CreditStore;
  now: () => number;
}

/** Makes and changes invoices and credit notes with the code of the service. */
export const openDocuments = async ({ test, ingestion, catalogue, billing, credit, now }: DocumentDependencies) => {
  const { database, tables, models, limiters } = test;
  const { usage, gpuEvents, totals, rollups } = ingestion;
  const { invoices, creditNotes, billed: billedMonths, billingTasks: tasks } = billing;
  const files = createFiles();
  const nameOf = async (id: string): Promise<string> => `Organization ${id}`;
  const admin = await storeUser(billing, { role: 'admin', organization: null });
  const actor = () => ({ ...admin, origin: { ...admin.origin, nowMs: now() } });
  const control = { ...billing, nameOf };
  const servicePromises = createPromiseStore(createRecordTable(database, tables.Billing as string));

  const closing: CloseDependencies = {
    ...{ ...control, billedMonths, limiters, usage, gpuEvents, rollups, models, catalogue, totals, tasks, credit, servicePromises, now },
    files: files satisfies BillingFiles,
    organizations: { getMany: async (ids) => ids.map((id) => ({ id, name: id, createdAtMs: Date.parse('2026-09-01') })) },
    taxes: noTaxes,
    release: 'test',
    hasTime: () => true,
  };

  /** A close, which is repeated at once, as a task that is delivered twice. */
  const close = async (organization: string, month: string): Promise<void> => {
    for (let times = 0; times < 2; times++) await closeMonth(closing, { organization, month });
  };

  const invoiceOf = async (organization: string, month: string): Promise<Invoice> => {
    const invoice = (await invoices.ofMonth(organization, month)).find(({ state }) => state !== 'void');
    if (!invoice) throw new Error(`${organization} has no invoice for ${month}.`);
    return invoice;
  };

  return {
    files,
    close,

    render: (task: BillingTask & { task: 'render' }): Promise<void> =>
      renderDocument({ database, invoices, creditNotes, files, fonts: testFonts }, task),

    annul: async (organization: string, month: string): Promise<void> => {
      const { id } = await invoiceOf(organization, month);
      await voidInvoice(control, actor(), id, { reason: 'Wrong address.' }, undefined);
    },

    credit: async (organization: string, month: string, nanos: bigint): Promise<void> => {
      const { id } = await invoiceOf(organization, month);
      await createCreditNote(control, actor(), id, { amount: dollarsOf(nanos), reason: 'An outage.' });
    },

    verify: (id: string): Promise<Verification> =>
      verifyInvoice({ limiters, usage, gpuEvents, rollups, invoices, billedMonths, creditNotes, credit, files }, id),

    /**
     * Removes the invoice with the last number, its files and what was read for it, as if its month had never been
     * closed.
     */
    forget: async (invoice: Invoice): Promise<void> => {
      const { id, organization, month } = invoice;
      await transact(database, await billedMonths.toRestore(invoice));
      const read = [...(await billedMonths.readDays(organization, id)).keys()].map((day) => ({
        account: organization,
        record: `read#${id}#${day}`,
      }));
      const places = [{ account: id, record: 'invoice' }, { account: organization, record: `invoice#${month}#${id}` }, ...read];
      for (const Key of places) await database.delete({ TableName: tables.Billing as string, Key });
      for (const { key } of Object.values(invoice.files)) files.delete(key);
      await database.update({
        TableName: tables.Billing as string,
        Key: { account: 'platform', record: 'number#invoice' },
        UpdateExpression: 'SET version = version - :one',
        ExpressionAttributeValues: { ':one': 1 },
      });
    },
  };
};
