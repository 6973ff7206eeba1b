import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { describeVerification, verifyInvoice } from '../../../../infra/tools/admin/verify-invoice.ts';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { pack } from '../../../../shared/billing/packed.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { runAdmin } from './run-admin.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;
let key: string;
let events: UsageEvent[];

const DAY = '2026-10-02';
// Days after the last use of a key are not read.
const LAST_USE = Date.parse(`${DAY}T13:00:00Z`);

beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
const usage = (day: string, facts: Partial<UsageEvent> = {}) =>
  closing.addUsage({ key_id: key, org_id: organization, admitted_at: Date.parse(`${day}T12:00:00Z`), ...facts });
const close = (month: string) => closing.close(organization, month, closingOf(month));
const invoiceOf = (month = '2026-10'): Promise<Invoice> => closing.invoiceOf(organization, month);
const verify = async (month = '2026-10') => verifyInvoice(closing.dependencies(), (await invoiceOf(month)).id);
const tamper = async (event: UsageEvent, costNanos: bigint | undefined): Promise<void> => {
  const table = database.tables.Usage as string;
  const { Items = [] } = await database.sdk.scan({ TableName: table });
  const { usage_bucket, usage_event } = Items.find((row) => row.usage_event === event.request_id) ?? {};
  const place = { TableName: table, Key: { usage_bucket, usage_event } };
  if (costNanos === undefined) await database.database.delete(place);
  else
    await database.database.update({
      ...place,
      UpdateExpression: 'SET cost_nanos = :cost',
      ExpressionAttributeValues: { ':cost': costNanos },
    });
};

const changeLinesOfOctober = (change: (line: InvoiceLine, i: number) => InvoiceLine): Promise<void> => changeLines('2026-10', change);
const changeLines = async (month: string, change: (line: InvoiceLine, i: number) => InvoiceLine): Promise<void> => {
  const { id, lines, replaced } = await invoiceOf(month);
  await database.database.update({
    TableName: database.tables.Billing as string,
    Key: { account: id, record: 'invoice' },
    UpdateExpression: 'SET packed = :packed',
    ExpressionAttributeValues: { ':packed': pack({ lines: lines.map(change), replaced }) },
  });
};

const changeCurrency = async (currency: string): Promise<void> => {
  await database.database.update({
    TableName: database.tables.Billing as string,
    Key: { account: (await invoiceOf()).id, record: 'invoice' },
    UpdateExpression: 'SET currency = :currency',
    ExpressionAttributeValues: { ':currency': currency },
  });
};

beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  organization = newId('organization');
  key = await closing.addKey(organization, { lastUsedMs: LAST_USE });
  events = [await usage(DAY, { cost_nanos: 60_000_000n }), await usage(DAY, { price_version: 'price_2' })];
  const gpu = { deployment_id: newId('deployment'), org_id: organization, seconds: 60, cost_nanos: 23_500_000n };
  await closing.addGpu({ ...gpu, started_at: Date.parse(`${DAY}T00:00:00Z`) });
  await close('2026-10');
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the verification of an invoice', () => {
  test('derives the lines of an adapter’s surcharge again, with their words', async () => {
    const surcharge = {
      ...{ version: 'price_s', effective_at: 0, prompt_nanos: 10_000_001, completion_nanos: 40_000_003 },
      is_surcharge: true as const,
    };
    await transact(database.database, [database.models.toRetire(organization, 'legal', [surcharge])]);
    await usage(DAY, { model: 'legal', price_version: 'price_s', cost_nanos: 1_400n });
    await usage('2026-11-01', { model: 'legal', price_version: 'price_s', cost_nanos: 1_400n });
    await noteUse(database, key, Date.parse('2026-11-01T13:00:00Z'));
    await close('2026-11');
    const { lines } = await invoiceOf('2026-11');
    expect(lines.filter(({ model }) => model === 'legal').map(({ description }) => description)).toEqual([
      'legal, adapter surcharge on prompt tokens',
      'legal, adapter surcharge on completion tokens',
      'Correction for 2026-10: legal, adapter surcharge on prompt tokens',
      'Correction for 2026-10: legal, adapter surcharge on completion tokens',
    ]);
    expect((await verify('2026-11')).differences).toEqual([]);
  });

  test('derives the annex by project again, and names a project that differs', async () => {
    const key_id = await closing.addKey(organization, { lastUsedMs: Date.parse('2026-11-03T13:00:00Z') });
    await usage('2026-11-03', { key_id, project_id: 'prj_1', cost_nanos: 7n });
    await usage('2026-11-03', { key_id, cost_nanos: 5n });
    await usage(DAY, { project_id: 'prj_2', cost_nanos: 3n });
    await close('2026-11');
    const { id, lines, projects, replaced } = await invoiceOf('2026-11');
    expect(projects).toEqual([
      { project_id: 'prj_1', requests: 1, amount_nanos: 7n },
      { project_id: 'prj_2', requests: 1, amount_nanos: 3n },
      { project_id: null, requests: 1, amount_nanos: 5n },
    ]);
    expect((await verify('2026-11')).differences).toEqual([]);
    await database.database.update({
      TableName: database.tables.Billing as string,
      Key: { account: id, record: 'invoice' },
      UpdateExpression: 'SET packed = :packed',
      ExpressionAttributeValues: { ':packed': pack({ lines, projects: projects?.slice(1), replaced }) },
    });
    expect((await verify('2026-11')).differences).toEqual([
      'Annex, prj_1: the invoice has nothing, the events give 1 requests and 0.000000007 USD.',
    ]);
  });

  test('says equal if its events give the same lines', async () => {
    const verification = await verify();
    expect(verification).toMatchObject({ events: 3, differences: [], late: [] });
    expect(describeVerification(verification)).toMatch(/^equal: inv_\w+ \(INV-\d+\), \d+ lines from 3 events\.$/);
  });

  test('names an event that was changed, with its day, its key and the lines that change', async () => {
    const [event] = events as [UsageEvent];
    await tamper(event, 60_000_001n);
    const { differences } = await verify();
    expect(differences).toEqual([
      expect.stringContaining(`${DAY}, ${key}: ${event.request_id} was changed.`),
      `${DAY}, ${key}: 2 events and 0.060014002 USD, but 2 events and 0.060014001 USD were billed.`,
      "Line 'small, difference to the sum of all requests' (metering_difference): the invoice has 0.059986 USD, the events give 0.059986001 USD.",
      expect.stringContaining("Line 'Rounding to whole cents' (rounding)"),
      'subtotal_nanos: the invoice has 0.083514001 USD, the events give 0.083514002 USD.',
    ]);
  });

  test('names an event that was removed', async () => {
    const [event] = events as [UsageEvent];
    await tamper(event, undefined);
    const { differences } = await verify();
    expect(differences[0]).toBe(`${DAY}, ${key}: ${event.request_id} was counted and no longer exists.`);
  });

  test('says equal for an invoice of release 0.1.0, whose lines lack the price version before', async () => {
    await changeLinesOfOctober(({ rerate_from: _, ...line }) => line);
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('says equal for an invoice of release 0.1.0, which called the difference of GPU time one of requests', async () => {
    const seconds = { deployment_id: newId('deployment'), org_id: organization, seconds: 60, cost_nanos: 23_500_001n };
    for (const day of [DAY, '2026-11-02']) await closing.addGpu({ ...seconds, started_at: Date.parse(`${day}T00:00:00Z`) });
    await close('2026-11');
    const inWordsOfFirstRelease = ({ rerate_from: _, ...line }: InvoiceLine): InvoiceLine => ({
      ...line,
      description: line.description.replace(
        /GPU time on \S+, difference to the sum of all intervals/,
        'difference to the sum of all requests',
      ),
    });
    const { lines } = await invoiceOf('2026-11');
    expect(lines.map(inWordsOfFirstRelease).filter(({ kind }) => kind === 'metering_difference')).toMatchObject([
      { description: 'assistant, difference to the sum of all requests' },
      { description: 'Correction for 2026-10: assistant, difference to the sum of all requests' },
    ]);
    await changeLines('2026-11', inWordsOfFirstRelease);
    expect((await verify('2026-11')).differences).toEqual([]);
  });

  test('says equal for an invoice of release 0.1.0 in a currency without cents, which was rounded to cents', async () => {
    await changeLinesOfOctober(({ rerate_from: _, ...line }) => line);
    await changeCurrency('JPY');
    expect((await invoiceOf()).currency).toBe('JPY');
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('names a line that is not what its events give, with amounts in the currency of the invoice', async () => {
    await changeLinesOfOctober((line, i) => (i === 0 ? { ...line, amount_nanos: line.amount_nanos + 1n } : line));
    await changeCurrency('EUR');
    expect((await verify()).differences).toEqual([
      "Line 'small, prompt tokens' (tokens): the invoice has 100 × 0.000010001 EUR, the events give 100 × 0.00001 EUR.",
    ]);
  });

  test('fails if a file of its inputs was changed', async () => {
    const { inputs } = await invoiceOf();
    const text = (await bucket.files.get(inputs?.key as string)).toString();
    await bucket.tamper(inputs?.key as string, text.replace('"carried_forward_nanos":"0"', '"carried_forward_nanos":"1"'));
    await expect(verify()).rejects.toThrow('was changed: its SHA-256 is');
  });

  test('reports events that came later as such, until and after another invoice bills them', async () => {
    events.push(await usage(DAY, { cost_nanos: 7n }));
    const late = { day: DAY, source: key, events: 1, cost_nanos: 7n };
    const before = await verify();
    expect(before).toMatchObject({ differences: [], late: [{ ...late, is_billed: false }] });
    expect(describeVerification(before)).toContain(
      `Later events: ${DAY}, ${key}: 1 events and 0.000000007 USD, which the next invoice will bill.`,
    );

    events.push(await usage('2026-11-02', { key_id: await closing.addKey(organization) }));
    await closing.rollUp(events);
    await close('2026-11');
    expect(await verify()).toMatchObject({ differences: [], late: [{ ...late, is_billed: true }] });
    expect(await verify('2026-11')).toMatchObject({ events: 5, differences: [], late: [] });
  });

  test('names an event that a correction counted and that was removed since', async () => {
    const event = await usage(DAY);
    await closing.rollUp([...events, event]);
    await close('2026-11');
    await tamper(event, undefined);
    expect((await verify('2026-11')).differences).toContain(`${DAY}, ${key}: ${event.request_id} was counted and no longer exists.`);
    expect(await verify('2026-10')).toMatchObject({ differences: [], late: [] });
  });
});

test('`npm run admin -- verify-invoice` prints the result, and fails if anything differs', async () => {
  const { id, number } = await invoiceOf();
  const environment = { ...bucket.environment, BILLING_TABLE: database.tables.Billing as string };
  const equal = await runAdmin(database, ['verify-invoice', '--invoice', id], environment);
  expect(equal).toMatchObject({ code: 0, stdout: expect.stringContaining(`equal: ${id} (${number}), `) });

  await tamper(events[0] as UsageEvent, 1n);
  const different = await runAdmin(database, ['verify-invoice', '--invoice', id], environment);
  expect(different).toMatchObject({ code: 1, stdout: expect.stringContaining(`differs: ${id} (${number})\n${DAY}, ${key}: `) });

  expect(await runAdmin(database, ['verify-invoice', '--invoice', 'INV-000001'], environment)).toMatchObject({ code: 1 });
});
