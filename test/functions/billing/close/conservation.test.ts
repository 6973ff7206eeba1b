import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { nextMonth } from '../../../../shared/billing/month.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, closingOf, createClosing } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const MONTHS = ['2026-09', '2026-10', '2026-11'];
const CENT_NANOS = 10_000_000n;

const Cost = fc.bigInt({ min: 0n, max: 100_000_000n });
const When = { month: fc.constantFrom(...MONTHS), day: fc.integer({ min: 1, max: 3 }), minute: fc.nat(1_439) };
const Step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('request' as const),
      ...When,
      tokens: fc.tuple(fc.nat(5_000), fc.nat(5_000), fc.nat(500)),
      cost: Cost,
      version: fc.constantFrom('price_1', 'price_2', 'price_gone', null),
      isPrepaid: fc.boolean(),
      project: fc.constantFrom('prj_1', 'prj_2', undefined, undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('gpu' as const), ...When, seconds: fc.integer({ min: 1, max: 600 }), cost: Cost }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('rerate' as const),
      which: fc.nat(99),
      by: fc.bigInt({ min: -200_000_000n, max: 50_000_000n }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('close' as const) }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('void' as const) }) },
);
type Step = typeof Step extends fc.Arbitrary<infer Value> ? Value : never;

const isUsage = ({ kind }: InvoiceLine): boolean => !['carried_forward', 'tax', 'rounding'].includes(kind);
const isOfModel = (line: InvoiceLine): boolean => isUsage(line) && line.kind !== 'prepaid_credit' && line.deployment === null;
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
const amountsOf = (lines: readonly InvoiceLine[]): bigint => sum(lines.map(({ amount_nanos }) => amount_nanos));

