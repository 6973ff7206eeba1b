import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { DAY_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, createClosing } from '../../../support/fixtures/closing.ts';
import { sized } from '../../../support/sized.ts';
import { newExport, startExports, type TestExports } from '../exports/run-export.ts';
import { BORN_MS, createLife, type Kill, type Life } from './life.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let exporting: TestExports;
beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
  exporting = await startExports(database);
});
afterAll(async () => {
  await exporting.close();
  await bucket.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

// A life takes a second or two. These few correct closed months, and days of void invoices.
const LIVES = sized(5, 1_000);
const SEED = sized<number | undefined>(1, undefined);

const Killed: fc.Arbitrary<Kill> = fc.option(fc.record({ write: fc.nat(12), when: fc.constantFrom('before' as const, 'after' as const) }), {
  nil: undefined,
  freq: 3,
});
const step = <Name extends string, Fields extends object>(
  weight: number,
  name: Name,
  fields: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
) => ({
  weight,
  arbitrary: fc.record({ step: fc.constant(name), ...fields }) as fc.Arbitrary<{ step: Name } & Fields>,
});
const Step = fc.oneof(
  step(6, 'use', { tokens: fc.integer({ min: 1, max: 5_000 }), waits: fc.boolean() }),
  step(4, 'hold', { percent: fc.bigInt({ min: 10n, max: 100n }), isQueued: fc.boolean() }),
  step(1, 'settle', {}),
  step(3, 'grant', { dollars: fc.bigInt({ min: 1n, max: 50n }), days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }) }),
  step(4, 'hour', { hours: fc.integer({ min: 1, max: 30 }) }),
  step(3, 'expiry', { minute: fc.integer({ min: 1, max: 15 }), percent: fc.bigInt({ min: 10n, max: 100n }), kill: Killed }),
  step(3, 'month', { months: fc.integer({ min: 1, max: 2 }) }),
  step(3, 'roll up', {}),
  step(3, 'look', { kill: Killed, seed: fc.nat() }),
  step(3, 'rerate', { from: fc.double({ min: 0, max: 1, noNaN: true }), isBack: fc.boolean(), kill: Killed }),
  step(2, 'void', {}),
  step(1, 'old correction', {}),
);
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never;

const midnightAfter = (ms: number): number => (Math.floor(ms / DAY_MS) + 1) * DAY_MS;

const shuffled =
  (seed: number) =>
  (months: string[]): string[] =>
    months
      .map((month, i) => [((seed + 1) * (i + 7) * 2_654_435_761) % 4_294_967_296, month] as const)
      .sort(([a], [b]) => a - b)
      .map(([, month]) => month);
const inOrder = (months: string[]): string[] => months;

const look = async (life: Life, seed: number, kill: Kill): Promise<void> => {
  await life.expire(kill);
  await life.closeMonths(shuffled(seed), kill);
};

const take = async (life: Life, of: Step): Promise<void> => {
  switch (of.step) {
    case 'use':
      return life.use(of.tokens, of.waits);
    case 'hold':
      return life.hold(of.percent, of.isQueued);
    case 'settle':
      return life.settleAll();
    case 'grant':
      return void (await life.grant(of.dollars, of.days));
    case 'hour':
      return life.advance(life.now() + of.hours * 60 * MINUTE_MS);
    case 'expiry': {
      // A request holds credit over midnight and over the look at 01:00, as far as it can take so long.
      await life.grant(20n, 1);
      const midnight = midnightAfter(life.now());
      await life.advance(midnight - of.minute * MINUTE_MS);
      await life.hold(of.percent, true);
      await life.advance(midnight + 60 * MINUTE_MS);
      return life.expire(of.kill);
    }
    case 'month':
      return life.advance(life.now() + of.months * 31 * DAY_MS);
    case 'roll up':
      return life.rollUp();
    case 'look':
      return look(life, of.seed, of.kill);
    case 'rerate': {
      const endMs = midnightAfter(life.now()) - DAY_MS;
      const fromMs = BORN_MS - DAY_MS + Math.floor((endMs - BORN_MS) * of.from);
      return endMs > fromMs ? life.rerate(fromMs, endMs, of.isBack, of.kill) : undefined;
    }
    case 'void':
      return life.voidLast();
    case 'old correction': {
      // Usage that is older than its totals is billed as a correction. A month without usage is closed, and then the
      // correction’s invoice becomes void.
      await life.use(4_000, false);
      await life.advance(life.now() + 5 * 31 * DAY_MS);
      await life.closeMonths(inOrder, undefined);
      await life.rerate(BORN_MS - DAY_MS, life.now() - 100 * DAY_MS, false, undefined);
      await life.use(10, false);
      await life.advance(life.now() + 31 * DAY_MS);
      await life.closeMonths(inOrder, undefined);
      await life.advance(life.now() + 31 * DAY_MS);
      await life.closeMonths(inOrder, undefined);
      return life.voidLast();
    }
  }
};

const isUsage = ({ kind }: InvoiceLine): boolean => !['carried_forward', 'tax', 'rounding'].includes(kind);
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, nanos) => total + nanos, 0n);

const exportedIds = async (life: Life, boundaries: readonly number[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const [i, from_ms] of boundaries.entries()) {
    const to_ms = boundaries[i + 1];
    if (to_ms === undefined) continue;
    const created = await exporting.create(newExport(life.organization, { format: 'jsonl', from_ms, to_ms }));
    const row = await exporting.run(created, { ...exporting.dependencies, files: bucket.files });
    const lines = (await exporting.read(row)).split('\n').filter(Boolean);
    ids.push(...lines.map((line) => (JSON.parse(line) as { id: string }).id));
  }
  return ids.sort();
};

const check = async (life: Life): Promise<void> => {
  const events = await life.events();
  const payable = sum(events.map(({ is_prepaid, cost_nanos }) => (is_prepaid ? 0n : cost_nanos)));
  const billed = (await life.invoices()).filter(({ state }) => state !== 'void').flatMap(({ lines }) => lines.filter(isUsage));
  expect(sum(billed.map(({ amount_nanos }) => amount_nanos))).toBe(payable);

  const { granted, spent, expired, held, available } = await life.balance();
  expect(spent + expired + held + available).toBe(granted);
  for (const { left, expired: removed, after } of await life.expiries()) {
    expect(removed).toBeLessThanOrEqual(left);
    // Credit spent after an expiry isn't deducted again.
    expect(removed + after).toBeGreaterThanOrEqual(left);
  }

  const arrivals = events.map(({ request_id }) => requestTimeMs(request_id));
  const boundaries = [BORN_MS - DAY_MS, ...arrivals.map(midnightAfter), life.now() + DAY_MS];
  const whole = events.map(({ request_id }) => request_id).sort();
  expect(
    await exportedIds(
      life,
      [...new Set(boundaries)].sort((a, b) => a - b),
    ),
  ).toEqual(whole);
};

test(
  'whatever happens to an organization, its bills, its exports and its credit add up to its usage',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 4, maxLength: 20 }), async (steps) => {
        const life = await createLife(database, closing);
        for (const of of steps) await take(life, of);
        await life.end();
        await check(life);
      }),
      { numRuns: LIVES, ...(SEED !== undefined && { seed: SEED }), endOnFailure: true },
    );
  },
  sized(240_000, 7_200_000),
);
