import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { issued } from '../../../functions/billing/focus/invoice-detail.ts';
import { invoicePdf } from '../../../functions/billing/render/invoice-pdf.ts';
import { balanceOf } from '../../../functions/control/organizations/balance.ts';
import { sha256Of } from '../../../shared/billing/billing-files.ts';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { DETAILS, SPAN_MS, type TotalsSpan } from '../../../shared/usage/organization-totals.ts';
import { testFonts } from '../../functions/billing/documents.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { deploymentsOf } from '../../support/fixtures/deployments.ts';
import { sized } from '../../support/sized.ts';
import { createReference, type Reference, type ReferenceEntry, type ReferenceLine, type Sums } from './reference.ts';
import { type Script, writeScript } from './script.ts';
import { createUsageReplies, type UsageQuery } from './usage-replies.ts';
import { openWorld, type World } from './world.ts';

const FROM = Date.parse('2026-09-01');
const TO = Date.parse('2027-01-01');
// More than 200,000 together at the full size.
const REQUESTS_PER_SHARD_AND_DAY = sized(30, 2_105);
const MIN_REQUESTS = sized(2_700, 200_000);

let database: TestDatabase;
let script: Script;
let reference: Reference;
let world: World;
const logged: string[] = [];

beforeAll(async () => {
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    logged.push(String(line));
    return true;
  });
  database = await startTestDatabase();
  script = writeScript({ requestsPerShardDay: REQUESTS_PER_SHARD_AND_DAY, run: 'quarter' });
  reference = createReference(script);
  world = await openWorld(database, script);
  for (const step of script.steps) {
    reference.apply(step);
    await world.run(step);
  }
  world.readAgain();
}, 1_800_000);
afterAll(async () => {
  jest.restoreAllMocks();
  await database.close();
});

// The oldest first.
const invoicesOf = async (org: string): Promise<Invoice[]> => (await world.invoices.list(org, { limit: 100 })).invoices.reverse();
const allInvoices = async (): Promise<Invoice[]> => (await Promise.all(script.orgs.map(invoicesOf))).flat();

const factsOf = (line: InvoiceLine): ReferenceLine => ({
  kind: line.kind,
  month: line.month,
  isCorrection: line.is_correction,
  model: line.model,
  tokenKind: line.token_kind,
  deployment: line.deployment,
  type: line.instance_type,
  version: line.price_version,
  quantity: line.quantity,
  unitPrice: line.unit_price_nanos,
  nanos: line.amount_nanos,
});

const textOf = (line: ReferenceLine): string =>
  [
    line.month,
    line.isCorrection,
    line.kind,
    line.model,
    line.tokenKind,
    line.deployment,
    line.type,
    line.version,
    line.quantity,
    line.unitPrice,
    line.nanos,
  ].join(' ');
const inOrder = (lines: readonly ReferenceLine[]): string[] => lines.map(textOf).sort();

// Without the versions of the rows that it has replaced.
const bytesOf = ({ replaced, ...invoice }: Invoice): string =>
  canonicalJson({ ...invoice, replaced: replaced.map(({ month, before }) => ({ month, days: before?.days ?? null })) });

const numberOf = ({ number }: Pick<Invoice, 'number'>): number => Number(number?.replace('INV-', ''));

test('has each kind of event that can go wrong in a quarter', () => {
  const requests = script.steps.flatMap((step) => (step.do === 'use' ? step.requests : []));
  expect(requests.length).toBeGreaterThan(MIN_REQUESTS);
  const kinds = new Set(reference.invoices().flatMap(({ lines }) => lines.map(({ kind }) => kind)));
  expect([...kinds].sort()).toEqual([
    'adjustment',
    'carried_forward',
    'gpu_time',
    'metering_difference',
    'prepaid_credit',
    'rounding',
    'tokens',
  ]);
  expect(reference.invoices().some(({ carriedForward }) => carriedForward < 0n)).toBe(true);
  expect(reference.invoices().some(({ isVoid }) => isVoid)).toBe(true);
  expect(reference.invoices().some(({ credited }) => credited > 0n)).toBe(true);
  expect(reference.ledger(script.orgs[0] as string).filter(({ expiredGrant }) => expiredGrant !== null)).toHaveLength(4);
});

