import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addGroup, type ChargeGroups, gpuGroup, listGroups, usageGroup } from '../../../../functions/billing/close/charge-group.ts';
import { createInvoicePrices } from '../../../../functions/billing/close/invoice-prices.ts';
import { usageLines } from '../../../../functions/billing/close/line.ts';
import type { IssuedInvoice } from '../../../../functions/billing/focus/invoice-detail.ts';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { costNanos } from '../../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { type GpuEvent, gpuEventId } from '../../../../shared/usage/gpu-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { createKey } from '../../../support/fixtures/create-key.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { invoiceWith, lineWith } from '../documents.ts';
import { amountOf, billedSum, checkCostAndUsage, type Row } from '../focus/validator.ts';
import { eventAt, newExport, startExports, type TestExports } from './run-export.ts';

let db: TestDatabase;
let exporting: TestExports;
beforeAll(async () => {
  db = await startTestDatabase();
  exporting = await startExports(db);
  await transact(db.database, [
    db.models.toRetire(SERVERLESS_POOL, 'small', [PRICE]),
    db.models.toRetire(SERVERLESS_POOL, 'large', [{ ...PRICE, version: 'price_2', prompt_nanos: 999_999_999 }]),
  ]);
});
afterAll(async () => {
  await exporting.close();
  await db.close();
});

const PRICE = {
  version: 'price_1',
  effective_at: 0,
  prompt_nanos: 500_000_001,
  cached_prompt_nanos: 50_000_003,
  completion_nanos: 1_500_000_007,
};

const keyOf = async (organization: string): Promise<string> =>
  (
    await createKey(db.limiters, {
      org: organization,
      scope: 'serverless',
      requests_per_minute: 60,
      tokens_per_minute: 100_000,
      concurrency: 4,
    })
  ).key_id;

// October events on several days, keys and models: priced, with a removed price, prepaid, failed, and rated again.
const someEvents = (keys: readonly string[], organization: string): UsageEvent[] =>
  keys.flatMap((key, k) =>
    ['2026-10-01T00:00:00Z', '2026-10-01T17:00:00Z', '2026-10-31T23:59:59Z'].flatMap((at, i) => {
      const tokens = { prompt_tokens: 1_234 + k, cached_tokens: 200 * i, completion_tokens: 77 + i };
      const cost_nanos = costNanos(PRICE, {
        promptTokens: tokens.prompt_tokens,
        cachedTokens: tokens.cached_tokens,
        completionTokens: tokens.completion_tokens,
      });
      const of = { org_id: organization, ...tokens, cost_nanos };
      const again = { ...of, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_nanos: -321n, price_version: 'price_3' };
      return [
        eventAt(key, at, 1, of),
        eventAt(key, at, 2, { ...of, ...(i === 1 && { is_prepaid: true }) }),
        eventAt(key, at, 3, { ...of, model: 'removed', price_version: 'price_9' }),
        eventAt(key, at, 4, { ...of, model: 'small', prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_nanos: 0n }),
        {
          ...eventAt(key, at, 5, again),
          request_id: `${eventAt(key, at, 1).request_id}#2`,
          rerate: { id: 'rr_1', from: 'price_1' },
        },
      ];
    }),
  );

const gpuEvent = (deployment: string, organization: string, at: string, seconds: number, cost: bigint): GpuEvent => {
  const of = {
    deployment_id: deployment,
    generation: 1,
    instance_type: 'ml.g5.xlarge',
    phase: 'serving' as GpuEvent['phase'],
    started_at: Date.parse(at),
  };
  return {
    ...of,
    id: gpuEventId(of),
    org_id: organization,
    name: 'support',
    instances: 2,
    ended_at: of.started_at + seconds * 1_000,
    seconds,
    cost_nanos: cost,
    price_version: 'price_7',
  };
};

const sumOf = (events: readonly { cost_nanos: bigint }[]): bigint => events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);

