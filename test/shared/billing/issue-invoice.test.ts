import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import { amountLine } from '../../../shared/billing/amounts/amount-line.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { issueInvoice } from '../../../shared/billing/issue-invoice.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import {
  type BillingDeps,
  billingDepsOf,
  NOW,
  newCustomer,
  SELLER,
  setSeller,
  storeDraft,
} from '../../functions/control/billing/billing-fixtures.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, unreliable } from '../../support/faults/unreliable-database.ts';
import { sized } from '../../support/sized.ts';

// Each of the invoices that are issued at the same time has to try again for all that come before it.
const ORGANIZATIONS = sized(5, 20);
const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06', '2026-07', '2026-08', '2026-09', '2026-10'];
const origin = systemOrigin('billing', NOW);

let database: TestDatabase;
let deps: BillingDeps;
beforeAll(async () => {
  database = await startTestDatabase();
  deps = billingDepsOf(database);
});
afterAll(async () => {
  await database.close();
});

const draftsOf = async (organizations: number, months: readonly string[]): Promise<Invoice[]> => {
  const drafts: Invoice[] = [];
  for (let i = 0; i < organizations; i++) {
    const { organization } = await newCustomer(deps);
    for (const month of months) drafts.push(await storeDraft(deps, organization, { month }));
  }
  return drafts;
};

const numberOf = ({ number }: Invoice): number => Number(number?.slice('INV-'.length));
const sortedNumbers = (invoices: readonly Invoice[]): number[] => invoices.map(numberOf).sort((a, b) => a - b);
const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

test('rejects a draft before the seller is set', async () => {
  const [draft] = await draftsOf(1, ['2026-10']);
  await expect(issueInvoice(deps, origin, draft as Invoice)).rejects.toMatchObject({ status: 409, code: 'no_seller' });
});

