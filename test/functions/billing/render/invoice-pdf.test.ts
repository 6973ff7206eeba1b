import { describe, expect, test } from '@jest/globals';
import { invoicePdf } from '../../../../functions/billing/render/invoice-pdf.ts';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { type PrintedText, textsOf } from '../../../support/pdf-text.ts';
import { invoiceWith, lineWith, manyLines, testFonts } from '../documents.ts';

const printed = async (lines?: readonly InvoiceLine[], facts: Partial<Invoice> = {}): Promise<PrintedText[]> =>
  textsOf(await invoicePdf(await testFonts(), invoiceWith(lines, facts)));

/** The texts of each printed row, from left to right. */
const rowsOf = (texts: readonly PrintedText[]): string[][] => {
  const rows = Map.groupBy(texts, ({ page, y }) => `${page} ${y}`);
  return [...rows.values()].map((row) => row.toSorted((one, other) => one.x - other.x).map(({ text }) => text.trim()));
};

const AMOUNT = /^−?€[\d,]+\.\d+$/;

describe('the amounts of an invoice in print', () => {
  test.each([
    ['of few lines', undefined],
    ['of many lines on several pages', manyLines(40)],
    ['of millions', [lineWith({ kind: 'gpu_time', description: 'GPU time', amount_nanos: 37_990_555_555_555_555_556n })]],
  ])('%s end in one column with the totals, and their points are below one another', async (_, lines) => {
    const texts = await printed(lines);
    const right = texts.find(({ text }) => text === 'Amount')?.end ?? 0;
    const amounts = texts.filter(({ text, end }) => AMOUNT.test(text) && end > right - 2);
    expect(amounts.length).toBeGreaterThan(3);
    for (const { end } of amounts) expect(end).toBeCloseTo(right, 1);
    const [total, ...others] = amounts.toReversed();
    expect(total?.text).toMatch(/\.\d\d$/);
    expect(new Set(others.map(({ text }) => text.split('.')[1]?.length)).size).toBe(1);
  });

  test('are charges, credit, subtotal, tax and total due, in this order, and add up', async () => {
    const rows = rowsOf(await printed());
    const from = rows.findIndex(([label]) => label === 'Charges');
    expect(rows.slice(from, from + 6)).toEqual([
      ['Charges', '€1,313.197375432'],
      ['Credit', '−€100.000000000'],
      ['Subtotal', '€1,213.197375432'],
      ['VAT 19 %', '€184.012345678'],
      ['Rounding', '€0.000278890'],
      ['Total due (EUR)', '€1,397.21'],
    ]);
  });

  test('say a tax of 0, and no credit if there is none', async () => {
    const rows = rowsOf(await printed([lineWith({ kind: 'tokens', description: 'small', amount_nanos: 1_500_000_000n })]));
    const from = rows.findIndex(([label]) => label === 'Charges');
    expect(rows.slice(from, from + 4)).toEqual([
      ['Charges', '€1.50'],
      ['Subtotal', '€1.50'],
      ['Tax', '€0.00'],
      ['Total due (EUR)', '€1.50'],
    ]);
  });

  test('of credit, also that of corrections, come after all charges', async () => {
    const correction = { month: '2026-09', is_correction: true };
    const rows = rowsOf(
      await printed([
        lineWith({ kind: 'prepaid_credit', description: 'Paid from prepaid credit', amount_nanos: -1_000_000_000n }),
        lineWith({ ...correction, kind: 'tokens', description: 'Correction: small', amount_nanos: 2_000_000_000n }),
        lineWith({ ...correction, kind: 'prepaid_credit', description: 'Correction: paid', amount_nanos: -2_000_000_000n }),
        lineWith({ kind: 'tokens', description: 'large', amount_nanos: 3_000_000_000n }),
      ]),
    );
    const [from, to] = ['Corrections for September 2026', 'Subtotal'].map((text) => rows.findIndex(([label]) => label === text));
    expect(rows.slice(from, to).map(([label]) => label)).toEqual([
      'Corrections for September 2026',
      'Correction: small',
      'Models',
      'large',
      'Credit',
      'Paid from prepaid credit',
      'Correction: paid',
      'Charges',
      'Credit',
    ]);
  });

  test('of an invoice of nothing ask for no payment', async () => {
    const texts = (await printed([lineWith({ kind: 'tokens', description: 'free', amount_nanos: 0n })])).map(({ text }) => text);
    expect(texts).toContain('€0.00 EUR, nothing to pay');
  });
});
