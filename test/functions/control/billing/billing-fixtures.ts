import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createAllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import { createBilledMonthsStore } from '../../../../shared/billing/billed-months-store.ts';
import { createBillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { type BillingTask, createBillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { createCreditNoteStore } from '../../../../shared/billing/credit-note-store.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../../../shared/billing/number-store.ts';
import { Seller } from '../../../../shared/billing/seller.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createOutbox } from '../../../../shared/notifications/outbox.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newInvoice } from '../../../support/fixtures/invoices.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

export const NOW = Date.UTC(2026, 10, 2, 9, 0, 0);
export const DOLLAR = 1_000_000_000n;
export const MONTH = '2026-10';

/**
 * The dependencies of the control plane's billing rules, over the emulator or another database; their tasks are in
 * `sent`.
 */
export const billingDepsOf = (test: TestDatabase, over: Database = test.database) => {
  const billing = createRecordTable(over, test.tables.Billing as string);
  const notifications = createRecordTable(over, test.tables.Notifications as string);
  const stores = accountStores(test, over);
  const sent: BillingTask[] = [];
  const send = async ({ body }: { body: string }): Promise<void> => {
    sent.push(JSON.parse(body) as BillingTask);
  };
  return {
    ...stores,
    settings: createBillingSettingsStore(billing),
    invoices: createInvoiceStore(billing),
    allInvoices: createAllInvoicesStore(billing),
    billed: createBilledMonthsStore(billing),
    numbers: createNumberStore(billing),
    creditNotes: createCreditNoteStore(billing),
    outbox: createOutbox(notifications),
    billingTasks: createBillingTasks({ send }),
    signDownload: async (key: string, name: string): Promise<string> => `https://files.example.com/${key}?name=${name}`,
    nameOf: async (id: string): Promise<string> => (await stores.organizations.get(id)).name,
    sent,
    /** The types of an organization's notifications, in the order of their ids. */
    notified: async (organization: string): Promise<unknown[]> =>
      (await Array.fromAsync(notifications.all({ account: organization, prefix: 'notification#' }))).map(({ type }) => type),
    /** The actions in an organization's audit log, oldest first. */
    auditedIn: async (organization: string): Promise<string[]> =>
      (await stores.audit.list(organization, { limit: 100 })).data.map(({ action }) => action).reverse(),
  };
};
export type BillingDeps = ReturnType<typeof billingDepsOf>;

export const SELLER = Seller.parse({
  legal_name: 'Example Inference GmbH',
  address: { lines: ['Hafenstraße 1'], country: 'DE' },
  payment_terms_days: 14,
  issue: 'manual',
  version: 0,
});

/** Sets the seller of a database that has none. */
export const setSeller = ({ database, settings }: BillingDeps): Promise<void> => transact(database, [settings.toReplaceSeller(SELLER)]);

export const newAdmin = (deps: BillingDeps, nowMs = NOW): Promise<Actor> => storeUser(deps, { role: 'admin', organization: null, nowMs });

/** An organization with an owner. */
export const newCustomer = async (deps: BillingDeps, name = 'Acme') => {
  const admin = await newAdmin(deps, Date.UTC(2026, 8, 15));
  const { id: organization } = await createOrganization(deps, admin.origin, { name });
  return { organization, owner: await storeUser(deps, { role: 'owner', organization, nowMs: NOW }) };
};

/** Stores a draft for an organization's month, as the closing of the month writes it, with the usage that it billed. */
export const storeDraft = async (deps: BillingDeps, organization: string, fields: Partial<Invoice> = {}): Promise<Invoice> => {
  const draft = newInvoice({ organization, month: MONTH, ...fields });
  const { id, month } = draft;
  const state = await deps.billed.getState(organization);
  await transact(deps.database, [
    ...deps.invoices.toCreate(draft),
    deps.billed.toReplace({ organization, month, invoice: id, days: {}, suspected: [], version: 0 }),
    deps.billed.toReplaceState(organization, { ...state, last_closed_month: month }),
  ]);
  return draft;
};