describe('issueInvoice with a seller', () => {
  beforeAll(() => setSeller(deps));

  test('prints the seller, the buyer and the terms of the time of issue, and tells the organization', async () => {
    const { organization } = await newCustomer(deps, 'Acme');
    const before = await deps.settings.getProfile(organization);
    const profile = { ...before, emails: ['invoices@acme.example'], purchase_order: 'PO-1', payment_terms_days: 7 };
    await deps.database.transactWrite({ TransactItems: deps.settings.toReplaceProfile(profile, before).map(({ item }) => item) });
    const draft = await storeDraft(deps, organization);
    const last = await deps.numbers.last('invoice');
    const issued = await issueInvoice(deps, origin, draft);
    expect(issued).toMatchObject({
      state: 'issued',
      seller: { legal_name: SELLER.legal_name },
      buyer: { legal_name: 'Acme', email: 'invoices@acme.example' },
      purchase_order: 'PO-1',
      payment_terms_days: 7,
      issued_at: NOW,
      due_at: NOW + 7 * DAY_MS,
    });
    expect(numberOf(issued)).toBe(last + 1);
    expect(await deps.invoices.get(organization, draft.id)).toEqual(issued);
    expect(await deps.notified(organization)).toEqual(['sluice.invoice.issued.v1']);
    expect((await deps.auditedIn(organization)).at(-1)).toBe('invoice.issued');
    await expect(issueInvoice(deps, origin, issued)).rejects.toMatchObject({ code: 'invoice_not_draft' });
  });

  test('prints the note of the seller, or the one that is agreed with the buyer', async () => {
    const seller = await deps.settings.getSeller();
    if (!seller) throw new Error('The seller is missing.');
    await transact(deps.database, [deps.settings.toReplaceSeller({ ...seller, invoice_note: 'VAT number on request.' })]);
    const { organization } = await newCustomer(deps);
    const first = await issueInvoice(deps, origin, await storeDraft(deps, organization, { month: '2026-09' }));
    const before = await deps.settings.getProfile(organization);
    await transact(deps.database, deps.settings.toReplaceProfile({ ...before, invoice_note: 'Reverse charge.' }, before));
    const second = await issueInvoice(deps, origin, await storeDraft(deps, organization));
    expect([first.note, second.note]).toEqual(['VAT number on request.', 'Reverse charge.']);
    expect(await deps.invoices.get(organization, second.id)).toEqual(second);
  });

  test('rejects a draft in the currency that the seller had before, which a closing made during the change', async () => {
    const seller = await deps.settings.getSeller();
    if (!seller) throw new Error('The seller is missing.');
    const { organization } = await newCustomer(deps);
    const party = { legal_name: seller.legal_name, address: seller.address, tax_id: null, email: null };
    const draft = await storeDraft(deps, organization, { seller: party, currency: 'EUR', currency_symbol: '€' });
    await expect(issueInvoice(deps, origin, draft)).rejects.toMatchObject({ status: 409, code: 'currency_changed' });
    expect(await deps.invoices.get(organization, draft.id)).toEqual(draft);
    expect((await issueInvoice(deps, origin, { ...draft, currency: 'USD' })).currency).toBe('USD');
  });

  test('rounds a draft again whose currency had another minor unit', async () => {
    const seller = await deps.settings.getSeller();
    if (!seller) throw new Error('The seller is missing.');
    const { organization } = await newCustomer(deps);
    const lines = [amountLine('tokens', 'small', '2026-10', 12_344_000_000n), amountLine('rounding', 'Rounding', '2026-10', -4_000_000n)];
    const draft = await storeDraft(deps, organization, { lines, total_nanos: 12_340_000_000n });
    await transact(deps.database, [deps.settings.toReplaceSeller({ ...seller, currency: 'JPY', currency_symbol: '¥' })]);
    const issued = await issueInvoice(deps, origin, draft);
    await transact(deps.database, [deps.settings.toReplaceSeller({ ...seller, version: seller.version + 1 })]);
    expect(issued).toMatchObject({ currency: 'JPY', total_nanos: 12_000_000_000n });
    expect(issued.lines).toEqual([lines[0], amountLine('rounding', 'Rounding to a whole amount', '2026-10', -344_000_000n)]);
    expect(await deps.invoices.get(organization, draft.id)).toEqual(issued);
  });

  test(`gives ten invoices of each of ${ORGANIZATIONS} organizations at the same time numbers without a gap`, async () => {
    const drafts = await draftsOf(ORGANIZATIONS, MONTHS);
    const last = await deps.numbers.last('invoice');
    const issued = await Promise.all(drafts.map((draft) => issueInvoice(deps, origin, draft)));
    expect(sortedNumbers(issued)).toEqual(from(last + 1, drafts.length));
    const stored = await Promise.all(drafts.map(({ organization, id }) => deps.invoices.get(organization, id)));
    expect(sortedNumbers(stored)).toEqual(from(last + 1, drafts.length));
    expect(await deps.numbers.last('invoice')).toBe(last + drafts.length);
  });

  test('numbers an invoice once that several issue at once, and rejects the others with a 412', async () => {
    const [draft] = (await draftsOf(1, ['2026-10'])) as [Invoice];
    const last = await deps.numbers.last('invoice');
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => issueInvoice(deps, origin, draft)));
    const lost = results.filter(({ status }) => status === 'rejected');
    expect(lost).toHaveLength(7);
    for (const result of lost) expect(result).toMatchObject({ reason: { status: 412 } });
    expect(await deps.numbers.last('invoice')).toBe(last + 1);
  });

  test.each(['before', 'after'] as const)('leaves no gap and no second number after a crash %s the transaction', async (crashWhen) => {
    const [draft] = (await draftsOf(1, ['2026-10'])) as [Invoice];
    const last = await deps.numbers.last('invoice');
    const crash = (operation: keyof Database, when: 'before' | 'after') => operation === 'transactWrite' && when === crashWhen;
    const crashing = billingDepsOf(database, unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash }));
    await expect(issueInvoice(crashing, origin, draft)).rejects.toBeInstanceOf(Crash);
    const left = await deps.invoices.get(draft.organization, draft.id);
    const done = left.state === 'draft' ? await issueInvoice(deps, origin, left) : left;
    expect([numberOf(done), await deps.numbers.last('invoice')]).toEqual([last + 1, last + 1]);
  });
});
