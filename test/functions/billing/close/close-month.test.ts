import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newLimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { canonicalJson } from '../../../../shared/billing/canonical-json.ts';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { monthOf } from '../../../../shared/billing/month.ts';
import type { Database, Item } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { costNanos } from '../../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { addEvent, noTotals } from '../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing, MODEL } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let database: TestDatabase;
// With the permissions of the billing function.
let billing: Database;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;
let key: string;
let log: string[];

beforeAll(async () => {
  database = await startTestDatabase();
  billing = await database.as('billing');
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(async () => {
  organization = newId('organization');
  key = await closing.addKey(organization);
  closing.sent.length = 0;
  log = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => log.push(String(text)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const MONTH = '2026-10';
const at = (day: string, time = '12:00:00.000'): number => Date.parse(`${day}T${time}Z`);
const usage = (day: string, facts: Partial<UsageEvent> = {}) =>
  closing.addUsage({ key_id: key, org_id: organization, admitted_at: at(day), ...facts });
const close = (month = MONTH, process = {}) => closing.close(organization, month, { ...closingOf(month), database: billing, ...process });
const invoiceOf = (month = MONTH): Promise<Invoice> => closing.invoiceOf(organization, month);
const brief = ({ kind, month, is_correction, token_kind, price_version, quantity, amount_nanos }: InvoiceLine) =>
  [kind, is_correction ? month : '', price_version ?? '', token_kind ?? '', quantity, amount_nanos].join(' ').replace(/ +/g, ' ');
const briefly = ({ lines }: Invoice) => lines.map(brief);
const sumOf = (lines: readonly InvoiceLine[]): bigint => lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n);
const logged = (message: string) => log.filter((line) => line.includes(`"${message}"`));

describe('the invoice of a month', () => {
  test('has a line for each model, price version and kind of tokens, and the exact cost of all requests', async () => {
    await usage('2026-10-01', { admitted_at: at('2026-10-01', '00:00:00.000'), cached_tokens: 40 });
    await usage('2026-10-15', { price_version: 'price_2', cost_nanos: 7_000n });
    await usage('2026-10-31', { admitted_at: at('2026-10-31', '23:59:59.999') });
    await close();

    const invoice = await invoiceOf();
    expect(briefly(invoice)).toEqual([
      'tokens price_1 prompt 160 16000',
      'tokens price_1 cached_prompt 40 400',
      'tokens price_1 completion 20 8000',
      'tokens price_2 prompt 100 5000',
      'tokens price_2 completion 10 2000',
      'metering_difference price_1 3602',
      'rounding -35002',
    ]);
    expect(invoice).toMatchObject({
      state: 'issued',
      number: expect.stringMatching(/^INV-\d{6}$/),
      total_nanos: 0n,
      subtotal_nanos: 35_002n,
    });
    expect(invoice.lines[0]).toMatchObject({
      description: `${MODEL}, prompt tokens`,
      unit: 'token',
      unit_price_nanos: 100_000_003n,
      month: MONTH,
    });
  });

  test('leaves out usage of other months and other organizations', async () => {
    await usage('2026-09-30', { admitted_at: at('2026-09-30', '23:59:59.999') });
    await usage('2026-10-10');
    await usage('2026-11-01', { admitted_at: at('2026-11-01', '00:00:00.000') });
    const other = newId('organization');
    await closing.addUsage({ key_id: await closing.addKey(other), org_id: other, admitted_at: at('2026-10-10') });
    await close();
    expect((await invoiceOf()).subtotal_nanos).toBe(14_001n);
  });

  test('charges GPU time by deployment, instance type and price version', async () => {
    const deployment = newId('deployment');
    const gpu = { deployment_id: deployment, org_id: organization };
    await closing.addGpu({ ...gpu, started_at: at('2026-10-02'), seconds: 100, instances: 2, cost_nanos: 78_333_333n });
    await closing.addGpu({ ...gpu, started_at: at('2026-10-03'), seconds: 50, cost_nanos: 19_583_333n });
    await close();
    const [difference, line] = (await invoiceOf()).lines;
    expect(line).toMatchObject({ kind: 'gpu_time', deployment, deployment_name: 'assistant', quantity: 250n, unit: 'second' });
    expect([line?.amount_nanos, difference?.kind, difference?.amount_nanos]).toEqual([97_916_667n, 'metering_difference', -1n]);
    expect(difference?.description).toBe(`assistant, GPU time on ${line?.instance_type}, difference to the sum of all intervals`);
  });

  test('says which lines are the surcharge of an adapter, also after it was deleted', async () => {
    const surcharge = {
      version: 'price_s',
      effective_at: 0,
      prompt_nanos: 10_000_001,
      completion_nanos: 40_000_003,
      is_surcharge: true as const,
    };
    await transact(database.database, [database.models.toRetire(organization, 'legal', [surcharge])]);
    const cost_nanos = costNanos(surcharge, { promptTokens: 100, completionTokens: 10 });
    for (const day of ['2026-10-02', '2026-10-03'])
      await usage(day, { model: 'legal', price_version: 'price_s', user_id: 'u', cost_nanos });
    await close();
    const { lines } = await invoiceOf();
    expect(lines.filter(({ model }) => model === 'legal').map(({ description, amount_nanos }) => [description, amount_nanos])).toEqual([
      ['legal, adapter surcharge on prompt tokens', 2_000n],
      ['legal, adapter surcharge on completion tokens', 800n],
    ]);
    expect(2n * cost_nanos).toBe(2_800n);
  });

  test('takes off what was paid from prepaid credit', async () => {
    await usage('2026-10-02', { cost_nanos: 20_000_000n, is_prepaid: true });
    await usage('2026-10-02', { cost_nanos: 30_000_000n });
    await close();
    const invoice = await invoiceOf();
    expect(briefly(invoice)).toContain('prepaid_credit -20000000');
    expect(invoice.total_nanos).toBe(30_000_000n);
  });

  test('shows an adjustment with both price versions for an event that was rated again', async () => {
    const event = await usage('2026-10-02', { cost_nanos: 50_000_000n });
    const rerate = { id: newId('rerate'), from: 'price_1' };
    const none = { prompt_tokens: 0, completion_tokens: 0 };
    await usage('2026-10-02', {
      ...event,
      ...none,
      request_id: `${event.request_id}#2`,
      cost_nanos: -20_000_000n,
      price_version: 'price_2',
      rerate,
    });
    await close();
    const invoice = await invoiceOf();
    expect(invoice.lines.find(({ kind }) => kind === 'adjustment')).toMatchObject({
      description: `${MODEL}, price price_1 corrected to price_2`,
      amount_nanos: -20_000_000n,
    });
    expect(invoice.total_nanos).toBe(30_000_000n);
  });

  test('charges tokens whose price was removed, and requests without a model, at what the events cost', async () => {
    await usage('2026-10-02', { model: 'gone', cost_nanos: 12_345n });
    await closing.addUsage({
      key_id: key,
      org_id: organization,
      admitted_at: at('2026-10-02'),
      cost_nanos: 5n,
      price_version: null,
      model: undefined as never,
    });
    await close();
    const lines = (await invoiceOf()).lines.filter(({ kind }) => kind === 'tokens');
    expect(lines.map(({ description, unit_price_nanos, amount_nanos }) => [description, unit_price_nanos, amount_nanos])).toEqual([
      ['Unknown model, tokens', null, 5n],
      ['gone, tokens', null, 12_345n],
    ]);
  });

  test('reads the events of all shards of a key, also of those that it no longer has', async () => {
    const busy = await closing.addKey(organization, { shards: 4 });
    await database.database.update({
      TableName: database.tables.Keys as string,
      Key: { id: busy },
      UpdateExpression: 'SET shards = :two',
      ExpressionAttributeValues: { ':two': 2 },
    });
    for (let i = 0; i < 24; i++)
      await closing.addUsage({ key_id: busy, org_id: organization, admitted_at: at('2026-10-02') + i, cost_nanos: 1_000_000n }, 4);
    await close();
    expect((await invoiceOf()).subtotal_nanos).toBe(24_000_000n);
  });

  test('does not exist without usage, although the month is closed', async () => {
    await close();
    expect(await closing.invoices.ofMonth(organization, MONTH)).toEqual([]);
    expect(await closing.billedMonths.getState(organization)).toMatchObject({ last_closed_month: MONTH });
    expect(closing.sent).toEqual([]);
  });

  test('stays a draft if the seller issues invoices by hand', async () => {
    await usage('2026-10-02');
    const manual = {
      ...closing.dependencies().settings,
      getSeller: async () => ({ ...(await closing.settings.getSeller()), issue: 'manual' }) as never,
    };
    await close(MONTH, { settings: manual });
    expect(await invoiceOf()).toMatchObject({ state: 'draft', number: null });
    expect(closing.sent).toEqual([]);
  });

  test('is found by the hourly run until it is issued and has its files', async () => {
    const unfinished = async () =>
      (await Array.fromAsync(closing.invoices.listUnfinished())).filter((one) => one.organization === organization);
    await usage('2026-10-02');
    await close();
    expect(await unfinished()).toEqual([{ organization, month: MONTH }]);
    const issued = await invoiceOf();
    const pdf = { key: 'invoices/1.pdf', sha256: '0', bytes: 1 };
    await transact(database.database, [...closing.invoices.toReplace(issued, { files: { pdf } })]);
    await close();
    expect(await unfinished()).toEqual([]);
  });

  test('has its files made once it is issued', async () => {
    await usage('2026-10-02');
    await close();
    expect(closing.sent).toEqual([{ task: 'render', organization, document: (await invoiceOf()).id }]);
  });
});

describe('closeMonth', () => {
  test('rejects a month before 01:00 on the 1st of the next one', async () => {
    const early = { now: () => at('2026-11-01', '00:59:59.999') };
    await expect(close(MONTH, early)).rejects.toThrow('2026-10 can be closed from 2026-11-01T01:00:00.000Z on');
  });

  test('waits until the month before is closed', async () => {
    await close('2026-08');
    await usage('2026-10-02');
    await close('2026-10');
    expect(await closing.invoices.ofMonth(organization, '2026-10')).toEqual([]);
    await close('2026-09');
    await close('2026-10');
    expect((await invoiceOf()).subtotal_nanos).toBe(14_001n);
  });

  test('waits until the month of the organization’s creation is closed', async () => {
    const created = {
      organizations: { getMany: async (ids: readonly string[]) => ids.map((id) => ({ id, name: id, createdAtMs: at('2026-09-30') })) },
    };
    await usage('2026-09-30');
    await usage('2026-10-02');
    for (const month of ['2026-10', '2026-08']) {
      await close(month, created);
      expect(await closing.billedMonths.get(organization, month)).toBeUndefined();
    }
    await close('2026-09', created);
    await close('2026-10', created);
    expect([(await invoiceOf('2026-09')).subtotal_nanos, (await invoiceOf('2026-10')).subtotal_nanos]).toEqual([14_001n, 14_001n]);
  });

  test('queues the next month if it is due, so that months are closed in order', async () => {
    const closes = () => closing.sent.filter(({ task }) => task === 'close');
    await close('2026-08', { now: () => at('2026-10-15') });
    expect(closes()).toEqual([{ task: 'close', organization, month: '2026-09' }]);
    // Delivered again: the next month may not have been sent.
    await close('2026-08', { now: () => at('2026-10-15') });
    expect(closes()).toHaveLength(2);
    await close('2026-09', { now: () => at('2026-10-15') });
    await close('2026-08', { now: () => at('2026-10-15') });
    expect(closes()).toHaveLength(2);
  });

  test('changes nothing the second time, whatever has changed since', async () => {
    await usage('2026-10-02');
    await close();
    const before = [canonicalJson(await invoiceOf()), await bucket.keys()];
    await usage('2026-10-02');
    await close(MONTH, { release: 'another', now: () => at('2027-01-05') });
    expect([canonicalJson(await invoiceOf()), await bucket.keys()]).toEqual(before);
  });

  test('continues where the last invocation ended, and reads no day twice', async () => {
    await usage('2026-10-02');
    await usage('2026-10-30');
    let checks = 0;
    await close(MONTH, { hasTime: () => ++checks < 30 });
    const [{ task = '' } = {}] = closing.sent;
    expect(task).toBe('close');
    expect(await closing.invoices.ofMonth(organization, MONTH)).toEqual([]);
    // This event arrives between two invocations, after its day was read.
    await usage('2026-10-02', { cost_nanos: 1n });
    await close();
    expect((await invoiceOf()).subtotal_nanos).toBe(28_002n);
  });

  test('fails if an invocation is too short for one API key, so that it does not loop forever', async () => {
    await usage('2026-10-02');
    await expect(close(MONTH, { hasTime: () => false })).rejects.toThrow('could be read for 2026-10 in the time of one invocation');
    expect(closing.sent).toEqual([]);
  });
});

const closeAndRateAgain = async (cost_nanos: bigint): Promise<void> => {
  const original = await usage('2026-10-02', { cost_nanos: 30_000_000n });
  await closing.rollUp([original]);
  await close('2026-10');
  const again = {
    request_id: `${original.request_id}#2`,
    rerate: { id: 'rr_1', from: 'price_1' },
    prompt_tokens: 0,
    completion_tokens: 0,
  };
  // The totals are not updated.
  await usage('2026-10-02', { cost_nanos, ...again });
  await transact(database.database, [closing.billedMonths.toNoteRatedAgain(organization, '2026-10-02', 'note', 0)]);
};

describe('closeMonth, for usage that comes after its month was closed', () => {
  test('adds a correction to the next invoice, once', async () => {
    const events = [await usage('2026-10-02')];
    await close('2026-10');
    events.push(await usage('2026-10-20', { cached_tokens: 100, cost_nanos: 5_000n }), await usage('2026-11-03'));
    await closing.rollUp(events);
    await close('2026-11');
    await close('2026-12');

    const { lines } = await invoiceOf('2026-11');
    expect(lines.map(brief)).toEqual([
      'tokens price_1 prompt 100 10000',
      'tokens price_1 completion 10 4000',
      'metering_difference price_1 1',
      'tokens 2026-10 price_1 cached_prompt 100 1000',
      'tokens 2026-10 price_1 completion 10 4000',
      'rounding -19001',
    ]);
    expect(lines[3]?.description).toBe(`Correction for 2026-10: ${MODEL}, cached prompt tokens`);
    expect(await closing.invoices.ofMonth(organization, '2026-12')).toEqual([]);
  });

  test('bills the events of a key whose only limiter was lost once that was made again', async () => {
    const lost = await usage('2026-10-02');
    const totals = noTotals();
    addEvent(totals, lost);
    await closing.rollUp([lost]);
    await closing.rollups.put({ keyId: key, day: '2026-10-02', model: MODEL, orgId: organization, totals });
    await database.database.delete({ TableName: database.tables.Keys as string, Key: { id: key } });
    await close('2026-10');
    expect(await closing.invoices.ofMonth(organization, '2026-10')).toEqual([]);
    expect(logged('totals_differ')).toHaveLength(1);

    // As `rebuild` does: the last use is not known.
    await database.database.put({
      TableName: database.tables.Keys as string,
      Item: newLimiterItem(key, organization, { set: {} }) as object as Item,
    });
    await close('2026-11');
    const { lines, subtotal_nanos } = await invoiceOf('2026-11');
    expect(lines.filter(({ is_correction, month }) => is_correction && month === '2026-10')).not.toEqual([]);
    expect(subtotal_nanos).toBe(14_001n);
  });

  test('includes days that were rated again after their totals had expired', async () => {
    await closeAndRateAgain(-20_000_000n);
    await close('2026-11');
    const { lines } = await invoiceOf('2026-11');
    expect(lines.filter(({ is_correction }) => is_correction)).toMatchObject([{ kind: 'adjustment', amount_nanos: -20_000_000n }]);
    // Events can be written after the day was read, so it is read once more. Then its marker is removed.
    expect([...(await closing.billedMonths.daysRatedAgain(organization)).keys()]).toEqual(['2026-10-02']);
    await close('2026-12');
    expect([...(await closing.billedMonths.daysRatedAgain(organization)).keys()]).toEqual([]);
    expect((await closing.invoices.ofMonth(organization, '2026-12')).flatMap(briefly)).toEqual([]);
  });

  test('includes days that were rated again years later, also after the correcting invoice became void', async () => {
    await closeAndRateAgain(-20_000_000n);
    const october = await closing.billedMonths.get(organization, '2026-10');
    const months = Array.from({ length: 25 }, (_, i) => monthOf(Date.UTC(2026, 10 + i)));
    for (const month of months) {
      const billed = { organization, month, days: {}, invoice: null, suspected: [], version: 0 };
      await transact(database.database, [closing.billedMonths.toReplace(billed)]);
    }
    const state = await closing.billedMonths.getState(organization);
    await transact(database.database, [closing.billedMonths.toReplaceState(organization, { ...state, last_closed_month: '2028-11' })]);
    const corrected = async (): Promise<bigint[]> =>
      (await invoiceOf('2028-12')).lines.filter(({ is_correction }) => is_correction).map(({ amount_nanos }) => amount_nanos);
    await close('2028-12');
    expect(await corrected()).toEqual([-20_000_000n]);
    await close('2029-01');
    expect([...(await closing.billedMonths.daysRatedAgain(organization)).keys()]).toEqual([]);

    const invoice = await invoiceOf('2028-12');
    const restored = await closing.billedMonths.toRestore(invoice);
    await transact(database.database, [...closing.invoices.toReplace(invoice, { state: 'void', voided_at: 1 }), ...restored]);
    expect((await closing.billedMonths.get(organization, '2026-10'))?.days).toEqual(october?.days);
    await close('2028-12');
    expect(await corrected()).toEqual([-20_000_000n]);
  });

  test('carries a negative correction forward: the invoice is 0, and the next one is lower', async () => {
    const first = await usage('2026-10-02', { cost_nanos: 90_000_000n });
    await close('2026-10');
    const rerate = { id: newId('rerate'), from: 'price_1' };
    const again = {
      ...first,
      request_id: `${first.request_id}#2`,
      prompt_tokens: 0,
      completion_tokens: 0,
      cost_nanos: -60_000_000n,
      rerate,
    };
    const events = [first, await usage('2026-10-02', again)];
    events.push(await usage('2026-11-02', { cost_nanos: 20_000_000n }), await usage('2026-12-02', { cost_nanos: 70_000_000n }));
    await closing.rollUp(events);
    await close('2026-11');
    await close('2026-12');

    const november = await invoiceOf('2026-11');
    expect(november).toMatchObject({ total_nanos: 0n, carried_forward_nanos: -40_000_000n });
    expect(sumOf(november.lines)).toBe(0n);
    const december = await invoiceOf('2026-12');
    expect(briefly(december)).toContain('carried_forward -40000000');
    expect(december.total_nanos).toBe(30_000_000n);
    expect(await closing.billedMonths.getState(organization)).toMatchObject({ carried_forward_nanos: 0n });
  });

  test('corrects GPU time, too', async () => {
    const gpu = { deployment_id: newId('deployment'), org_id: organization, cost_nanos: 39_166_667n };
    await closing.addGpu({ ...gpu, started_at: at('2026-10-02'), seconds: 100 });
    await close('2026-10');
    await closing.addGpu({ ...gpu, started_at: at('2026-10-02', '15:00:00.000'), seconds: 100 });
    await close('2026-11');
    const [line] = (await invoiceOf('2026-11')).lines;
    expect(line).toMatchObject({ kind: 'gpu_time', is_correction: true, month: '2026-10', quantity: 100n, amount_nanos: 39_166_667n });
  });
});

describe('closeMonth compares stored totals with events, and', () => {
  test('logs a difference by day, without an effect on the invoice', async () => {
    const event = await usage('2026-10-02');
    await closing.rollUp([event, { ...event, request_id: newRequestId(at('2026-10-07')) }]);
    await close();
    const [line = '{}'] = logged('totals_differ');
    expect(JSON.parse(line)).toMatchObject({
      level: 'ERROR',
      organization,
      month: MONTH,
      days: [{ day: '2026-10-07', events: { events: 0, cost_nanos: '0' }, totals: { events: 1, cost_nanos: '14001' } }],
    });
    expect((await invoiceOf()).subtotal_nanos).toBe(14_001n);
  });

  test('logs nothing if they are equal', async () => {
    await closing.rollUp([await usage('2026-10-02'), await usage('2026-10-09')]);
    await close();
    expect(logged('month_closed')).toHaveLength(1);
    expect(logged('totals_differ')).toEqual([]);
  });
});

describe('a void invoice', () => {
  const makeVoid = async (month: string): Promise<Invoice> => {
    const invoice = await invoiceOf(month);
    const restored = await closing.billedMonths.toRestore(invoice);
    await transact(database.database, [...closing.invoices.toReplace(invoice, { state: 'void', voided_at: 1 }), ...restored]);
    return invoice;
  };

  test('is replaced by one with the next number when its month is closed again', async () => {
    await usage('2026-10-02');
    await close();
    const before = await makeVoid(MONTH);
    await usage('2026-10-02');
    await close();
    const after = await invoiceOf();
    expect(after.id).not.toBe(before.id);
    expect(Number(after.number?.slice(4))).toBe(Number(before.number?.slice(4)) + 1);
    expect(after.subtotal_nanos).toBe(28_002n);
  });

  test('bills nothing: later invoices repeat its corrections and the amount carried forward', async () => {
    const first = await usage('2026-10-02', { cost_nanos: 90_000_000n });
    await close('2026-10');
    const rerate = { id: newId('rerate'), from: 'price_1' };
    const again = {
      ...first,
      request_id: `${first.request_id}#2`,
      prompt_tokens: 0,
      completion_tokens: 0,
      cost_nanos: -60_000_000n,
      rerate,
    };
    await closing.rollUp([first, await usage('2026-10-02', again), await usage('2026-11-02', { cost_nanos: 20_000_000n })]);
    await close('2026-11');
    await makeVoid('2026-11');
    await close('2026-11');
    expect(await invoiceOf('2026-11')).toMatchObject({ total_nanos: 0n, carried_forward_nanos: -40_000_000n });
    expect(await closing.billedMonths.getState(organization)).toMatchObject({ carried_forward_nanos: -40_000_000n });
  });

  test('bills nothing: a correction of days with expired totals returns, although its marker was removed', async () => {
    await closeAndRateAgain(20_000_000n);
    await close('2026-11');
    await close('2026-12');
    expect([...(await closing.billedMonths.daysRatedAgain(organization)).keys()]).toEqual([]);
    const corrections = async (): Promise<bigint[]> =>
      (await invoiceOf('2026-11')).lines.filter(({ is_correction }) => is_correction).map(({ amount_nanos }) => amount_nanos);
    for (let time = 0; time < 2; time++) {
      expect(await corrections()).toEqual([20_000_000n]);
      await makeVoid('2026-11');
      await close('2026-11');
    }
    expect(await corrections()).toEqual([20_000_000n]);
    expect((await closing.billedMonths.get(organization, '2026-10'))?.suspected).toEqual([]);
  });

  test('cannot be voided if a later invoice has corrected it or used the amount it carried forward', async () => {
    const events = [await usage('2026-10-02')];
    await close('2026-10');
    events.push(await usage('2026-10-02'));
    await closing.rollUp(events);
    await close('2026-11');
    const october = await invoiceOf('2026-10');
    await expect(closing.billedMonths.toRestore(october)).rejects.toMatchObject({ status: 409, code: 'invoice_in_use' });
    await makeVoid('2026-11');
    await expect(closing.billedMonths.toRestore(october)).resolves.toHaveLength(1);
  });

  test('cannot be voided if a later invoice has used what it carried forward of an earlier one', async () => {
    await usage('2026-10-02', { cost_nanos: -100_000_000n });
    await usage('2026-11-02', { cost_nanos: 40_000_000n });
    await usage('2026-12-02', { cost_nanos: 60_000_000n });
    await close('2026-10');
    await close('2026-11');
    const november = await invoiceOf('2026-11');
    expect(november).toMatchObject({ total_nanos: 0n, carried_forward_nanos: -60_000_000n });
    await close('2026-12');
    await expect(closing.billedMonths.toRestore(november)).rejects.toMatchObject({ status: 409, code: 'invoice_in_use' });
    await makeVoid('2026-12');
    await makeVoid('2026-11');
    expect(await closing.billedMonths.getState(organization)).toMatchObject({ carried_forward_nanos: -100_000_000n });
  });

  test('cannot be voided if a later invoice has used its amount, and carries a larger one forward', async () => {
    await usage('2026-10-02', { cost_nanos: -100_000_000n });
    await usage('2026-11-02', { cost_nanos: 100_000_000n });
    await usage('2026-12-02', { cost_nanos: -200_000_000n });
    for (const month of ['2026-10', '2026-11', '2026-12']) await close(month);
    await expect(closing.billedMonths.toRestore(await invoiceOf('2026-10'))).rejects.toMatchObject({ code: 'invoice_in_use' });
  });

  test('can be voided if what it carries forward is unused, although an earlier one that used more is void', async () => {
    await usage('2026-10-02', { cost_nanos: -100_000_000n });
    await usage('2026-11-02', { cost_nanos: 150_000_000n });
    await usage('2026-12-02', { cost_nanos: -200_000_000n });
    for (const month of ['2026-10', '2026-11', '2026-12']) await close(month);
    const carried: bigint[] = [];
    for (const month of ['2026-11', '2026-12', '2026-10']) {
      await makeVoid(month);
      carried.push((await closing.billedMonths.getState(organization)).carried_forward_nanos);
    }
    expect(carried).toEqual([-300_000_000n, -100_000_000n, 0n]);
    for (const month of ['2026-10', '2026-11', '2026-12']) await close(month);
    expect(await invoiceOf('2026-11')).toMatchObject({ total_nanos: 50_000_000n });
    expect(await closing.billedMonths.getState(organization)).toMatchObject({ carried_forward_nanos: -200_000_000n });
  });
});