describe('every invoice', () => {
  test('has the lines, the total and the carry-forward of the reference, to the nano-dollar', async () => {
    const found = (await allInvoices()).sort((one, other) => numberOf(one) - numberOf(other));
    expect(
      found.map(({ organization, month, state, total_nanos, carried_forward_nanos, credited_nanos }) => [
        organization,
        month,
        state === 'void',
        total_nanos,
        carried_forward_nanos,
        credited_nanos,
      ]),
    ).toEqual(
      reference
        .invoices()
        .map(({ org, month, isVoid, total, carriedForward, credited }) => [org, month, isVoid, total, carriedForward, credited]),
    );
    for (const [i, invoice] of found.entries())
      expect(inOrder(invoice.lines.map(factsOf))).toEqual(inOrder(reference.invoices()[i]?.lines ?? []));
  });

  test('has the next number, without gaps, and adds up', async () => {
    const found = await allInvoices();
    expect(found.map(numberOf).sort((one, other) => one - other)).toEqual(found.map((_, i) => i + 1));
    for (const { lines, total_nanos, tax_nanos, subtotal_nanos } of found) {
      expect(lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)).toBe(total_nanos);
      expect(tax_nanos).toBe(0n);
      expect(total_nanos % 10_000_000n).toBe(0n);
      expect(total_nanos - subtotal_nanos).toBe(
        lines.filter(({ kind }) => kind === 'rounding').reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n),
      );
    }
  });

  test('stays as it is when its month is closed again', async () => {
    const before = await allInvoices();
    for (const { organization, month } of before) await world.close(organization, month);
    expect(await allInvoices()).toEqual(before);
  });

  test('is made again with the same bytes from the same events, and so are its PDF, CSV and JSON', async () => {
    const last = await Promise.all(script.orgs.map(async (org) => (await invoicesOf(org)).at(-1) as Invoice));
    for (const invoice of last.toReversed()) await world.forget(invoice);
    for (const { organization, month } of last) await world.close(organization, month);
    for (const before of last) {
      const after = await world.invoices.get(before.organization, before.id);
      expect(Object.keys(after.files).sort()).toEqual(['csv', 'focus', 'json', 'pdf']);
      expect(after.replaced.length).toBeGreaterThan(1);
      expect(bytesOf(after)).toBe(bytesOf(before));
    }
  });

  test('has a PDF whose bytes are the same whenever it is made', async () => {
    const fonts = await testFonts();
    for (const invoice of await allInvoices())
      expect([invoice.number, sha256Of(await invoicePdf(fonts, issued(invoice)))]).toEqual([invoice.number, invoice.files.pdf?.sha256]);
  });

  test('follows from its events, also if it is void, has corrections or others came later', async () => {
    const [, postpaid = '', sparse = ''] = script.orgs;
    const [annulled] = await world.invoices.ofMonth(postpaid, '2026-10');
    const invoices = [annulled as Invoice, ...(await invoicesOf(sparse))];
    const verified = [];
    for (const { id } of invoices) verified.push(await world.verify(id));
    expect(verified.flatMap(({ differences }) => differences)).toEqual([]);
    expect(verified.flatMap(({ late }) => late).filter(({ is_billed }) => is_billed)).not.toEqual([]);
  });
});

test('numbers credit notes without gaps, and credits what the reference does', async () => {
  const { notes } = await world.creditNotes.list(script.orgs[2] as string, { limit: 100 });
  expect(notes.map(({ number }) => number).reverse()).toEqual(['CN-000001', 'CN-000002']);
  expect(notes.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)).toBe(
    reference.invoices().reduce((sum, { credited }) => sum + credited, 0n),
  );
  for (const { files } of notes) expect(files.pdf?.bytes).toBeGreaterThan(0);
});

test('keeps the grants, deductions and expiries of the reference in the ledger of credit', async () => {
  for (const org of script.orgs) {
    const entries = await Array.fromAsync(world.credit.list(org));
    expect(
      entries.map(({ number, amount_nanos, expires_at = null, expired_grant = null }) => [number, amount_nanos, expires_at, expired_grant]),
    ).toEqual(reference.ledger(org).map(({ number, nanos, expiresMs, expiredGrant }) => [number, nanos, expiresMs, expiredGrant]));
  }
});

test('has the balance of credit of the reference, without drift', async () => {
  const [org = ''] = script.orgs;
  const balance = await balanceOf({ ...world, deployments: deploymentsOf(database) }, org);
  expect(balance).toMatchObject({ ...reference.balance(org), held: 0n, drift: 0n });
});

