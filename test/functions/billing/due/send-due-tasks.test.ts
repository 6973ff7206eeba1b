import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createDueStore } from '../../../../functions/billing/due/due-store.ts';
import { type DueTaskDependencies, sendDueTasks } from '../../../../functions/billing/due/send-due-tasks.ts';
import { createMeterStore, NOT_METERED } from '../../../../functions/billing/meters/meter-store.ts';
import { createAllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import { createBilledMonthsStore } from '../../../../shared/billing/billed-months-store.ts';
import { type BillingTask, createBillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { nextMonth } from '../../../../shared/billing/month.ts';
import { createOrganizationDirectory, DIRECTORY, LISTED, placeOfOrganization } from '../../../../shared/billing/organization-directory.ts';
import { createCreditStore } from '../../../../shared/credit/credit-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createOutbox } from '../../../../shared/notifications/outbox.ts';
import { createSecretExpiries } from '../../../../shared/service-accounts/secret-expiries.ts';
import { createServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const NOW = Date.parse('2026-11-01T01:30:00Z');

let database: TestDatabase;
let lines: string[];
// Each test has its own tables, because the list of organizations is one for all.
beforeEach(async () => {
  database = await startTestDatabase();
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean(lines.push(String(text))));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await database.close();
});

const tableOf = (name: string): string => database.tables[name] as string;
const accounts = () => createRecordTable(database.database, tableOf('Accounts'));
const billing = () => createRecordTable(database.database, tableOf('Billing'));

const depsOf = (nowMs = NOW, over: Database = database.database) => {
  const sent: BillingTask[] = [];
  const deps: DueTaskDependencies = {
    database: over,
    allInvoices: createAllInvoicesStore(createRecordTable(over, tableOf('Billing'))),
    due: createDueStore(over, tableOf('Billing')),
    billedMonths: createBilledMonthsStore(createRecordTable(over, tableOf('Billing'))),
    invoices: createInvoiceStore(createRecordTable(over, tableOf('Billing'))),
    organizations: createOrganizationDirectory(createRecordTable(over, tableOf('Accounts'))),
    credit: createCreditStore(over, tableOf('Accounts')),
    tasks: createBillingTasks({ send: async ({ body }) => void sent.push(JSON.parse(body)) }),
    meters: createMeterStore(createRecordTable(over, tableOf('Billing'))),
    hasMeters: true,
    outbox: createOutbox(createRecordTable(over, tableOf('Notifications'))),
    secretExpiries: createSecretExpiries(createRecordTable(over, tableOf('Accounts'))),
    serviceAccounts: createServiceAccountStore(createRecordTable(over, tableOf('Accounts'))),
    now: () => nowMs,
    hasTime: () => true,
  };
  return { deps, sent };
};

const send = async (nowMs?: number, changes: Partial<DueTaskDependencies> = {}): Promise<BillingTask[]> => {
  const { deps, sent } = depsOf(nowMs);
  await sendDueTasks({ ...deps, ...changes });
  return sent;
};

const logged = (message: string) => lines.map((line) => JSON.parse(line)).find((line) => line.message === message);

const createOrganization = async (createdAt: string): Promise<string> => {
  const id = newId('organization');
  const row = { id, name: 'Acme', created_at: Date.parse(createdAt) / 1_000 };
  const refused = () => new Error('exists');
  await transact(database.database, [
    accounts().toCreate(placeOfOrganization(id), row, refused),
    accounts().toCreate({ account: DIRECTORY, record: LISTED + id }, {}, refused),
  ]);
  return id;
};

const FIRST_MONTH = '2026-07';

const closeOnly = async (organization: string, month: string): Promise<void> => {
  const store = createBilledMonthsStore(billing());
  const state = await store.getState(organization);
  const last = state.last_closed_month ?? month;
  await transact(database.database, [
    store.toReplace({ organization, month, version: 0, days: {}, suspected: [], invoice: null }),
    store.toReplaceState(organization, { ...state, last_closed_month: last > month ? last : month }),
  ]);
};

const close = async (organization: string, last: string): Promise<void> => {
  const { last_closed_month } = await createBilledMonthsStore(billing()).getState(organization);
  const first = last_closed_month === null ? FIRST_MONTH : nextMonth(last_closed_month);
  for (let month = first; month <= last; month = nextMonth(month)) await closeOnly(organization, month);
};

const putBilling = (item: { account: string; record: string }): Promise<unknown> =>
  database.database.put({ TableName: tableOf('Billing'), Item: item });

test('queues the first open month of each organization', async () => {
  const behind = await createOrganization('2026-07-10T00:00:00Z');
  const closed = await createOrganization('2026-07-10T00:00:00Z');
  await createOrganization('2026-11-01T00:10:00Z');
  await close(behind, '2026-08');
  await close(closed, '2026-10');
  expect(await send()).toEqual([{ task: 'close', organization: behind, month: '2026-09' }]);
});

test('queues nothing again once a month is closed, and the rest until it is', async () => {
  const organization = await createOrganization('2026-09-10T00:00:00Z');
  const october = { task: 'close', organization, month: '2026-10' };
  for (const hour of [0, 1]) expect(await send(NOW + hour * HOUR_MS)).toEqual([{ ...october, month: '2026-09' }]);
  await close(organization, '2026-09');
  expect(await send(NOW + HOUR_MS)).toEqual([october]);
  await close(organization, '2026-10');
  expect(await send(NOW + 2 * HOUR_MS)).toEqual([]);
});

test('queues months that an earlier release skipped, unless their invoice is void', async () => {
  const organization = await createOrganization('2026-06-10T00:00:00Z');
  await closeOnly(organization, '2026-07');
  await closeOnly(organization, '2026-09');
  const invoices = {
    ...depsOf().deps.invoices,
    ofMonth: async (_: string, month: string) => (month === '2026-06' ? [{ state: 'void' } as Invoice] : []),
  };
  const sent = async () => (await send(NOW, { invoices })).filter(({ task }) => task === 'close');
  expect(await sent()).toEqual([{ task: 'close', organization, month: '2026-08' }]);
  await closeOnly(organization, '2026-08');
  expect(await sent()).toEqual([{ task: 'close', organization, month: '2026-10' }]);
});

test('reads no organizations for the rest of a month in which all are closed', async () => {
  const organization = await createOrganization('2026-09-10T00:00:00Z');
  await close(organization, '2026-10');
  await send();
  const reads = jest.spyOn(database.database, 'query');
  expect(
    await send(NOW + HOUR_MS, {
      hasMeters: false,
      credit: { listExpiries: async function* () {}, listExpiryChecks: async function* () {} },
    }),
  ).toEqual([]);
  // Only the lists of unfinished invoices and of secrets, which are empty.
  expect(reads).toHaveBeenCalledTimes(2);
  expect(await send(Date.parse('2026-12-01T01:00:00Z'))).toEqual([{ task: 'close', organization, month: '2026-11' }]);
});

test('logs how many organizations are behind, and how long ago the oldest month could be closed', async () => {
  const organization = await createOrganization('2026-10-10T00:00:00Z');
  await send(Date.parse('2026-11-01T06:02:00Z'));
  expect(logged('months_due')).toMatchObject({ organizations: 1, oldest: '2026-10', late_minutes: 302 });
  expect(logged('due_tasks_sent')).toBeDefined();
  await close(organization, '2026-10');
  lines.length = 0;
  await send(Date.parse('2026-11-01T07:02:00Z'));
  expect(logged('months_due')).toBeUndefined();
});

test('queues the months of more organizations than are read at once', async () => {
  const organizations: string[] = [];
  for (let i = 0; i < 103; i++) organizations.push(await createOrganization('2026-10-10T00:00:00Z'));
  const sent = await send();
  expect(new Set(sent.map(({ organization }) => organization))).toEqual(new Set(organizations));
  expect(sent).toHaveLength(103);
});

test('queues expired credit from 01:00 UTC on the day of its expiry, one task an organization', async () => {
  const [organization, later] = [newId('organization'), newId('organization')];
  const grant = { amount_nanos: 1n, actor: 'finance', reason: 'prepayment', granted_at: 0 };
  const expires_at = Date.parse('2026-11-01T00:00:00Z');
  const store = createCreditStore(database.database, tableOf('Accounts'));
  await transact(database.database, [
    ...store.toCreate({ ...grant, organization, number: 1, expires_at }),
    ...store.toCreate({ ...grant, organization, number: 2, expires_at }),
    ...store.toCreate({ ...grant, organization: later, number: 1, expires_at: expires_at + 24 * HOUR_MS }),
  ]);
  expect(await send(expires_at + HOUR_MS - 1)).toEqual([]);
  expect(await send(expires_at + HOUR_MS)).toEqual([{ task: 'expire', organization }]);
});

test('queues the hours of the last two days that are not fully exported, two hours after their end', async () => {
  const organization = newId('organization');
  const lastHour = Date.parse('2026-10-31T22:00:00Z');
  await putBilling({ account: 'platform', record: `meters#${organization}` });
  const all = await send();
  expect(all).toHaveLength(48);
  expect(all.at(-1)).toEqual({ task: 'meters', organization, hour: lastHour });
  const meters = createMeterStore(billing());
  const pending = { amounts: { requests: 1n }, customer: 'cus_1', since: NOW };
  for (let i = 1; i < 48; i++) {
    const row = { ...NOT_METERED, pending: i === 1 ? pending : null };
    await transact(database.database, [meters.toReplace(organization, lastHour - i * HOUR_MS, row)]);
  }
  expect(await send()).toEqual([1, 0].map((ago) => ({ task: 'meters', organization, hour: lastHour - ago * HOUR_MS })));
  expect(await send(NOW, { hasMeters: false })).toEqual([]);
});

test('sends the other tasks if one kind can’t be read, and fails', async () => {
  const organization = await createOrganization('2026-10-10T00:00:00Z');
  const { deps, sent } = depsOf();
  const credit = {
    ...deps.credit,
    listExpiries: (): never => {
      throw new Error('The table is away.');
    },
  };
  await expect(sendDueTasks({ ...deps, credit })).rejects.toThrow('The table is away.');
  expect(sent).toEqual([{ task: 'close', organization, month: '2026-10' }]);
  expect(logged('due_tasks_sent')).toBeUndefined();
});

test('an organization whose rows can’t be read holds up no other one, and its month stays due', async () => {
  const organizations: string[] = [];
  for (let i = 0; i < 103; i++) organizations.push(await createOrganization('2026-10-10T00:00:00Z'));
  const [broken = '', ...others] = organizations.toSorted();
  for (const id of others.slice(0, 2)) await close(id, '2026-10');
  const { deps, sent } = depsOf();
  const getState: DueTaskDependencies['billedMonths']['getState'] = (id) =>
    id === broken ? Promise.reject(new Error('a broken row')) : deps.billedMonths.getState(id);
  const run = () => sendDueTasks({ ...deps, billedMonths: { ...deps.billedMonths, getState } });
  await expect(run()).rejects.toThrow('a broken row');
  expect(sent.map(({ organization }) => organization).sort()).toEqual(others.slice(2));
  expect(logged('months_due')).toMatchObject({ organizations: 100 });
  for (const id of others.slice(2)) await close(id, '2026-10');
  await expect(run()).rejects.toThrow('a broken row');
  expect(await send(NOW + HOUR_MS)).toEqual([{ task: 'close', organization: broken, month: '2026-10' }]);
});

test('an organization whose exported hours can’t be read holds up no other one', async () => {
  const [broken = '', other = ''] = [newId('organization'), newId('organization')].sort();
  for (const id of [broken, other]) await putBilling({ account: 'platform', record: `meters#${id}` });
  const { deps, sent } = depsOf();
  const getMany: DueTaskDependencies['meters']['getMany'] = (id, hours) =>
    id === broken ? Promise.reject(new Error('a broken row')) : deps.meters.getMany(id, hours);
  await expect(sendDueTasks({ ...deps, meters: { getMany } })).rejects.toThrow('a broken row');
  expect(new Set(sent.map(({ organization }) => organization))).toEqual(new Set([other]));
});

test('leaves a month open if there was no time to read all organizations', async () => {
  const organization = await createOrganization('2026-10-10T00:00:00Z');
  await expect(send(NOW, { hasTime: () => false })).rejects.toThrow('Ran out of time before the months of all organizations were read.');
  expect(await send(NOW + HOUR_MS)).toEqual([{ task: 'close', organization, month: '2026-10' }]);
});

test('queues months whose invoices are not issued or rendered, until they are', async () => {
  const { deps, sent } = depsOf();
  const invoice = { organization: 'org_1', month: '2026-09' };
  const listUnfinished = async function* () {
    yield invoice;
  };
  await sendDueTasks({ ...deps, invoices: { ...deps.invoices, listUnfinished } });
  expect(sent).toEqual([{ task: 'close', ...invoice }]);
});