// A group’s whole cost is on one of its lines: the distribution does not change the sums.
const linesFor = (events: readonly UsageEvent[], gpu: readonly GpuEvent[] = []): InvoiceLine[] => {
  const of = (isWanted: (event: UsageEvent) => boolean): bigint => sumOf(events.filter(isWanted));
  const line = (kind: InvoiceLine['kind'], model: string, price_version: string, amount_nanos: bigint): InvoiceLine =>
    lineWith({ kind, description: `${model} ${kind}`, model, price_version, amount_nanos });
  const prepaid = of(({ is_prepaid }) => is_prepaid === true);
  return [
    line('tokens', 'small', 'price_1', of(({ price_version }) => price_version === 'price_1') - 5n),
    line('metering_difference', 'small', 'price_1', 5n),
    line(
      'tokens',
      'removed',
      'price_9',
      of(({ price_version }) => price_version === 'price_9'),
    ),
    line(
      'adjustment',
      'small',
      'price_3',
      of(({ rerate }) => rerate !== undefined),
    ),
    ...(gpu.length === 0
      ? []
      : [
          lineWith({
            kind: 'gpu_time',
            description: 'support',
            deployment: gpu[0]?.deployment_id ?? null,
            deployment_name: 'support',
            instance_type: 'ml.g5.xlarge',
            price_version: 'price_7',
            amount_nanos: sumOf(gpu),
          }),
        ]),
    ...(prepaid === 0n ? [] : [lineWith({ kind: 'prepaid_credit', description: 'Paid from credit', amount_nanos: -prepaid })]),
    lineWith({ kind: 'tokens', description: 'late', month: '2026-09', is_correction: true, model: 'small', amount_nanos: 777n }),
    lineWith({ kind: 'tax', description: 'VAT', amount_nanos: 12_345_678n }),
  ];
};

// The lines that closing makes of October, at the prices of the emulated table.
const closedLines = (events: readonly UsageEvent[], gpu: readonly GpuEvent[] = []): InvoiceLine[] => {
  const groups: ChargeGroups = new Map();
  for (const event of events) addGroup(groups, usageGroup(event));
  for (const event of gpu) addGroup(groups, gpuGroup(event));
  const { version, prompt_nanos, cached_prompt_nanos, completion_nanos } = PRICE;
  const nanos = {
    prompt_nanos: BigInt(prompt_nanos),
    cached_prompt_nanos: BigInt(cached_prompt_nanos),
    completion_nanos: BigInt(completion_nanos),
  };
  const prices = createInvoicePrices({ tokens: [{ model: 'small', version, ...nanos }], instances: [] });
  return usageLines(listGroups(groups), { month: '2026-10', isCorrection: false }, prices);
};

const ratedAgain = (event: UsageEvent, number: number, from: string, to: string, cost_nanos: bigint): UsageEvent => ({
  ...event,
  request_id: `${event.request_id}#${number}`,
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  cost_nanos,
  price_version: to,
  rerate: { id: `rr_${from}_${to}`, from },
});

// In the validator’s units.
const byLine = (rows: readonly Row[], { number, lines }: Pick<IssuedInvoice, 'number' | 'lines'>) => ({
  costs: lines.map((_, i) => billedSum(rows.filter(({ InvoiceDetailId }) => InvoiceDetailId === `${number}/${i + 1}`))),
  amounts: lines.map(({ amount_nanos }) => amountOf(dollarsOf(amount_nanos))),
});

const setUp = async () => {
  const organization = newId('organization');
  const keys = [await keyOf(organization), await keyOf(organization)].sort();
  return {
    organization,
    keys,
    invoice: async (lines: readonly InvoiceLine[], facts: Partial<Invoice> = {}) => {
      const invoice = invoiceWith(lines, { id: newId('invoice'), organization, ...facts });
      await transact(db.database, exporting.invoices.toCreate(invoice));
      return invoice;
    },
    export: async (facts: Parameters<typeof newExport>[1] = {}): Promise<string> => {
      const row = await exporting.run(await exporting.create(newExport(organization, { format: 'focus', ...facts })));
      expect([row.state, row.error]).toEqual(['completed', null]);
      return exporting.read(row);
    },
  };
};

