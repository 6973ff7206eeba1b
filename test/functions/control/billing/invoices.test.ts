import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createCreditNote } from '../../../../functions/control/billing/credit-notes/create-credit-note.ts';
import {
  downloadCreditNote,
  listCreditNotes,
  visibleCreditNote,
} from '../../../../functions/control/billing/credit-notes/find-credit-note.ts';
import { deleteDraft, issueDraft, payInvoice, voidInvoice } from '../../../../functions/control/billing/invoices/change-invoice.ts';
import { downloadInvoice } from '../../../../functions/control/billing/invoices/download-invoice.ts';
import { visibleInvoice } from '../../../../functions/control/billing/invoices/find-invoice.ts';
import { InvoiceResource, toInvoiceResource } from '../../../../functions/control/billing/invoices/invoice-resource.ts';
import { InvoicesQuery, listInvoices } from '../../../../functions/control/billing/invoices/list-invoices.ts';
import { requestInvoice } from '../../../../functions/control/billing/invoices/request-invoice.ts';
import { retrieveProfile, updateProfile } from '../../../../functions/control/billing/profile/manage-profile.ts';
import { replaceSeller, retrieveSeller } from '../../../../functions/control/billing/seller/manage-seller.ts';
import { NewSeller } from '../../../../functions/control/billing/seller/seller-resource.ts';
import { METERED_PREFIX } from '../../../../shared/billing/billing-settings-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { type BillingDeps, billingDepsOf, DOLLAR, MONTH, NOW, newAdmin, newCustomer, storeDraft } from './billing-fixtures.ts';

const SECONDS = NOW / 1_000;

let database: TestDatabase;
// With the permissions of the control plane.
let control: Database;
let deps: BillingDeps;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  control = await database.as('control');
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  deps = billingDepsOf(database, control);
  admin = await newAdmin(deps);
});

const query = (fields: object = {}): InvoicesQuery => InvoicesQuery.parse(fields);
const later = (actor: Actor, ms: number): Actor => ({ ...actor, origin: { ...actor.origin, nowMs: NOW + ms } });

describe('the seller', () => {
  const body = NewSeller.parse({ legal_name: 'Example', address: { lines: ['Hafenstraße 1'], country: 'DE' } });

  test('does not exist until an admin sets it; each change is audited and needs the version that was read', async () => {
    await expect(retrieveSeller(deps)).rejects.toMatchObject({ status: 404, code: 'seller_not_found' });
    const first = await replaceSeller(deps, admin, body, undefined);
    expect(first).toMatchObject({ object: 'seller', legal_name: 'Example', currency: 'USD', payment_terms_days: 30, version: 1 });
    const second = await replaceSeller(deps, later(admin, 1), { ...body, legal_name: 'Example GmbH' }, [1]);
    expect(await retrieveSeller(deps)).toEqual(second);
    await expect(replaceSeller(deps, later(admin, 2), body, [1])).rejects.toMatchObject({ status: 412 });
    const { data } = await deps.audit.list(null, { limit: 1 });
    expect(data).toMatchObject([{ action: 'seller.updated', changes: { legal_name: { from: 'Example', to: 'Example GmbH' } } }]);
  });

  test('never loses its currency to a request that omits it, and writes one without a symbol with its code', async () => {
    const { version } = await retrieveSeller(deps);
    const { currency: _, ...rest } = body;
    const euro = await replaceSeller(deps, admin, { ...rest, currency: 'EUR' }, [version]);
    expect(euro).toMatchObject({ currency: 'EUR', currency_symbol: 'EUR' });
    await expect(replaceSeller(deps, later(admin, 1), rest, undefined)).rejects.toMatchObject({ status: 400, param: 'currency' });
    expect(await retrieveSeller(deps)).toEqual(euro);
    const dollar = await replaceSeller(deps, later(admin, 2), { ...rest, currency: 'USD' }, undefined);
    expect(dollar).toMatchObject({ currency: 'USD', currency_symbol: '$' });
  });

  test('keeps its currency while invoices are drafts, whose amounts are in it', async () => {
    const { organization } = await newCustomer(deps);
    const draft = await storeDraft(deps, organization);
    const euro = { ...body, currency: 'EUR', currency_symbol: '€' };
    await expect(replaceSeller(deps, later(admin, 3), euro, undefined)).rejects.toMatchObject({
      status: 409,
      code: 'currency_in_use',
      param: 'currency',
    });
    expect(await replaceSeller(deps, later(admin, 4), { ...body, legal_name: 'Example AG' }, undefined)).toMatchObject({ currency: 'USD' });
    await deleteDraft(deps, later(admin, 5), draft.id, undefined);
    expect(await replaceSeller(deps, later(admin, 6), euro, undefined)).toMatchObject({ currency: 'EUR', currency_symbol: '€' });
    await replaceSeller(deps, later(admin, 7), { ...body, currency: 'USD' }, undefined);
  });

  test('needs different prefixes for invoices and credit notes', () => {
    const same = { legal_name: 'Example', address: { lines: ['x'], country: 'DE' }, invoice_prefix: 'A-', credit_note_prefix: 'A-' };
    expect(NewSeller.safeParse(same).success).toBe(false);
  });
});