const createScenario = async () => {
  const organization = newId('organization');
  const keys = [await closing.addKey(organization), await closing.addKey(organization)];
  const deployment = newId('deployment');
  const events: UsageEvent[] = [];
  // The cost of each event, without prepaid ones.
  const payable: { month: string; nanos: bigint }[] = [];
  // The charges of requests only, before credit.
  const charged: { month: string; project: string | null; requests: number; nanos: bigint }[] = [];
  let closed: string | undefined;
  let gpuStarts = 0;

  const store = async (event: UsageEvent): Promise<void> => {
    events.push(await closing.addUsage(event));
    const month = new Date(event.admitted_at).toISOString().slice(0, 7);
    payable.push({ month, nanos: event.is_prepaid ? 0n : event.cost_nanos });
    charged.push({ month, project: event.project_id ?? null, requests: event.rerate ? 0 : 1, nanos: event.cost_nanos });
  };
  const atOf = ({ month, day, minute }: { month: string; day: number; minute: number }): number =>
    Date.parse(`${month}-0${day}`) + minute * 60_000;
  const invoices = async (): Promise<Invoice[]> => {
    const found: Invoice[] = [];
    for (const month of [...MONTHS, '2026-12', '2027-01']) found.push(...(await closing.invoices.ofMonth(organization, month)));
    return found;
  };

  const closeNext = async (): Promise<void> => {
    const month = closed === undefined ? (MONTHS[0] as string) : nextMonth(closed);
    if (month > '2027-01') return;
    await closing.rollUp(events);
    await closing.close(organization, month, closingOf(month));
    closed = month;
  };
  const voidLast = async (): Promise<void> => {
    if (closed === undefined) return;
    const invoice = (await closing.invoices.ofMonth(organization, closed)).find(({ state }) => state !== 'void');
    if (!invoice) return;
    const restored = await closing.billedMonths.toRestore(invoice);
    await transact(database.database, [...closing.invoices.toReplace(invoice, { state: 'void' }), ...restored]);
    await closing.rollUp(events);
    await closing.close(organization, closed, closingOf(closed));
  };

  return {
    run: async (step: Step): Promise<void> => {
      // The last month stays open: it bills late usage.
      if (step.step === 'close') return closed === '2026-12' ? undefined : closeNext();
      if (step.step === 'void') return voidLast();
      if (step.step === 'gpu') {
        // Two intervals of a deployment never start at the same time.
        const started_at = atOf(step) + gpuStarts++ * 1_000;
        await closing.addGpu({ deployment_id: deployment, org_id: organization, started_at, seconds: step.seconds, cost_nanos: step.cost });
        payable.push({ month: step.month, nanos: step.cost });
        return;
      }
      if (step.step === 'request') {
        const [prompt_tokens, cached_tokens, completion_tokens] = step.tokens;
        const admitted_at = atOf(step);
        return store({
          ...TEMPLATE,
          request_id: newRequestId(admitted_at),
          key_id: keys[step.minute % 2] as string,
          org_id: organization,
          admitted_at,
          prompt_tokens,
          cached_tokens,
          completion_tokens,
          cost_nanos: step.cost,
          price_version: step.version,
          ...(step.project && { project_id: step.project }),
          ...(step.isPrepaid && { is_prepaid: true as const }),
        });
      }
      const original = events.filter(({ request_id }) => !request_id.includes('#'))[step.which % Math.max(1, events.length)];
      if (!original) return;
      const ratings = events.filter(({ request_id }) => request_id.startsWith(original.request_id)).length;
      const rerate = { id: newId('rerate'), from: original.price_version ?? 'none' };
      const none = { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0 };
      await store({
        ...original,
        ...none,
        request_id: `${original.request_id}#${ratings + 1}`,
        cost_nanos: step.by,
        price_version: 'price_2',
        rerate,
      });
    },

    check: async (): Promise<void> => {
      const all = (await invoices()).filter(({ state }) => state !== 'void');
      for (const { lines, total_nanos, subtotal_nanos, tax_nanos } of all) {
        expect(amountsOf(lines)).toBe(total_nanos);
        expect(total_nanos % CENT_NANOS).toBe(0n);
        expect(total_nanos >= 0n).toBe(true);
        const rounding = amountsOf(lines.filter(({ kind }) => kind === 'rounding'));
        expect(subtotal_nanos + tax_nanos + rounding).toBe(total_nanos);
      }
      const counted = sum(payable.filter(({ month }) => closed !== undefined && month <= closed).map(({ nanos }) => nanos));
      expect(amountsOf(all.flatMap(({ lines }) => lines.filter(isUsage)))).toBe(counted);
      const { carried_forward_nanos } = await closing.billedMonths.getState(organization);
      const rounded = amountsOf(all.flatMap(({ lines }) => lines.filter(({ kind }) => kind === 'rounding')));
      expect(sum(all.map(({ total_nanos }) => total_nanos)) + carried_forward_nanos).toBe(counted + rounded);
    },

    /** The annexes of all invoices add up to the costs of each project, and each annex to the lines of models. */
    checkProjects: async (): Promise<void> => {
      const annexes = (await invoices()).flatMap(({ state, lines, projects = [] }) => {
        if (state === 'void') return [];
        const ofModels = amountsOf(lines.filter(isOfModel));
        if (projects.length === 0) return [{ project_id: null, requests: 0, amount_nanos: ofModels }];
        expect(sum(projects.map(({ amount_nanos }) => amount_nanos))).toBe(ofModels);
        expect(projects.slice(0, -1).every(({ project_id }) => project_id !== null)).toBe(true);
        return projects;
      });
      const counted = charged.filter(({ month }) => closed !== undefined && month <= closed);
      for (const project of ['prj_1', 'prj_2', null]) {
        const own = annexes.filter(({ project_id }) => project_id === project);
        const expected = counted.filter((each) => each.project === project);
        expect({ project, nanos: sum(own.map(({ amount_nanos }) => amount_nanos)) }).toEqual({
          project,
          nanos: sum(expected.map(({ nanos }) => nanos)),
        });
        if (project === null) continue;
        expect(own.reduce((total, { requests }) => total + requests, 0)).toBe(
          expected.reduce((total, { requests }) => total + requests, 0),
        );
      }
    },

    closeRest: async (): Promise<void> => {
      // The month after the last one bills late usage.
      while (closed === undefined || closed < '2026-12') await closeNext();
      await closeNext();
    },
  };
};

const TEMPLATE: Omit<UsageEvent, 'request_id' | 'key_id' | 'org_id' | 'admitted_at' | 'cost_nanos' | 'price_version'> = {
  model: 'small',
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  time_to_first_token_ms: null,
  duration_ms: 1_000,
};

test('bills the exact cost of all counted events once, in whatever order months are closed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 24 }), async (steps) => {
      const scenario = await createScenario();
      for (const step of steps) await scenario.run(step);
      await scenario.closeRest();
      await scenario.check();
      await scenario.checkProjects();
    }),
    { numRuns: 12, endOnFailure: true },
  );
});
