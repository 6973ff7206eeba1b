import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createCreditNote } from '../../../../functions/control/billing/credit-notes/create-credit-note.ts';
import { deleteDraft, issueDraft, payInvoice, voidInvoice } from '../../../../functions/control/billing/invoices/change-invoice.ts';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import type { Invoice, InvoiceState } from '../../../../shared/billing/invoice.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import { type BillingDeps, billingDepsOf, DOLLAR, newAdmin, newCustomer, setSeller, storeDraft } from './billing-fixtures.ts';

const SEEDS = [1, 2, 3];
const INVOICES = 12;
const ROUNDS = 80;
const TOTAL = 10n * DOLLAR;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await setSeller(billingDepsOf(database));
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

interface Model {
  state: InvoiceState;
  isNumbered: boolean;
  credited: bigint;
}
type Operation = { kind: 'issue' | 'pay' | 'void' | 'delete' } | { kind: 'credit'; amount: bigint | 'whole' };

// Written from the documented rules alone. Undefined: the operation is not allowed.
const applied = (model: Model, operation: Operation): Model | undefined => {
  const { state, credited } = model;
  switch (operation.kind) {
    case 'issue':
      return state === 'draft' ? { ...model, state: 'issued', isNumbered: true } : undefined;
    case 'pay':
      return state === 'issued' ? { ...model, state: 'paid' } : undefined;
    case 'void':
      return state === 'issued' && credited === 0n ? { ...model, state: 'void' } : undefined;
    case 'delete':
      return state === 'draft' ? { ...model, state: 'void' } : undefined;
    case 'credit': {
      const amount = operation.amount === 'whole' ? TOTAL - credited : operation.amount;
      const isAllowed = (state === 'issued' || state === 'paid') && amount > 0n && credited + amount <= TOTAL;
      return isAllowed ? { ...model, credited: credited + amount } : undefined;
    }
  }
};

const perform = (deps: BillingDeps, actor: Actor, id: string, operation: Operation): Promise<unknown> => {
  const reason = 'test';
  switch (operation.kind) {
    case 'issue':
      return issueDraft(deps, actor, id, undefined);
    case 'pay':
      return payInvoice(deps, actor, id, {}, undefined);
    case 'void':
      return voidInvoice(deps, actor, id, { reason }, undefined);
    case 'delete':
      return deleteDraft(deps, actor, id, undefined);
    case 'credit':
      return createCreditNote(
        deps,
        actor,
        id,
        operation.amount === 'whole' ? { whole: true, reason } : { amount: dollarsOf(operation.amount), reason },
      );
  }
};

type Outcome = 'done' | 'rejected' | 'crashed';
const outcomeOf = async (work: Promise<unknown>): Promise<Outcome> => {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof Crash) return 'crashed';
    expect([409, 412]).toContain((error as { status?: number }).status);
    return 'rejected';
  }
};

// All that were done, and a crashed one or not, in any order that the model allows.
const possible = (model: Model, operations: readonly (readonly [Operation, Outcome])[]): Model[] => {
  const rest = operations.filter(([, outcome]) => outcome !== 'rejected');
  const ends: Model[] = rest.some(([, outcome]) => outcome === 'done') ? [] : [model];
  rest.forEach(([operation], i) => {
    const next = applied(model, operation);
    if (next)
      ends.push(
        ...possible(
          next,
          rest.filter((_, other) => other !== i),
        ),
      );
  });
  return ends;
};

const modelOf = ({ state, number, credited_nanos }: Invoice): Model => ({ state, isNumbered: number !== null, credited: credited_nanos });

const numbersOf = (printed: readonly (string | null)[]): number[] =>
  printed.flatMap((number) => (number === null ? [] : [Number(/\d+$/.exec(number)?.[0])])).sort((a, b) => a - b);

const OPERATIONS: readonly Operation['kind'][] = ['issue', 'issue', 'pay', 'void', 'delete', 'credit', 'credit', 'credit'];

test.each(SEEDS)('invoices and credit notes follow the rules, whatever races and crashes (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const deps = billingDepsOf(database);
  const crash = (operation: string) => operation === 'transactWrite' && random() < 0.08;
  const shaky = billingDepsOf(database, unreliable(database.database, { random, lostRequests: 0.02, lostReplies: 0, crash }));
  const admins = [await newAdmin(deps), await newAdmin(deps)] as const;
  const { organization } = await newCustomer(deps);
  const before = { invoices: await deps.numbers.last('invoice'), notes: await deps.numbers.last('credit-note') };
  const drafts = [];
  for (let i = 1; i <= INVOICES; i++)
    drafts.push(await storeDraft(deps, organization, { month: `2025-${String(i).padStart(2, '0')}`, total_nanos: TOTAL }));

  const randomOperation = (): Operation => {
    const kind = pick(OPERATIONS);
    return kind === 'credit' ? { kind, amount: pick(['whole', DOLLAR, 4n * DOLLAR, 10n * DOLLAR, 11n * DOLLAR]) } : { kind };
  };
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = pick(drafts);
    const model = modelOf(await deps.invoices.get(organization, id));
    const operations = admins.slice(0, random() < 0.3 ? 1 : 2).map(() => randomOperation());
    const outcomes = await Promise.all(operations.map((operation, i) => outcomeOf(perform(shaky, admins[i] as Actor, id, operation))));
    const left = modelOf(await deps.invoices.get(organization, id));
    const pairs = operations.map((operation, i) => [operation, outcomes[i] as Outcome] as const);
    expect({ round, pairs, possible: possible(model, pairs) }).toMatchObject({ possible: expect.arrayContaining([left]) });
    // If operations race and the rules allow any of them, one wins.
    const isAnyAllowed = operations.some((operation) => applied(model, operation));
    if (!outcomes.includes('crashed')) expect(outcomes.includes('done')).toBe(isAnyAllowed);
  }

  const invoices = await Promise.all(drafts.map(({ id }) => deps.invoices.get(organization, id)));
  const { notes } = await deps.creditNotes.list(organization, { limit: 100 });
  const range = (first: number, last: number): number[] => Array.from({ length: last - first }, (_, i) => first + i + 1);
  expect(numbersOf(invoices.map(({ number }) => number))).toEqual(range(before.invoices, await deps.numbers.last('invoice')));
  expect(numbersOf(notes.map(({ number }) => number))).toEqual(range(before.notes, await deps.numbers.last('credit-note')));
  for (const { id, state, month, credited_nanos, total_nanos } of invoices) {
    const own = notes.filter(({ invoice }) => invoice === id);
    expect(own.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)).toBe(credited_nanos);
    expect(credited_nanos <= total_nanos).toBe(true);
    expect((await deps.creditNotes.list(id, { limit: 100 })).notes).toHaveLength(own.length);
    // A void invoice bills nothing.
    expect((await deps.billed.get(organization, month)) === undefined).toBe(state === 'void');
  }
  const issued = invoices.filter(({ number }) => number !== null).length;
  expect((await deps.notified(organization)).filter((type) => type === 'sluice.invoice.issued.v1')).toHaveLength(issued);
  expect((await deps.notified(organization)).filter((type) => type === 'sluice.credit_note.issued.v1')).toHaveLength(notes.length);
});