describe('a billing profile', () => {
  test('has defaults until its owner changes it, and keeps the fields that a change omits', async () => {
    const { owner, organization } = await newCustomer(deps);
    expect(await retrieveProfile(deps, owner, undefined)).toMatchObject({
      organization,
      emails: [],
      budget_thresholds: [50, 80, 100],
      version: 0,
    });
    await updateProfile(deps, owner, undefined, { emails: ['a@acme.example'] }, undefined);
    const updated = await updateProfile(deps, owner, undefined, { purchase_order: 'PO-1' }, [1]);
    expect(updated).toMatchObject({ emails: ['a@acme.example'], purchase_order: 'PO-1', version: 2 });
    expect(await retrieveProfile(deps, admin, organization)).toEqual(updated);
    await expect(updateProfile(deps, owner, undefined, { legal_name: null }, [1])).rejects.toMatchObject({ status: 412 });
  });

  test.each([{ payment_terms_days: 90 }, { stripe_customer: 'cus_1' }, { invoice_note: 'Reverse charge.' }])(
    'rejects %j from an owner',
    async (body) => {
      const { owner } = await newCustomer(deps);
      const [param] = Object.keys(body);
      await expect(updateProfile(deps, owner, undefined, body, undefined)).rejects.toMatchObject({
        status: 403,
        code: 'set_by_admins',
        param,
      });
    },
  );

  test('exports an organization’s usage while its profile has a Stripe customer', async () => {
    const { organization } = await newCustomer(deps);
    const billing = createRecordTable(database.database, database.tables.Billing as string);
    const metered = () => billing.get({ account: 'platform', record: METERED_PREFIX + organization });
    for (const stripe_customer of ['cus_1', 'cus_2', null, 'cus_1']) {
      await updateProfile(deps, admin, organization, { stripe_customer }, undefined);
      expect((await metered()) !== undefined).toBe(stripe_customer !== null);
    }
  });

  test('is a 404 for another organization', async () => {
    const { owner } = await newCustomer(deps);
    const { organization } = await newCustomer(deps);
    await expect(retrieveProfile(deps, owner, organization)).rejects.toMatchObject({ status: 404 });
    await expect(retrieveProfile(deps, admin, 'org_missing')).rejects.toMatchObject({ status: 404 });
  });
});