const rowsOf = (rows: readonly Row[], kind: string): Row[] => rows.filter(({ x_ChargeKind }) => x_ChargeKind === kind);

describe('a FOCUS export', () => {
  test('adds up to the total of a month’s invoice, from usage by day to the rounding', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization);
    await exporting.store(events);
    const deployment = newId('deployment');
    const gpu = [
      gpuEvent(deployment, organization, '2026-10-03T00:00:00Z', 3_601, 2_000_000_001n),
      gpuEvent(deployment, organization, '2026-10-04T00:00:00Z', 7, 3_889n),
    ];
    for (const event of gpu) await transact(db.database, exporting.gpuEvents.toAdd([event]));
    const { number, total_nanos } = await invoice(linesFor(events, gpu));
    const rows = checkCostAndUsage(await exported(), { [number]: dollarsOf(total_nanos) });
    expect(new Set(rows.map(({ InvoiceId }) => InvoiceId))).toEqual(new Set([number]));
    expect(rowsOf(rows, 'tax')).toHaveLength(1);
    expect(rowsOf(rows, 'rounding')).toHaveLength(1);
    expect(rows.filter(({ ChargeClass }) => ChargeClass === 'Correction')).toEqual([
      expect.objectContaining({
        ChargePeriodStart: '2026-09-01T00:00:00Z',
        BillingPeriodStart: '2026-10-01T00:00:00Z',
        BilledCost: '0.000000777',
      }),
    ]);
    expect(rows.some(({ ChargeDescription = '' }) => ChargeDescription.includes('later invoice'))).toBe(false);
  });

  test('has usage by day, key, model, price version and kind of tokens, with quantity, price and SKU', async () => {
    const { organization, keys, export: exported } = await setUp();
    const [key = ''] = keys;
    const of = { org_id: organization, prompt_tokens: 1_000_000, cached_tokens: 400_000, completion_tokens: 3, cost_nanos: 320_001_805n };
    await exporting.store([eventAt(key, '2026-10-02T10:00:00Z', 1, of), eventAt(key, '2026-10-02T11:00:00Z', 2, of)]);
    const rows = checkCostAndUsage(await exported());
    const cost = BigInt(2 * 600_000) * 500_000_001n * 10n ** 25n;
    const [prompt] = rows;
    expect(prompt).toMatchObject({
      ChargePeriodStart: '2026-10-02T00:00:00Z',
      ChargePeriodEnd: '2026-10-03T00:00:00Z',
      SubAccountId: key,
      ResourceId: 'small',
      ResourceType: 'Model',
      SkuId: 'small/prompt',
      SkuMeter: 'Prompt Tokens',
      SkuPriceId: 'small/prompt/price_1',
      ListUnitPrice: '0.500000001',
      PricingQuantity: '1.2',
      PricingUnit: '1000000 Tokens',
      ConsumedQuantity: '1200000',
      ConsumedUnit: 'Tokens',
      InvoiceId: '',
      BillingAccountId: organization,
      BillingAccountName: 'Acme',
      HostProviderName: 'Amazon Web Services',
    });
    expect(amountOf(prompt?.BilledCost ?? '')).toBe(cost);
    expect(rows.map(({ SkuMeter, x_ChargeKind }) => SkuMeter || x_ChargeKind)).toEqual([
      'Prompt Tokens',
      'Cached Prompt Tokens',
      'Completion Tokens',
      'metering_difference',
    ]);
    expect(billedSum(rows)).toBe(amountOf(dollarsOf(2n * 320_001_805n)));
  });

  test('has what cost nothing as usage at the price 0, also if it had no price or its deployment was deleted', async () => {
    const { organization, keys, export: exported } = await setUp();
    const of = { org_id: organization, prompt_tokens: 3_000, cached_tokens: 0, completion_tokens: 20, cost_nanos: 0n };
    await exporting.store([eventAt(keys[0] as string, '2026-10-02T10:00:00Z', 1, { ...of, model: 'support', price_version: 'price_d' })]);
    const unpriced = { ...gpuEvent(newId('deployment'), organization, '2026-10-03T00:00:00Z', 1_800, 0n), price_version: null };
    await transact(db.database, exporting.gpuEvents.toAdd([unpriced]));
    const rows = checkCostAndUsage(await exported());
    const facts = rows.map((row) => [row.ChargeCategory, row.SkuPriceId, row.ListUnitPrice, row.PricingQuantity, row.ConsumedQuantity]);
    expect(facts).toEqual([
      ['Usage', 'support/prompt/price_d', '0', '0.003', '3000'],
      ['Usage', 'support/completion/price_d', '0', '0.00002', '20'],
      ['Usage', 'ml.g5.xlarge/time/unpriced', '0', '1', '3600'],
    ]);
    expect(billedSum(rows)).toBe(0n);
  });

  test('has charges at a price that is not known as adjustments, whose description has the quantity', async () => {
    const { organization, keys, export: exported } = await setUp();
    const of = { org_id: organization, prompt_tokens: 3_000, cached_tokens: 0, completion_tokens: 20, cost_nanos: 9n };
    await exporting.store([eventAt(keys[0] as string, '2026-10-02T10:00:00Z', 1, { ...of, model: 'removed', price_version: 'price_9' })]);
    await transact(
      db.database,
      exporting.gpuEvents.toAdd([
        { ...gpuEvent(newId('deployment'), organization, '2026-10-03T00:00:00Z', 60, 7n), price_version: 'price_x' },
      ]),
    );
    const rows = checkCostAndUsage(await exported());
    expect(rows.map((row) => [row.ChargeCategory, row.ChargeDescription, row.BilledCost])).toEqual([
      ['Adjustment', 'removed: 3020 tokens without a known price', '0.000000009'],
      ['Adjustment', 'support on ml.g5.xlarge: 120 seconds without a known price', '0.000000007'],
    ]);
  });

  test('has a row for what events cost less than quantity × price, because no more was held for them', async () => {
    const { organization, keys, export: exported } = await setUp();
    const of = { org_id: organization, prompt_tokens: 1_000_000, cached_tokens: 0, completion_tokens: 0, cost_nanos: 400_000_000n };
    await exporting.store([eventAt(keys[0] as string, '2026-10-02T10:00:00Z', 1, { ...of, is_capped: true })]);
    const rows = checkCostAndUsage(await exported());
    expect(rows.map(({ ChargeDescription, BilledCost }) => [ChargeDescription, BilledCost])).toEqual([
      ['small: prompt tokens', '0.500000001'],
      ['small: difference to the sum of all events', '-0.100000001'],
    ]);
  });

  test('says which rows are the surcharge of an adapter', async () => {
    const { organization, keys, export: exported } = await setUp();
    const [key = ''] = keys;
    const surcharge = { ...PRICE, version: 'price_s', is_surcharge: true as const };
    await transact(db.database, [db.models.toRetire(organization, 'legal', [surcharge])]);
    const of = {
      org_id: organization,
      model: 'legal',
      price_version: 'price_s',
      prompt_tokens: 2_000,
      cached_tokens: 0,
      completion_tokens: 3,
    };
    const cost_nanos = costNanos(surcharge, { promptTokens: 2_000, completionTokens: 3 });
    await exporting.store([eventAt(key, '2026-10-02T10:00:00Z', 1, { ...of, cost_nanos })]);
    const rows = checkCostAndUsage(await exported());
    expect(rows.map(({ ChargeDescription }) => ChargeDescription).slice(0, 2)).toEqual([
      'legal: adapter surcharge on prompt tokens',
      'legal: adapter surcharge on completion tokens',
    ]);
    expect(billedSum(rows)).toBe(amountOf(dollarsOf(cost_nanos)));
  });

  test('has rows of their own for the projects that a key had, which add up to the same', async () => {
    const { organization, keys, export: exported } = await setUp();
    const [key = ''] = keys;
    const of = { org_id: organization, prompt_tokens: 1_000_000, cached_tokens: 0, completion_tokens: 0, cost_nanos: 500_000_001n };
    await exporting.store([
      eventAt(key, '2026-10-02T10:00:00Z', 1, { ...of, project_id: 'prj_a' }),
      eventAt(key, '2026-10-02T11:00:00Z', 2, { ...of, project_id: 'prj_b' }),
      eventAt(key, '2026-10-02T12:00:00Z', 3, of),
    ]);
    const rows = checkCostAndUsage(await exported());
    expect(rows.map(({ x_ProjectId, BilledCost }) => [x_ProjectId, BilledCost]).sort()).toEqual([
      ['', '0.500000001'],
      ['prj_a', '0.500000001'],
      ['prj_b', '0.500000001'],
    ]);
  });

  test('still adds up if events came late, and names the charges that a later invoice has', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization);
    const { number, total_nanos } = await invoice(linesFor(events));
    const late = eventAt(keys[0] as string, '2026-10-20T12:00:00Z', 9, { org_id: organization, cost_nanos: 15_000n });
    await exporting.store([...events, late]);
    const rows = checkCostAndUsage(await exported(), { [number]: dollarsOf(total_nanos) });
    const left = rows.filter(({ ChargeDescription = '' }) => ChargeDescription.includes('later invoice'));
    expect(left.map(({ BilledCost }) => BilledCost)).toEqual(['-0.000015']);
  });

  test('takes late usage out of the service and the resource to which it belongs', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization).slice(0, 1);
    const deployment = newId('deployment');
    const gpu = gpuEvent(deployment, organization, '2026-10-03T00:00:00Z', 60, 1_000n);
    const issued = await invoice(closedLines(events, [gpu]));
    const late = { ...gpuEvent(deployment, organization, '2026-10-31T23:59:00Z', 60, 30n), price_version: 'price_8' };
    const other = eventAt(keys[0] as string, '2026-10-31T12:00:00Z', 9, { org_id: organization, model: 'large', price_version: 'price_2' });
    await exporting.store([...events, { ...other, cost_nanos: 7n }]);
    for (const event of [gpu, late]) await transact(db.database, exporting.gpuEvents.toAdd([event]));
    const rows = checkCostAndUsage(await exported(), { [issued.number]: dollarsOf(issued.total_nanos) });
    const sums = (name: string) =>
      Object.entries(Object.groupBy(rows, (row) => row[name] ?? '')).map(([of, own = []]) => [of, billedSum(own)]);
    const nanos = (of: readonly { cost_nanos: bigint }[]): bigint => amountOf(dollarsOf(sumOf(of)));
    const rounding = billedSum(rowsOf(rows, 'rounding'));
    expect(Object.fromEntries(sums('ServiceName'))).toEqual({
      'Model inference': nanos(events) + rounding,
      'Model deployments': nanos([gpu]),
    });
    expect(Object.fromEntries(sums('ResourceId'))).toEqual({ small: nanos(events), large: 0n, [deployment]: nanos([gpu]), '': rounding });
  });

  test('leaves usage that was rated again after the invoice to the later invoice', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization);
    await exporting.store(events);
    const before = events.filter(({ rerate }) => rerate === undefined);
    const { number, total_nanos } = await invoice(linesFor(before).filter(({ kind }) => kind !== 'adjustment'));
    const rows = checkCostAndUsage(await exported(), { [number]: dollarsOf(total_nanos) });
    expect(rowsOf(rows, 'adjustment')).toEqual([]);
  });

  test('charges each line’s amount if two price versions were corrected to one', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const [first, second] = [3, 4].map((number) =>
      eventAt(keys[0] as string, '2026-10-05T12:00:00Z', number, { org_id: organization, model: 'removed', price_version: 'price_7' }),
    ) as [UsageEvent, UsageEvent];
    const deployment = newId('deployment');
    const time = gpuEvent(deployment, organization, '2026-10-03T00:00:00Z', 60, 1_000n);
    const timeAgain = (from: string, price_version: string, cost_nanos: bigint): GpuEvent => ({
      ...time,
      id: `${time.id}#${from}`,
      seconds: 0,
      price_version,
      cost_nanos,
      rerate: { id: `rr_${from}`, from },
    });
    const gpu = [
      time,
      timeAgain('price_7', 'price_8', 20n),
      timeAgain('price_8', 'price_9', 300n),
      timeAgain('price_6', 'price_9', 4_000n),
    ];
    for (const event of gpu) await transact(db.database, exporting.gpuEvents.toAdd([event]));
    const events = [
      first,
      ratedAgain(first, 2, 'price_7', 'price_8', 1_000n),
      ratedAgain(first, 3, 'price_8', 'price_9', 878_000n),
      second,
      ratedAgain(second, 2, 'price_7', 'price_9', 118_000n),
    ];
    await exporting.store(events);
    const issued = await invoice(closedLines(events, gpu));
    const adjustments = issued.lines.filter(({ kind }) => kind === 'adjustment');
    expect(adjustments.map(({ rerate_from, price_version }) => `${rerate_from} ${price_version}`).sort()).toEqual([
      'price_6 price_9',
      'price_7 price_8',
      'price_7 price_8',
      'price_7 price_9',
      'price_8 price_9',
      'price_8 price_9',
    ]);
    const rows = checkCostAndUsage(await exported(), { [issued.number]: dollarsOf(issued.total_nanos) });
    const { costs, amounts } = byLine(rows, issued);
    expect(costs).toEqual(amounts);
  });

  test('groups all adjustments to a version for invoices of release 0.1.0, whose lines lack rerate_from', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const event = eventAt(keys[0] as string, '2026-10-05T12:00:00Z', 3, {
      org_id: organization,
      model: 'removed',
      price_version: 'price_7',
    });
    const events = [event, ratedAgain(event, 2, 'price_8', 'price_9', 878n), ratedAgain(event, 3, 'price_7', 'price_9', 118n)];
    await exporting.store(events);
    const issued = await invoice(closedLines(events).map(({ rerate_from: _, ...line }) => line));
    const rows = checkCostAndUsage(await exported(), { [issued.number]: dollarsOf(issued.total_nanos) });
    const place = issued.lines.findIndex(({ kind }) => kind === 'adjustment');
    expect(rowsOf(rows, 'adjustment').map(({ BilledCost, InvoiceDetailId }) => [BilledCost, InvoiceDetailId])).toEqual([
      ['0.000000118', `${issued.number}/${place + 1}`],
      ['0.000000878', `${issued.number}/${place + 1}`],
    ]);
  });

  test('names a line of the invoice in every row, also for the rounding of each event', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    // Rounded to the nano-dollar as a whole, these tokens cost the same as their events, so the invoice has no line for
    // the difference.
    const of = { org_id: organization, prompt_tokens: 1_234, cached_tokens: 0, completion_tokens: 0, cost_nanos: 617_000n };
    const events = [eventAt(keys[0] as string, '2026-10-02T10:00:00Z', 1, of), ...someEvents(keys, organization).slice(2, 3)];
    await exporting.store(events);
    const issued = await invoice(closedLines(events));
    expect(issued.lines.map(({ kind }) => kind)).not.toContain('metering_difference');
    const rows = checkCostAndUsage(await exported(), { [issued.number]: dollarsOf(issued.total_nanos) });
    expect(rowsOf(rows, 'metering_difference').map(({ ChargeDescription }) => ChargeDescription)).toEqual([
      'small: difference to the sum of all events',
    ]);
    const { costs, amounts } = byLine(rows, issued);
    expect(costs).toEqual(amounts);
  });

  test('ignores void invoices and drafts', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization);
    await exporting.store(events);
    await invoice(linesFor(events), { state: 'void', number: 'INV-000001' });
    const rows = checkCostAndUsage(await exported());
    expect(new Set(rows.map(({ InvoiceId }) => InvoiceId))).toEqual(new Set(['']));
    const charged = sumOf(events) - sumOf(events.filter(({ is_prepaid }) => is_prepaid));
    expect(billedSum(rows)).toBe(amountOf(dollarsOf(charged)));
  });

  test('has only usage if it covers part of a month or one API key', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const events = someEvents(keys, organization);
    await exporting.store(events);
    await invoice(linesFor(events));
    for (const facts of [{ to_ms: Date.parse('2026-10-31') }, { api_key_ids: [keys[0] as string] }]) {
      const rows = checkCostAndUsage(await exported(facts));
      expect(rows.length).toBeGreaterThan(0);
      expect([...rowsOf(rows, 'tax'), ...rowsOf(rows, 'rounding')]).toEqual([]);
    }
  });

  test('resets its sums at each month, even if it continues in another invocation', async () => {
    const { organization, keys, invoice } = await setUp();
    const october = someEvents(keys, organization);
    const november = keys.map((key) =>
      eventAt(key, '2026-11-05T12:00:00Z', 1, { org_id: organization, model: 'removed', price_version: 'price_9' }),
    );
    await exporting.store([...october, ...november]);
    const first = await invoice(linesFor(october));
    const only = lineWith({
      kind: 'tokens',
      description: 'removed',
      model: 'removed',
      price_version: 'price_9',
      amount_nanos: sumOf(november),
    });
    const second = await invoice([{ ...only, month: '2026-11' }], { month: '2026-11', number: 'INV-000043' });
    const created = await exporting.create(newExport(organization, { format: 'focus', to_ms: Date.parse('2026-12-01') }));
    // Each invocation has time for one slice.
    const row = await exporting.run(created, { ...exporting.dependencies, hasTime: () => false });
    const file = await exporting.read(row);
    checkCostAndUsage(file, { [first.number]: dollarsOf(first.total_nanos), [second.number]: dollarsOf(second.total_nanos) });
    expect(row.sums).toEqual({});
  });

  test('names the currency and the seller of an issued invoice, whatever they are now', async () => {
    const { organization, keys, invoice, export: exported } = await setUp();
    const at = (day: string, number: number) =>
      eventAt(keys[0] as string, `${day}T12:00:00Z`, number, { org_id: organization, cost_nanos: 15_000n });
    const october = at('2026-10-05', 1);
    await exporting.store([october, at('2026-11-05', 2)]);
    await invoice(linesFor([october]));
    const rows = checkCostAndUsage(await exported({ to_ms: Date.parse('2026-12-01') }));
    const named = (isInvoiced: boolean) => [
      ...new Set(
        rows
          .filter(({ InvoiceId }) => (InvoiceId !== '') === isInvoiced)
          .map(({ BillingCurrency, InvoiceIssuerName, ServiceProviderName }) =>
            [BillingCurrency, InvoiceIssuerName, ServiceProviderName].join(),
          ),
      ),
    ];
    expect(named(false)).toEqual(['USD,Sluice,Sluice']);
    expect(named(true)).toEqual(['EUR,Schleuse Rechenbetriebe GmbH,Schleuse Rechenbetriebe GmbH']);
  });
});

describe('the validator', () => {
  test.each([
    ['a missing mandatory column', (file: string) => file.replace('ChargeClass', 'x_A'), /mandatory/],
    [
      'columns that are not in order',
      (file: string) => file.replace('BilledCost,BillingAccountId', 'BillingAccountId,BilledCost'),
      /order/,
    ],
    ['a number with a plus sign', (file: string) => file.replace('0.000015', '+0.000015'), /BilledCost/],
    ['an inclusive period end', (file: string) => file.replace('2026-11-01T00:00:00Z', '2026-10-31T00:00:00Z'), /exclusive end/],
    ['a correction that is not one', (file: string) => file.replace(',Adjustment,,', ',Adjustment,Correction,'), /corrections/],
  ])('finds %s', async (_name, damage, message) => {
    const { organization, keys, export: exported } = await setUp();
    const of = { org_id: organization, model: 'removed', price_version: 'price_9' };
    await exporting.store([eventAt(keys[0] as string, '2026-10-20T12:00:00Z', 9, of)]);
    const file = await exported();
    checkCostAndUsage(file);
    expect(() => checkCostAndUsage(damage(file))).toThrow(message);
  });
});
