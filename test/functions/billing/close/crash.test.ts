import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { canonicalJson } from '../../../../shared/billing/canonical-json.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';
import { MAX_WRITES } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { crashingProcess } from '../../../support/faults/crashing-process.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;

const MONTH = '2026-10';
// 31 days, the files of two of them, the inputs, the closing and the issue.
const WRITES = 31 + 4 + 3;
// Most of the writes are of days, which are all made alike.
const ALL_PLACES = Array.from({ length: WRITES }, (_, write) => write);
const PLACES = sized(
  ALL_PLACES.filter((write) => write < 6 || write % 8 === 0 || write >= WRITES - 6),
  ALL_PLACES,
);

beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  organization = newId('organization');
  const key = await closing.addKey(organization);
  const facts = { key_id: key, org_id: organization };
  await closing.addUsage({ ...facts, admitted_at: Date.parse('2026-10-02T12:00:00Z'), cost_nanos: 70_000_001n });
  await closing.addUsage({ ...facts, admitted_at: Date.parse('2026-10-03T12:00:00Z'), price_version: 'price_2' });
  const gpu = { deployment_id: newId('deployment'), org_id: organization, seconds: 60, cost_nanos: 23_500_000n };
  await closing.addGpu({ ...gpu, started_at: Date.parse('2026-10-03T00:00:00Z') });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const close = (process = {}) => closing.close(organization, MONTH, { ...closingOf(MONTH), ...process });

// The last number stays, and the same month can be closed again.
const forget = async (): Promise<void> => {
  const { Items = [] } = await database.sdk.scan({ TableName: database.tables.Billing as string });
  const ids = new Set([organization, ...Items.filter((row) => row.organization === organization).map(({ account }) => account)]);
  const rows = Items.filter((row) => ids.has(row.account));
  for (let i = 0; i < rows.length; i += MAX_WRITES) {
    const keys = rows.slice(i, i + MAX_WRITES).map(({ account, record }) => ({ account, record }));
    await database.database.transactWrite({
      TransactItems: keys.map((Key) => ({ Delete: { TableName: database.tables.Billing as string, Key } })),
    });
  }
};

const textOf = ({ number: _, ...invoice }: Invoice): string => canonicalJson(invoice);

// Closing must leave these once: entries of the audit log, notifications and numbers.
const traces = async () => {
  const rowsOf = async (table: string) => {
    const { Items = [] } = await database.database.query({
      TableName: database.tables[table] as string,
      KeyConditionExpression: 'account = :organization',
      ExpressionAttributeValues: { ':organization': organization },
    });
    return Items;
  };
  const actions = (await rowsOf('Audit')).map(({ action }) => action);
  return {
    created: actions.filter((action) => action === 'invoice.created').length,
    issued: actions.filter((action) => action === 'invoice.issued').length,
    notifications: (await rowsOf('Notifications')).length,
    numbers: await closing.numbers.last('invoice'),
  };
};
const plusOne = (counts: Awaited<ReturnType<typeof traces>>) =>
  Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, n + 1]));

describe('closeMonth', () => {
  test('makes one invoice with one number and the same content after a crash at any write', async () => {
    await close();
    const expected = textOf(await closing.invoiceOf(organization, MONTH));
    for (const when of ['before', 'after'] as const)
      for (const write of [...PLACES, WRITES]) {
        await forget();
        const before = await traces();
        const process = crashingProcess(database.database, bucket.files, { write, when });
        const { hasCrashed, ...stores } = process;
        await close(stores).catch((error: unknown) => {
          if (!hasCrashed()) throw error;
          const errors = error instanceof AggregateError ? error.errors : [error];
          expect(errors[0]).toBeInstanceOf(Crash);
        });
        await close();
        const invoice = await closing.invoiceOf(organization, MONTH);
        expect(textOf(invoice)).toBe(expected);
        expect(await closing.invoices.ofMonth(organization, MONTH)).toHaveLength(1);
        expect(await traces()).toEqual(plusOne(before));
        expect(invoice.number).toBe(`INV-${String(before.numbers + 1).padStart(6, '0')}`);
        expect(hasCrashed()).toBe(write < WRITES);
      }
  });

  test('makes one invoice with one number if several functions close the month at once', async () => {
    const before = await traces();
    await Promise.all([close(), close(), close(), close()]);
    expect(await closing.invoices.ofMonth(organization, MONTH)).toHaveLength(1);
    expect(await traces()).toEqual(plusOne(before));
  });

  test('makes the same bytes from the same events, in whatever order they are read', async () => {
    await close();
    const files = await bucket.keys();
    const expected = textOf(await closing.invoiceOf(organization, MONTH));
    await forget();
    await close();
    expect(textOf(await closing.invoiceOf(organization, MONTH))).toBe(expected);
    expect(await bucket.keys()).toEqual(files);
  });
});