describe('an invoice', () => {
  test('is seen by its owner once it is issued, and by no other organization', async () => {
    const { owner, organization } = await newCustomer(deps);
    const { owner: stranger } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await expect(visibleInvoice(deps, owner, id)).rejects.toMatchObject({ status: 404, code: 'invoice_not_found' });
    expect((await listInvoices(deps, owner, query())).data).toEqual([]);
    expect((await listInvoices(deps, admin, query({ organization }))).data).toMatchObject([{ id, state: 'draft' }]);
    await issueDraft(deps, admin, id, [1]);
    expect((await listInvoices(deps, owner, query())).data).toMatchObject([{ id, state: 'issued' }]);
    await expect(visibleInvoice(deps, stranger, id)).rejects.toMatchObject({ status: 404 });
    expect(deps.sent).toEqual([{ task: 'render', organization, document: id }]);
  });

  test('has exact integers, amounts as text and seconds on the wire, and nothing internal', async () => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization, { files: { pdf: { key: 'invoices/x.pdf', sha256: 'b'.repeat(64), bytes: 7 } } });
    const text = JSON.stringify(toInvoiceResource(await visibleInvoice(deps, admin, id)));
    expect(text).toContain('"quantity":9007199254740993,');
    expect(text).not.toMatch(/nanos|"key"|replaced|"inputs"|billed\//);
    expect(InvoiceResource.strict().parse(JSON.parse(text))).toMatchObject({
      total: '100',
      created_at: Date.UTC(2026, 10, 1, 1) / 1_000,
      lines: [{ unit_price: '0.2', amount: '100' }],
      files: [{ format: 'pdf', sha256: 'b'.repeat(64), bytes: 7 }],
    });
  });

  test('is listed with the newest month first, by pages, state and month', async () => {
    const { owner, organization } = await newCustomer(deps);
    const ids: string[] = [];
    for (const month of ['2026-07', '2026-08', '2026-09', '2026-10']) {
      const { id } = await storeDraft(deps, organization, { month });
      ids.unshift(id);
      if (month !== '2026-09') await issueDraft(deps, admin, id, undefined);
    }
    const [october, september, august, july] = ids as [string, string, string, string];
    await payInvoice(deps, admin, august, {}, undefined);
    const idsOf = async (actor: Actor, fields: object) => (await listInvoices(deps, actor, query(fields))).data.map(({ id }) => id);
    expect(await idsOf(admin, { organization })).toEqual(ids);
    expect(await idsOf(owner, {})).toEqual([october, august, july]);
    expect(await idsOf(owner, { state: 'paid' })).toEqual([august]);
    expect(await idsOf(owner, { month: '2026-08' })).toEqual([august]);
    expect(await idsOf(owner, { month: '2026-09' })).toEqual([]);
    const first = await listInvoices(deps, owner, query({ limit: 2 }));
    expect(first).toMatchObject({ data: [{ id: october }, { id: august }], has_more: true });
    expect(await idsOf(owner, { limit: 2, after: first.next })).toEqual([july]);
    expect(await idsOf(admin, { organization, state: 'draft' })).toEqual([september]);
  });

  test('is listed with those of all organizations for the platform, by state and month, with sums', async () => {
    const month = '2031-05';
    const [one, other] = [await newCustomer(deps), await newCustomer(deps)];
    const drafts = [await storeDraft(deps, one.organization, { month }), await storeDraft(deps, other.organization, { month })];
    const [first, second] = drafts.map(({ id }) => id) as [string, string];
    const all = await listInvoices(deps, admin, query({ month }));
    expect(all.data.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
    expect(all.sums).toEqual([{ currency: 'USD', invoices: 2, total: '200', credited: '0' }]);
    await issueDraft(deps, admin, second, undefined);
    await createCreditNote(deps, admin, second, { amount: '30', reason: 'Late.' });
    const issued = await listInvoices(deps, admin, query({ month, state: 'issued' }));
    expect(issued).toMatchObject({ data: [{ id: second }], sums: [{ invoices: 1, total: '100', credited: '30' }], has_more: false });
    expect((await listInvoices(deps, admin, query({ month, state: 'draft' }))).data).toMatchObject([{ id: first }]);
    expect((await listInvoices(deps, one.owner, query({ month }))).data).toEqual([]);
    const page = await listInvoices(deps, admin, query({ month, limit: 1 }));
    const rest = await listInvoices(deps, admin, query({ month, limit: 1, after: page.next }));
    expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual(all.data.map(({ id }) => id));
    expect(rest.next).toBeNull();
  });

  test('is left out of a state that an earlier release has changed without the list', async () => {
    const month = '2031-06';
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization, { month, state: 'issued' });
    const billing = createRecordTable(database.database, database.tables.Billing as string);
    await billing.set({ account: id, record: 'invoice' }, 'state', 'paid');
    expect((await listInvoices(deps, admin, query({ month, state: 'issued' }))).data).toEqual([]);
    expect((await listInvoices(deps, admin, query({ month }))).data).toMatchObject([{ id, state: 'paid' }]);
  });

  test('can be missing in the list of all until that is checked after an upgrade', async () => {
    const isComplete = async (fields: object = {}) => (await listInvoices(deps, admin, query(fields))).is_complete;
    expect(await isComplete()).toBe(false);
    expect(await isComplete({ organization: (await newCustomer(deps)).organization })).toBe(true);
    await deps.allInvoices.setCheck({ finished: '2026-11', after: null });
    expect(await isComplete()).toBe(true);
  });

  test.each([{ after: 'x' }, { after: '2026-10#inv_1', month: '2026-09' }])('rejects %j, which no page returned', async (fields) => {
    await expect(listInvoices(deps, admin, query(fields))).rejects.toMatchObject({ status: 400, param: 'after' });
    const { organization } = await newCustomer(deps);
    await expect(listInvoices(deps, admin, query({ ...fields, organization }))).rejects.toMatchObject({ status: 400, param: 'after' });
  });

  test('is paid once, with the time and the reference', async () => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await expect(payInvoice(deps, admin, id, {}, undefined)).rejects.toMatchObject({ status: 409, code: 'invoice_not_issued' });
    await issueDraft(deps, admin, id, undefined);
    await expect(payInvoice(deps, admin, id, { paid_at: SECONDS + 1 }, undefined)).rejects.toMatchObject({ status: 400, param: 'paid_at' });
    const paid = await payInvoice(deps, admin, id, { paid_at: SECONDS - 60, reference: 'Transfer 7' }, [2]);
    expect(paid).toMatchObject({ state: 'paid', paid_at: SECONDS - 60, payment_reference: 'Transfer 7', version: 3 });
    expect(toInvoiceResource(await visibleInvoice(deps, admin, id))).toEqual(paid);
    await expect(payInvoice(deps, admin, id, {}, undefined)).rejects.toMatchObject({ status: 409 });
    await expect(voidInvoice(deps, admin, id, { reason: 'x' }, undefined)).rejects.toMatchObject({ status: 409 });
    expect(await deps.notified(organization)).toEqual(expect.arrayContaining(['sluice.invoice.issued.v1', 'sluice.invoice.paid.v1']));
    expect(await deps.auditedIn(organization)).toEqual(expect.arrayContaining(['invoice.issued', 'invoice.paid']));
  });

  test.each(['paid', 'voided'] as const)('can be %s while its files are rendered, unless the caller expects a version', async (verb) => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await issueDraft(deps, admin, id, undefined);
    let renders = 0;
    const find = async (...[wanted]: Parameters<typeof deps.invoices.find>) => {
      const read = await deps.invoices.find(wanted);
      if (read && renders++ % 2 === 0) await transact(database.database, deps.invoices.toReplace(read, { files: {} }));
      return read;
    };
    const rendering = { ...deps, invoices: { ...deps.invoices, find } };
    const change = (expected?: number[]) =>
      verb === 'paid'
        ? payInvoice(rendering, admin, id, {}, expected)
        : voidInvoice(rendering, admin, id, { reason: 'Wrong address.' }, expected);
    await expect(change([2])).rejects.toMatchObject({ status: 412 });
    renders = 0;
    expect((await change()).state).toBe(verb === 'paid' ? 'paid' : 'void');
  });

  test('can’t be paid before the day of its issue', async () => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await issueDraft(deps, admin, id, undefined);
    const midnight = Date.UTC(2026, 10, 2) / 1_000;
    for (const paid_at of [0, midnight - 1])
      await expect(payInvoice(deps, admin, id, { paid_at }, undefined)).rejects.toMatchObject({
        status: 400,
        param: 'paid_at',
        message: "Invalid value for 'paid_at': expected 2026-11-02, when the invoice was issued, or a later day.",
      });
    expect(await payInvoice(deps, admin, id, { paid_at: midnight }, undefined)).toMatchObject({ state: 'paid', paid_at: midnight });
  });

  test('keeps its number when it is voided, and its month can be closed again', async () => {
    const { organization, owner } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    const { number } = await issueDraft(deps, admin, id, undefined);
    const close = () => requestInvoice(deps, admin, { organization, month: MONTH });
    await expect(close()).rejects.toMatchObject({ status: 409, code: 'invoice_exists' });
    await voidInvoice(deps, admin, id, { reason: 'Wrong company' }, undefined);
    expect(toInvoiceResource(await visibleInvoice(deps, owner, id))).toMatchObject({ state: 'void', number, void_reason: 'Wrong company' });
    expect(await deps.billed.get(organization, MONTH)).toBeUndefined();
    expect(await close()).toEqual({ object: 'closing', organization, month: MONTH });
    expect(deps.sent.at(-1)).toEqual({ task: 'close', organization, month: MONTH });
    expect((await deps.auditedIn(organization)).filter((action) => action.startsWith('invoice.'))).toEqual(
      expect.arrayContaining(['invoice.issued', 'invoice.voided', 'invoice.requested']),
    );
  });

  test('can’t be voided once a later invoice has billed its month again', async () => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await issueDraft(deps, admin, id, undefined);
    const billed = await deps.billed.get(organization, MONTH);
    if (!billed) throw new Error('The month is not billed.');
    await transact(deps.database, [deps.billed.toReplace({ ...billed, invoice: 'inv_later' })]);
    await expect(voidInvoice(deps, admin, id, { reason: 'x' }, undefined)).rejects.toMatchObject({ status: 409, code: 'invoice_in_use' });
  });

  test('is deleted as a draft without a number, and without a notification', async () => {
    const { organization, owner } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    const last = await deps.numbers.last('invoice');
    await expect(voidInvoice(deps, admin, id, { reason: 'x' }, undefined)).rejects.toMatchObject({ status: 409 });
    expect(await deleteDraft(deps, admin, id, [1])).toMatchObject({ state: 'void', number: null });
    expect(await deps.numbers.last('invoice')).toBe(last);
    expect(await deps.billed.get(organization, MONTH)).toBeUndefined();
    expect(await deps.notified(organization)).toEqual([]);
    await expect(visibleInvoice(deps, owner, id)).rejects.toMatchObject({ status: 404 });
    await expect(issueDraft(deps, admin, id, undefined)).rejects.toMatchObject({ status: 409, code: 'invoice_not_draft' });
  });

  test.each([
    ['before its organization existed', '2026-08', 'created in 2026-09'],
    ['before an earlier month', '2026-10', 'Close 2026-09 first'],
    ['that is not over', '2026-11', 'can be closed from 2026-12-01T01:00:00.000Z on'],
  ])('is not made for a month %s', async (_, month, message) => {
    const { organization } = await newCustomer(deps);
    await expect(requestInvoice(deps, admin, { organization, month })).rejects.toMatchObject({
      status: 409,
      code: 'month_not_closable',
      message: expect.stringContaining(message),
    });
    expect(deps.sent).toEqual([]);
  });

  test('is downloaded from a URL that expires, once its files are made', async () => {
    const { organization, owner } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    await expect(downloadInvoice(deps, admin, id, 'pdf')).rejects.toMatchObject({ status: 409, code: 'invoice_not_issued' });
    const { number } = await issueDraft(deps, admin, id, undefined);
    await expect(downloadInvoice(deps, owner, id, 'docx')).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
    await expect(downloadInvoice(deps, owner, id, 'focus')).rejects.toMatchObject({
      status: 409,
      code: 'not_rendered_yet',
      headers: { 'retry-after': '5' },
    });
    expect(deps.sent).toHaveLength(2);
    const focus = { key: `invoices/${organization}/${id}-focus.csv`, sha256: 'c'.repeat(64), bytes: 9 };
    await transact(deps.database, [...deps.invoices.toReplace(await deps.invoices.get(organization, id), { files: { focus } })]);
    expect(await downloadInvoice(deps, owner, id, 'focus')).toEqual({
      object: 'download',
      url: `https://files.example.com/${focus.key}?name=${number}-focus.csv`,
      sha256: focus.sha256,
      bytes: 9,
      expires_at: SECONDS + 300,
    });
  });
});

