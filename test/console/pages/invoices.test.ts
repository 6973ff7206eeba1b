import { describe, expect, test } from '@jest/globals';
import { historyOf } from '../../../console/pages/invoice/history.ts';
import type { Invoice, InvoiceLine } from '../../../console/pages/invoice/invoice.ts';
import { addsUp, groupLines, leftAfter, lineName, recordsAddress, usageAddress } from '../../../console/pages/invoice/line-groups.ts';
import { creditable, invoiceName, leftToPay, shownStateOf, sumsOf } from '../../../console/pages/invoices/invoice-state.ts';
import { issueEach } from '../../../console/pages/invoices/issue-each.ts';
import { invoicesQuery } from '../../../console/pages/invoices/list-query.ts';
import { toInvoiceResource } from '../../../functions/control/billing/invoices/invoice-resource.ts';
import { newInvoice } from '../../support/fixtures/invoices.ts';

const invoice: Invoice = toInvoiceResource(newInvoice({ organization: 'org_1' }));
const [tokens] = invoice.lines as [InvoiceLine];
const line = (fields: Partial<InvoiceLine>): InvoiceLine => ({ ...tokens, ...fields });
const tax = line({ kind: 'tax', model: null, description: 'VAT 20 %', amount: '0.1' });

describe('the lines of an invoice', () => {
  test('are grouped by model, deployment and month, with exact sums', () => {
    const groups = groupLines([
      line({ amount: '0.1' }),
      line({ model: 'other', amount: '5' }),
      line({ amount: '0.200000000000000001' }),
      line({ month: '2026-09', is_correction: true, amount: '-1' }),
      tax,
    ]);
    expect(groups.map(({ name, isCorrection, isOfUsage, amount }) => [name, isCorrection, isOfUsage, amount])).toEqual([
      ['qwen3-8b', false, true, '0.3'],
      ['other', false, true, '5'],
      ['qwen3-8b', true, true, '-1'],
      ['Taxes', false, false, '0.1'],
    ]);
  });

  test('add up to the total, or say that they do not', () => {
    expect(addsUp(invoice)).toBe(true);
    expect(addsUp({ lines: [...invoice.lines, tax], total: invoice.total })).toBe(false);
  });

  test('lead to the usage records of their month, except for taxes and credit', () => {
    expect(recordsAddress(line({ model: 'a/b' }), undefined)).toBe(
      '/exports?view=records&range=custom&from=2026-10-01&to=2026-10-31&kind=usage_event&model=a%2Fb',
    );
    const gpu = line({ kind: 'gpu_time', model: null, deployment: 'dep_1', deployment_name: 'chat', month: '2028-02' });
    expect(recordsAddress(gpu, 'org_1')).toContain('to=2028-02-29&kind=gpu_time_event&model=chat&organization=org_1');
    expect(recordsAddress(tax, undefined)).toBeUndefined();
    expect(usageAddress('2026-10', undefined)).toBe('/usage?range=custom&from=2026-10-01&to=2026-10-31');
  });

  test('are called by their tokens, or as the invoice calls them', () => {
    const difference = line({ kind: 'metering_difference', token_kind: null });
    const ofGpu = { ...difference, model: null, deployment: 'dep_1', deployment_name: 'chat' };
    expect([tokens, tax, difference, ofGpu].map(lineName)).toEqual([
      'Completion tokens',
      'VAT 20 %',
      'Rounding per request',
      'Rounding per interval',
    ]);
  });
});

describe('the state of an invoice', () => {
  const issued = { ...invoice, state: 'issued', number: 'INV-1', total: '100', credited: '12.5', issued_at: 10, due_at: 20 } as const;

  test('is overdue when its time to pay is over', () => {
    expect([19, 21].map((nowS) => shownStateOf(issued, nowS))).toEqual(['issued', 'overdue']);
    expect(shownStateOf({ ...issued, state: 'paid' }, 21)).toBe('paid');
    expect(shownStateOf({ ...issued, credited: '100' }, 21)).toBe('issued');
    expect(shownStateOf({ ...issued, total: '0', credited: '0' }, 21)).toBe('issued');
  });

  test('decides what is left to pay and to credit', () => {
    expect([leftToPay(issued), creditable(issued)]).toEqual(['87.5', '87.5']);
    expect((['paid', 'draft', 'void'] as const).map((state) => leftToPay({ ...issued, state }))).toEqual(['0', null, null]);
    expect(['12.50', '87.5', '87.51', '0', '1.234', ''].map((credit) => leftAfter('87.5', credit, 2))).toEqual([
      '75',
      '0',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('credits as many decimals as the currency has', () => {
    expect([0, 2, 3].map((decimals) => leftAfter('87', '1.234', decimals))).toEqual([undefined, undefined, '85.766']);
    expect([leftAfter('87', '1', 0), leftAfter('87', '1.0', 0)]).toEqual(['86', undefined]);
  });

  test('names drafts by their month', () => {
    expect([issued, invoice].map(invoiceName)).toEqual(['INV-1', 'Draft of October 2026']);
  });

  test('has a history in order of time', () => {
    const note = { issued_at: 15, number: 'CN-1', amount: '12.5', reason: 'Outage' };
    expect(historyOf({ ...issued, created_at: 5 }, [note]).map(({ at, text }) => [at, text])).toEqual([
      [5, 'Month closed'],
      [10, 'Issued as INV-1'],
      [15, 'Credited by CN-1'],
      [20, 'Due'],
    ]);
  });
});

describe('sumsOf', () => {
  test('adds up pages by currency, exactly', () => {
    const sum = (currency: string, total: string) => ({ currency, invoices: 1, total, credited: '0.1' });
    expect(sumsOf([{ sums: [sum('USD', '0.1'), sum('EUR', '7')] }, { sums: [sum('USD', '0.2')] }])).toEqual([
      { currency: 'USD', invoices: 2, total: '0.3', credited: '0.2' },
      { currency: 'EUR', invoices: 1, total: '7', credited: '0.1' },
    ]);
  });
});

describe('invoicesQuery', () => {
  test('leaves out drafts for those who may not see them, and incomplete months', () => {
    const filters = { state: 'draft', month: '2026-', organization: '' };
    expect([invoicesQuery(filters, true), invoicesQuery(filters, false)]).toEqual([{ state: 'draft' }, {}]);
    expect(invoicesQuery({ state: '', month: '2026-10', organization: 'org_1' }, true)).toEqual({
      month: '2026-10',
      organization: 'org_1',
    });
  });
});

describe('issueEach', () => {
  const drafts = ['one', 'two', 'three'].map((id) => ({ id }));

  test('goes on after a draft that was not issued, one at a time', async () => {
    const results: unknown[] = [];
    let running = 0;
    const issue = async ({ id }: { id: string }) => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      if (id === 'two') throw new Error('It has changed.');
      return `INV-${id}`;
    };
    await issueEach(drafts, { issue, isStopped: () => false, onResult: (id, result) => results.push([id, result]) });
    expect(results).toEqual([
      ['one', { number: 'INV-one' }],
      ['two', { failure: 'It has changed.' }],
      ['three', { number: 'INV-three' }],
    ]);
  });

  test('issues nothing more once it is stopped', async () => {
    const ids: string[] = [];
    const issue = async ({ id }: { id: string }) => id;
    await issueEach(drafts, { issue, isStopped: () => ids.length > 0, onResult: (id) => ids.push(id) });
    expect(ids).toEqual(['one']);
  });
});
