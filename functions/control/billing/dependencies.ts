import { createMessageQueue } from '../../../shared/aws/message-queue.ts';
import { createAllInvoicesStore } from '../../../shared/billing/all-invoices-store.ts';
import { createBilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { createBillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import { type BillingTasks, createBillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { createCreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import { createExportStore } from '../../../shared/billing/export-store.ts';
import { createInvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../../shared/billing/number-store.ts';
import { createRerateStore } from '../../../shared/billing/rerate-store.ts';
import type { RecordTable } from '../../../shared/database/record-table.ts';
import { createPromiseStore } from '../../../shared/service-levels/promise-store.ts';
import { type Currency, currencyOf } from './currency.ts';
import { createSignDownload } from './downloads/download.ts';

interface BillingResources {
  table: RecordTable;
  /** The name of the bucket with invoices and exports. */
  bucket: string;
  /** The URL of the queue of the function `billing`. */
  queueUrl: string;
}

/** Creates the stores and services of billing. */
export const createBillingDependencies = ({ table, bucket, queueUrl }: BillingResources) => {
  const settings = createBillingSettingsStore(table);
  const billingTasks: BillingTasks = createBillingTasks(createMessageQueue(queueUrl));
  return {
    settings,
    invoices: createInvoiceStore(table),
    allInvoices: createAllInvoicesStore(table),
    billed: createBilledMonthsStore(table),
    numbers: createNumberStore(table),
    creditNotes: createCreditNoteStore(table),
    exports: createExportStore(table),
    rerates: createRerateStore(table),
    servicePromises: createPromiseStore(table),
    billingTasks,
    signDownload: createSignDownload(bucket),
    /** The currency of all prices. */
    currency: async (): Promise<Currency> => currencyOf(await settings.getSeller()),
  };
};

export type BillingRouteDependencies = ReturnType<typeof createBillingDependencies>;