describe('a credit note', () => {
  const issued = async () => {
    const { organization, owner } = await newCustomer(deps);
    await updateProfile(deps, admin, organization, { invoice_note: 'Reverse charge.' }, undefined);
    const { id } = await storeDraft(deps, organization);
    await issueDraft(deps, admin, id, undefined);
    return { id, organization, owner };
  };

  test('credits an amount, or the rest, and never more than the invoice', async () => {
    const { id, organization, owner } = await issued();
    const first = await createCreditNote(deps, admin, id, { amount: '30.50', reason: 'Outage' });
    expect(first).toMatchObject({ object: 'credit_note', invoice: id, amount: '30.5', reason: 'Outage', organization });
    expect(JSON.stringify(first)).not.toMatch(/nanos|version/);
    expect([first.note, toInvoiceResource(await visibleInvoice(deps, admin, id)).note]).toEqual(['Reverse charge.', 'Reverse charge.']);
    await expect(createCreditNote(deps, admin, id, { amount: '69.51', reason: 'x' })).rejects.toMatchObject({
      status: 409,
      code: 'credit_exceeds_invoice',
      message: expect.stringContaining('Only 69.5 USD'),
    });
    await expect(voidInvoice(deps, admin, id, { reason: 'x' }, undefined)).rejects.toMatchObject({ code: 'invoice_has_credit_notes' });
    await expect(createCreditNote(deps, admin, id, { amount: '1.234', reason: 'x' })).rejects.toMatchObject({
      status: 400,
      param: 'amount',
      message: "Invalid value for 'amount': expected an amount in USD with at most 2 decimals.",
    });
    const rest = await createCreditNote(deps, later(admin, 1), id, { whole: true, reason: 'Goodwill' });
    expect(rest.amount).toBe('69.5');
    await expect(createCreditNote(deps, admin, id, { whole: true, reason: 'x' })).rejects.toMatchObject({ status: 409 });
    expect((await visibleInvoice(deps, admin, id)).credited_nanos).toBe(100n * DOLLAR);
    const ids = async (fields: object) => (await listCreditNotes(deps, owner, { limit: 20, ...fields })).data.map((note) => note.id);
    expect([await ids({}), await ids({ invoice: id })]).toEqual([
      [rest.id, first.id],
      [rest.id, first.id],
    ]);
    expect((await deps.notified(organization)).filter((type) => type === 'sluice.credit_note.issued.v1')).toHaveLength(2);
  });

  test('is issued once for an idempotency key, however many send it at once', async () => {
    const { id } = await issued();
    const body = { amount: '10', reason: 'Outage' };
    const notes = await Promise.all(Array.from({ length: 6 }, () => createCreditNote(deps, admin, id, body, 'key-1')));
    expect(new Set(notes.map((note) => note.id)).size).toBe(1);
    expect((await visibleInvoice(deps, admin, id)).credited_nanos).toBe(10n * DOLLAR);
    const other = createCreditNote(deps, admin, id, { ...body, amount: '11' }, 'key-1');
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });

  test('needs an issued or paid invoice', async () => {
    const { organization } = await newCustomer(deps);
    const { id } = await storeDraft(deps, organization);
    const credit = () => createCreditNote(deps, admin, id, { amount: '1', reason: 'x' });
    await expect(credit()).rejects.toMatchObject({ status: 409, code: 'invoice_not_issued' });
    await issueDraft(deps, admin, id, undefined);
    await payInvoice(deps, admin, id, {}, undefined);
    expect(await credit()).toMatchObject({ amount: '1' });
  });

  test('is a 404 for another organization, and its files are not there until they are made', async () => {
    const { id, owner } = await issued();
    const { owner: stranger } = await newCustomer(deps);
    const note = await createCreditNote(deps, admin, id, { amount: '1', reason: 'x' });
    await expect(visibleCreditNote(deps, stranger, note.id)).rejects.toMatchObject({ status: 404, code: 'credit_note_not_found' });
    await expect(listCreditNotes(deps, stranger, { limit: 20, invoice: id })).rejects.toMatchObject({ status: 404 });
    await expect(downloadCreditNote(deps, owner, note.id, 'docx')).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
    const names = {
      pdf: `${note.number}.pdf`,
      json: `${note.number}.json`,
      csv: `${note.number}.csv`,
      focus: `${note.number}-focus.csv`,
    };
    const formats = Object.keys(names) as (keyof typeof names)[];
    for (const format of formats)
      await expect(downloadCreditNote(deps, owner, note.id, format)).rejects.toMatchObject({ code: 'not_rendered_yet' });
    const [stored] = (await deps.creditNotes.list(id, { limit: 1 })).notes;
    if (!stored) throw new Error('The credit note is missing.');
    const files = Object.fromEntries(formats.map((format) => [format, { key: `cn.${format}`, sha256: format, bytes: 5 }]));
    await transact(deps.database, [deps.creditNotes.toSetFiles(stored, files)]);
    for (const format of formats)
      expect(await downloadCreditNote(deps, owner, note.id, format)).toMatchObject({
        url: `https://files.example.com/cn.${format}?name=${names[format]}`,
        sha256: format,
      });
  });
});