describe('the totals of an organization', () => {
  const timeOf = (ms: number, span: TotalsSpan): number => Math.floor(ms / SPAN_MS[span]) * SPAN_MS[span];
  const spans: TotalsSpan[] = ['minute', 'ten_minutes', 'hour', 'day'];

  test.each(spans.flatMap((span) => DETAILS.map((detail) => [span, detail] as const)))(
    'are those of the reference by %s and %s',
    async (span, detail) => {
      for (const organization of script.orgs) {
        const found = new Map<string, Sums>();
        for await (const row of world.totals.list({ organization, span, detail, fromMs: FROM, toMs: TO })) {
          const { startMs, model, keyId, userId, totals } = row;
          const sums = {
            requests: totals.requests,
            prompt: totals.prompt_tokens,
            cached: totals.cached_tokens,
            completion: totals.completion_tokens,
          };
          found.set([startMs, model, keyId, userId].join(' '), { ...sums, nanos: totals.cost_nanos, prepaidNanos: totals.prepaid_nanos });
        }
        const expected = reference.group(organization, ({ atMs, model, key, user }) =>
          [timeOf(atMs, span), model, detail === 'model' ? undefined : key, detail === 'user' ? user : undefined].join(' '),
        );
        expect(found.size).toBe(expected.size);
        for (const [name, sums] of expected) expect([name, found.get(name)]).toEqual([name, sums]);
      }
    },
  );

  test('are those of the reference for GPU time by day', async () => {
    for (const org of script.orgs) {
      const found = new Map<string, { seconds: bigint; nanos: bigint }>();
      for await (const { day, deploymentId, instanceSeconds, costNanos } of world.gpuEvents.listDays(org, '2026-09-01', '2026-12-31'))
        found.set(`${day} ${deploymentId}`, { seconds: instanceSeconds, nanos: costNanos });
      expect(found).toEqual(reference.gpuDays(org));
    }
  });
});

// The names by which the API can group, of an entry of the reference.
const NAMES: Readonly<Record<string, (entry: Readonly<ReferenceEntry>) => string | null>> = {
  api_key_id: ({ key }) => key,
  user_id: ({ user }) => user,
  model: ({ model, name }) => model ?? name,
  route: ({ model }) => (model === null ? null : '/v1/chat/completions'),
  deployment: ({ deployment }) => deployment,
  line_item: ({ type, model }) => (type === null ? (model ?? 'Unknown model') : `GPU time, ${type}`),
};
const WIDTH_MS = { '1m': SPAN_MS.minute, '1h': SPAN_MS.hour, '1d': SPAN_MS.day };
const ALL_DAYS = { from: '2026-09-01', to: '2027-01-01' };

// The start of an entry’s bucket and its names; empty if it is not in the range.
const nameIn = ({ from, to, width = '1d', groupBy }: UsageQuery) => {
  const [fromMs, toMs, widthMs] = [Date.parse(from), Date.parse(to), WIDTH_MS[width]];
  return (entry: Readonly<ReferenceEntry>): string => {
    if (entry.atMs < fromMs || entry.atMs >= toMs) return '';
    return JSON.stringify([Math.floor(entry.atMs / widthMs) * widthMs, groupBy.map((name) => NAMES[name]?.(entry) ?? null)]);
  };
};

describe('the usage API', () => {
  const of = (query: Partial<UsageQuery>): UsageQuery => ({ ...ALL_DAYS, groupBy: [], ...query });

  test.each([
    of({}),
    of({ groupBy: ['model'] }),
    of({ groupBy: ['api_key_id', 'model'] }),
    of({ groupBy: ['user_id'] }),
    of({ groupBy: ['route', 'user_id', 'api_key_id', 'model'] }),
    of({ width: '1h', groupBy: ['model'], from: '2026-11-01', to: '2026-12-05' }),
    of({ width: '1m', groupBy: ['model', 'user_id'], from: '2026-11-29', to: '2026-12-05' }),
  ])('returns the usage of the reference by %j', async (query) => {
    for (const org of script.orgs) {
      const expected = reference.group(org, nameIn(query));
      expected.delete('');
      const found = (await createUsageReplies(world).completions(org, query)).map(
        ({ startMs, by, requests, prompt, cached, completion, nanos }) => [
          JSON.stringify([startMs, by]),
          ...[requests, prompt, cached, completion].map(String),
          nanos,
        ],
      );
      expect(found.length).toBeGreaterThan(0);
      expect(new Map(found.map((row) => [row[0], row]))).toEqual(
        new Map(
          [...expected].map(([name, { requests, prompt, cached, completion, nanos }]) => [
            name,
            [name, ...[requests, prompt, cached, completion].map(String), nanos],
          ]),
        ),
      );
    }
  });

  test.each([
    of({}),
    of({ groupBy: ['line_item'] }),
    of({ groupBy: ['api_key_id', 'line_item'] }),
    of({ groupBy: ['deployment', 'model'] }),
  ])('returns the costs of the reference by %j', async (query) => {
    for (const org of script.orgs) {
      const expected = reference.costs(org, nameIn(query));
      expected.delete('');
      const found = await createUsageReplies(world).costs(org, query);
      expect(new Map(found.map(({ startMs, by, nanos }) => [JSON.stringify([startMs, by]), nanos]))).toEqual(
        new Map([...expected].map(([name, { nanos }]) => [name, nanos])),
      );
      for (const { startMs, by, quantity } of found)
        if (quantity !== undefined) expect(String(quantity)).toBe(String(expected.get(JSON.stringify([startMs, by]))?.quantity));
    }
  });
});

test('found no totals that differed from the events when a month was closed', () => {
  expect(logged.filter((line) => line.includes('"ERROR"'))).toEqual([]);
});
