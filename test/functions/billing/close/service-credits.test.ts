import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CloseDependencies } from '../../../../functions/billing/close/close-month.ts';
import { serviceCreditNoteId } from '../../../../functions/billing/close/service-credits.ts';
import { describeVerification, verifyInvoice } from '../../../../infra/tools/admin/verify-invoice.ts';
import { newLimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { canonicalJson } from '../../../../shared/billing/canonical-json.ts';
import type { CreditNote } from '../../../../shared/billing/invoice.ts';
import type { Seller } from '../../../../shared/billing/seller.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { timeOfId } from '../../../../shared/ids/id.ts';
import { PromiseFigures } from '../../../../shared/service-levels/promise.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { crashingProcess } from '../../../support/faults/crashing-process.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing, MODEL } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { CREATED_MS } from '../../../support/fixtures/note-use.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;
let key: string;

const MONTH = '2026-10';
const DOLLAR = 1_000_000_000n;
const CENT = DOLLAR / 100n;

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
  key = await closing.addKey(organization);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await promise(undefined);
});

const promise = async (figures: object | undefined, from_month = MONTH): Promise<void> => {
  const stored = await closing.servicePromises.get(MODEL);
  const promises = figures === undefined ? [] : [{ from_month, stated_at: 0, figures: PromiseFigures.parse(figures) }];
  await transact(database.database, [closing.servicePromises.toReplace({ ...stored, promises })]);
};
const availability = (percent = 10) => ({ availability: { tiers: [{ below: '0.999', credit_percent: percent }] } });
const FAILED = { outcome: 'upstream_failed', error_code: 'upstream_failed', error_status: 502, cost_nanos: 0n } as const;
const usage = (facts: Partial<UsageEvent> = {}, time = '2026-10-02T12:00:00Z') =>
  closing.addUsage({ key_id: key, org_id: organization, admitted_at: Date.parse(time), ...facts });
const close = (process: Partial<CloseDependencies> = {}, month = MONTH) =>
  closing.close(organization, month, { ...closingOf(month), ...process });
const invoiceOf = () => closing.invoiceOf(organization, MONTH);
const noteOf = async (): Promise<CreditNote | undefined> => closing.creditNotes.find(serviceCreditNoteId(await invoiceOf()));
const verify = async () => verifyInvoice(closing.dependencies(), (await invoiceOf()).id);
const notesOf = async (): Promise<CreditNote[]> => (await closing.creditNotes.list(organization, { limit: 100 })).notes;

// Closing must leave these once.
const traces = async () => {
  const { Items = [] } = await database.sdk.scan({ TableName: database.tables.Audit as string });
  const actions = Items.filter(({ account }) => account === organization).map(({ action }) => action);
  return {
    issued: actions.filter((action) => action === 'credit_note.issued').length,
    granted: actions.filter((action) => action === 'credit.granted').length,
    numbers: await closing.numbers.last('credit-note'),
  };
};

describe('a month that misses a promise', () => {
  test('is credited by one credit note with the numbers that prove it', async () => {
    await promise(availability());
    await usage({ cost_nanos: 30n * DOLLAR });
    await usage({ cost_nanos: 3_456_789_012n });
    await usage(FAILED);
    await close();
    const invoice = await invoiceOf();
    const note = await noteOf();
    expect(note).toMatchObject({ invoice: invoice.id, reason: 'Service levels of 2026-10', amount_nanos: 3_350_000_000n });
    expect(note?.lines).toMatchObject([
      {
        kind: 'service_credit',
        description: 'small: 2 of 3 requests answered, below 0.999',
        model: MODEL,
        measure: 'availability',
        threshold: '0.999',
        requests: 3,
        answered: 2,
        base_nanos: 33_456_789_012n,
        percent: 10,
        amount_nanos: 3_345_678_901n,
      },
      { kind: 'rounding', amount_nanos: 4_321_099n },
    ]);
    expect(invoice.credited_nanos).toBe(note?.amount_nanos);
    expect(closing.sent.filter((task) => task.task === 'render').map((task) => task.document)).toContain(note?.id);
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('credits the taxes in proportion', async () => {
    await promise(availability());
    await usage({ cost_nanos: 100n * DOLLAR });
    await usage(FAILED);
    await close({ taxes: async () => [{ description: 'VAT 19 %', amount_nanos: 19n * DOLLAR }] });
    expect(await noteOf()).toMatchObject({ amount_nanos: 1_190n * CENT });
    expect((await noteOf())?.lines?.map(({ kind, amount_nanos }) => [kind, amount_nanos])).toEqual([
      ['service_credit', 10n * DOLLAR],
      ['tax', 190n * CENT],
    ]);
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('credits whole yen of an invoice in yen', async () => {
    const seller = (await closing.settings.getSeller()) as Seller;
    await transact(database.database, [closing.settings.toReplaceSeller({ ...seller, currency: 'JPY', currency_symbol: '¥' })]);
    await promise(availability());
    await usage({ cost_nanos: 3_004_567_890_000n });
    await usage(FAILED);
    await close({ taxes: async () => [{ description: 'JCT 10 %', amount_nanos: 300_456_789_000n }] });
    expect(await invoiceOf()).toMatchObject({ currency: 'JPY', total_nanos: 3_305n * DOLLAR });
    expect((await noteOf())?.lines?.map(({ kind, amount_nanos }) => [kind, amount_nanos])).toEqual([
      ['service_credit', 300_456_789_000n],
      ['tax', 30_045_678_900n],
      ['rounding', 497_532_100n],
    ]);
    expect((await noteOf())?.amount_nanos).toBe(331n * DOLLAR);
    expect(await verify()).toMatchObject({ differences: [] });
    const { version } = (await closing.settings.getSeller()) as Seller;
    await transact(database.database, [closing.settings.toReplaceSeller({ ...seller, version })]);
  });

  test('credits at most what is left of the invoice', async () => {
    await promise(availability(100));
    await usage({ cost_nanos: 10n * DOLLAR });
    await usage(FAILED);
    const draft = await closing.settings.getSeller();
    await transact(database.database, [closing.settings.toReplaceSeller({ ...(draft as Seller), issue: 'manual' })]);
    await close();
    expect((await invoiceOf()).state).toBe('draft');
    expect(await noteOf()).toBeUndefined();
    expect(await verify()).toMatchObject({ differences: [] });
    const seller = await closing.settings.getSeller();
    await transact(database.database, [closing.settings.toReplaceSeller({ ...(seller as Seller), issue: 'automatic' })]);
    // A credit note of an admin came first.
    await transact(database.database, closing.invoices.toReplace(await invoiceOf(), { credited_nanos: 4n * DOLLAR }));
    await close();
    expect(await noteOf()).toMatchObject({ amount_nanos: 6n * DOLLAR });
    expect((await noteOf())?.lines?.map(({ kind, amount_nanos }) => [kind, amount_nanos])).toEqual([
      ['service_credit', 10n * DOLLAR],
      ['limit', -4n * DOLLAR],
    ]);
    expect((await invoiceOf()).credited_nanos).toBe(10n * DOLLAR);
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('returns what was paid from prepaid credit as prepaid credit', async () => {
    await database.database.put({
      TableName: database.tables.Keys as string,
      Item: newLimiterItem(organization, organization, { set: {} }),
    });
    await promise(availability());
    await usage({ cost_nanos: 20n * DOLLAR, is_prepaid: true });
    await usage({ cost_nanos: 5n * DOLLAR });
    await usage(FAILED);
    await close();
    await close();
    expect(await noteOf()).toMatchObject({ amount_nanos: 50n * CENT });
    expect(await Array.fromAsync(closing.credit.list(organization))).toMatchObject([
      { amount_nanos: 2n * DOLLAR, actor: 'billing', reason: 'Service levels of 2026-10' },
    ]);
    expect((await closing.limiters.get(organization))?.grants).toBe(1);
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('grants prepaid credit once if its invoice becomes void and the month is closed again', async () => {
    await database.database.put({
      TableName: database.tables.Keys as string,
      Item: newLimiterItem(organization, organization, { set: {} }),
    });
    await promise(availability());
    await usage({ cost_nanos: 20n * DOLLAR, is_prepaid: true });
    await usage(FAILED);
    await close();
    const toVoid = async (): Promise<void> => {
      const invoice = await invoiceOf();
      const restored = await closing.billedMonths.toRestore(invoice);
      await transact(database.database, [...closing.invoices.toReplace(invoice, { state: 'void' }), ...restored]);
    };
    const granted = async () => (await Array.fromAsync(closing.credit.list(organization))).map(({ amount_nanos }) => amount_nanos);

    await toVoid();
    await close();
    expect(await granted()).toEqual([2n * DOLLAR]);
    expect(await verify()).toMatchObject({ differences: [] });
    await toVoid();
    await usage({ cost_nanos: 5n * DOLLAR, is_prepaid: true });
    await close();
    await close();
    expect(await granted()).toEqual([2n * DOLLAR, 50n * CENT]);
    expect((await closing.limiters.get(organization))?.avail).toBe(Number(250n * CENT));
    expect(await verify()).toMatchObject({ differences: [] });
  });

  test('is computed once: what comes later changes the next invoice and not the credit', async () => {
    await promise(availability());
    const events = [await usage({ cost_nanos: 100n * DOLLAR }), await usage(FAILED)];
    await close();
    const before = canonicalJson(await noteOf());
    events.push(await usage({ cost_nanos: 50n * DOLLAR }, '2026-10-05T12:00:00Z'), await usage(FAILED, '2026-10-05T13:00:00Z'));
    await closing.rollUp(events);
    await close();
    await close({}, '2026-11');
    expect(canonicalJson(await noteOf())).toBe(before);
    expect(await notesOf()).toHaveLength(1);
    const next = await closing.invoiceOf(organization, '2026-11');
    expect(next.total_nanos).toBe(50n * DOLLAR);
    expect(next).not.toHaveProperty('service_levels', expect.arrayContaining([expect.anything()]));
    expect(await verify()).toMatchObject({ differences: [], late: [{ events: 2 }] });
  });

  test('makes one credit note and one grant after a crash at any write', async () => {
    await promise(availability());
    await database.database.put({
      TableName: database.tables.Keys as string,
      Item: newLimiterItem(organization, organization, { set: {} }),
    });
    await usage({ cost_nanos: 20n * DOLLAR, is_prepaid: true });
    await usage({ cost_nanos: 5n * DOLLAR });
    await usage(FAILED);
    const origin = organization;
    let crashes = 0;
    for (const when of ['before', 'after'] as const)
      for (let write = 33; ; write++) {
        organization = newId('organization');
        key = await closing.addKey(organization);
        await database.database.put({
          TableName: database.tables.Keys as string,
          Item: newLimiterItem(organization, organization, { set: {} }),
        });
        await usage({ cost_nanos: 20n * DOLLAR, is_prepaid: true });
        await usage({ cost_nanos: 5n * DOLLAR });
        await usage(FAILED);
        const before = await traces();
        const { hasCrashed, ...stores } = crashingProcess(database.database, bucket.files, { write, when });
        await close(stores).catch((error: unknown) => {
          if (!hasCrashed()) throw error;
          expect(error instanceof AggregateError ? error.errors[0] : error).toBeInstanceOf(Crash);
        });
        await close();
        expect(await traces()).toEqual({ issued: before.issued + 1, granted: before.granted + 1, numbers: before.numbers + 1 });
        expect(await notesOf()).toHaveLength(1);
        expect((await invoiceOf()).credited_nanos).toBe(50n * CENT);
        expect((await closing.limiters.get(organization))?.grants).toBe(1);
        expect(await verify()).toMatchObject({ differences: [] });
        if (!hasCrashed()) break;
        crashes++;
      }
    expect(organization).not.toBe(origin);
    // The files of a day, the inputs, the closing, the issue, the note, the grant and its balance; before and after.
    expect(crashes).toBeGreaterThanOrEqual(2 * 4);
  });

  test('makes one credit note if several functions close the month at once', async () => {
    await promise(availability());
    await usage({ cost_nanos: 20n * DOLLAR });
    await usage(FAILED);
    const before = await traces();
    await Promise.all([close(), close(), close(), close()]);
    await close();
    expect(await traces()).toEqual({ ...before, issued: before.issued + 1, numbers: before.numbers + 1 });
    expect((await invoiceOf()).credited_nanos).toBe(2n * DOLLAR);
  });
});

describe('a month that keeps its promises', () => {
  test('is not credited, and its service levels are kept', async () => {
    await promise(availability());
    await usage({ cost_nanos: DOLLAR });
    await close();
    expect(await noteOf()).toBeUndefined();
    expect((await invoiceOf()).service_levels).toMatchObject([{ model: MODEL, answered: 1, failed: 0, misses: [] }]);
  });

  test('is not credited if the promise begins later', async () => {
    await promise(availability(), '2026-11');
    await usage({ cost_nanos: DOLLAR });
    await usage(FAILED);
    await close();
    expect(await notesOf()).toEqual([]);
    expect(await invoiceOf()).not.toHaveProperty('service_levels');
  });
});

// The same events in each run.
const closeFixed = async (): Promise<void> => {
  const atMs = Date.parse('2026-10-02T12:00:00Z');
  organization = 'org_fixed';
  key = `key_${timeOfId(CREATED_MS)}AAAAAAAAAAA`;
  await database.database.put({ TableName: database.tables.Keys as string, Item: newLimiterItem(key, organization, { set: {} }) });
  await usage({ request_id: `req_${timeOfId(atMs)}AAAAAAAAAAAAAAAAAA` });
  await usage({ request_id: `req_${timeOfId(atMs)}BBBBBBBBBBBBBBBBBB`, ...FAILED });
  await close();
};

describe('without a promise', () => {
  test('invoices, their inputs and the files of days are as they were before there were promises', async () => {
    await closeFixed();
    const { inputs_sha256 } = await invoiceOf();
    expect(inputs_sha256).toBe('638dadc6cc4acc53bfec114410120c3f69e3512d07dabbc4e77a577fa7b4a33d');
  });
});

describe('verification', () => {
  const tamper = async (event: UsageEvent, facts: Readonly<Record<string, unknown>>): Promise<void> => {
    const TableName = database.tables.Usage as string;
    const { Items = [] } = await database.sdk.scan({ TableName });
    const row = Items.find(({ usage_event }) => usage_event === event.request_id);
    await database.database.put({ TableName, Item: { ...row, ...facts } });
  };
  const differing = async (): Promise<string> => describeVerification(await verify());

  test('finds an event whose outcome was changed', async () => {
    await promise(availability());
    await usage({ cost_nanos: 10n * DOLLAR });
    const failed = await usage(FAILED);
    await close();
    await tamper(failed, { outcome: 'completed', error_code: undefined, error_status: undefined });
    const words = await differing();
    expect(words).toContain('Service level of small: the invoice has 1 of 2 requests answered');
    expect(words).toContain('Credit note CN-');
  });

  test('finds a credit note and a grant that were changed', async () => {
    await promise(availability());
    await database.database.put({
      TableName: database.tables.Keys as string,
      Item: newLimiterItem(organization, organization, { set: {} }),
    });
    await usage({ cost_nanos: 10n * DOLLAR });
    await usage({ cost_nanos: 10n * DOLLAR, is_prepaid: true });
    await usage(FAILED);
    await close();
    const note = (await noteOf()) as CreditNote;
    const place = { TableName: database.tables.Billing as string, Key: { account: note.id, record: 'credit-note' } };
    const { Item } = await database.database.get(place);
    for (const changed of [
      { amount_nanos: note.amount_nanos + 1n },
      { lines: note.lines?.map((line) => ({ ...line, percent: 11 })) },
      { lines: note.lines?.map((line) => ({ ...line, requests: 4 })) },
    ]) {
      await database.database.put({ TableName: place.TableName, Item: { ...Item, ...changed } });
      expect(await differing()).toContain(`Credit note ${note.number}: it has`);
    }
    await database.database.delete(place);
    expect(await differing()).toContain('Credit note for service levels: there is none');
    await database.database.put({ TableName: place.TableName, Item: Item ?? {} });
    expect(await differing()).toContain('equal');
    const accounts = database.tables.Accounts as string;
    const grant = { TableName: accounts, Key: { account: organization, record: 'grant#00000001' } };
    const { Item: stored } = await database.database.get(grant);
    await database.database.put({ TableName: accounts, Item: { ...stored, amount_nanos: DOLLAR + 1n } });
    expect(await differing()).toContain('Prepaid credit for service levels: 1.000000001 USD was granted, the events give 1 USD.');
  });
});
