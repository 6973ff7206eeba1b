import { describe, expect, test } from '@jest/globals';
import { invoiceJson } from '../../../../functions/billing/render/document-json.ts';
import { invoicePdf } from '../../../../functions/billing/render/invoice-pdf.ts';
import type { Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { type PrintedText, textsOf } from '../../../support/clients/pdf-text.ts';
import { invoiceWith, lineWith, manyLines, testFonts } from '../documents.ts';

const printed = async (lines?: readonly InvoiceLine[], facts: Partial<Invoice> = {}): Promise<PrintedText[]> =>
  textsOf(await invoicePdf(await testFonts(), invoiceWith(lines, facts)));

// The texts of each printed row, from left to right.
const rowsOf = (texts: readonly PrintedText[]): string[][] => {
  const rows = Map.groupBy(texts, ({ page, y }) => `${page} ${y}`);
  return [...rows.values()].map((row) => row.toSorted((one, other) => one.x - other.x).map(({ text }) => text.trim()));
};

const AMOUNT = /^−?€[\d,]+\.\d+$/;

describe('the amounts of a printed invoice', () => {
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

  test('show a tax of 0, and no credit if there is none', async () => {
    const rows = rowsOf(await printed([lineWith({ kind: 'tokens', description: 'small', amount_nanos: 1_500_000_000n })]));
    const from = rows.findIndex(([label]) => label === 'Charges');
    expect(rows.slice(from, from + 4)).toEqual([
      ['Charges', '€1.50'],
      ['Subtotal', '€1.50'],
      ['Tax', '€0.00'],
      ['Total due (EUR)', '€1.50'],
    ]);
  });

  test('have no decimals in a currency without any, and all that an exact one needs', async () => {
    const yen = { currency: 'JPY', currency_symbol: '¥' };
    const rows = rowsOf(await printed([lineWith({ kind: 'tokens', description: 'small', amount_nanos: 12_500n * 1_000_000_000n })], yen));
    const from = rows.findIndex(([label]) => label === 'Charges');
    expect(rows.slice(from, from + 4)).toEqual([
      ['Charges', '¥12,500'],
      ['Subtotal', '¥12,500'],
      ['Tax', '¥0'],
      ['Total due (JPY)', '¥12,500'],
    ]);
    const exact = rowsOf(await printed([lineWith({ kind: 'tokens', description: 'small', amount_nanos: 1_250_000_000n })], yen));
    expect(exact).toContainEqual(['Charges', '¥1.25']);
  });

  test('are repeated by project in an annex, whose sums lead to the total due', async () => {
    const lines = [
      lineWith({ kind: 'tokens', description: 'small', amount_nanos: 1_500_000_000n }),
      lineWith({ kind: 'gpu_time', description: 'GPU time', deployment: 'dep_1', amount_nanos: 250_000_000n }),
      lineWith({ kind: 'prepaid_credit', description: 'Paid from prepaid credit', amount_nanos: -500_000_000n }),
    ];
    const projects = [
      { project_id: 'prj_VbdBUPc4RtYvB8fK2m', requests: 1_234, amount_nanos: 1_000_000_001n },
      { project_id: null, requests: 5, amount_nanos: 499_999_999n },
    ];
    const rows = rowsOf(await printed(lines, { projects }));
    const from = rows.findIndex(([label]) => label === 'Annex: models by project');
    expect(rows.slice(from + 1, from + 8)).toEqual([
      ['Project', 'Requests', 'Amount'],
      ['prj_VbdBUPc4RtYvB8fK2m', '1,234', '€1.000000001'],
      ['No project', '5', '€0.499999999'],
      ['Models', '€1.500000000'],
      ['Deployments, which are in no project', '€0.250000000'],
      ['Credit', '−€0.500000000'],
      ['Total due (EUR)', '€1.25'],
    ]);
    expect(JSON.parse(invoiceJson(invoiceWith(lines, { projects }))).projects).toEqual([
      { project_id: 'prj_VbdBUPc4RtYvB8fK2m', requests: 1_234, amount: '1.000000001' },
      { project_id: null, requests: 5, amount: '0.499999999' },
    ]);
    expect(rowsOf(await printed(lines)).flat()).not.toContain('Annex: models by project');
  });

  test('list credit and its corrections after all charges', async () => {
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

  test('stand beside long quantities and prices, which are not broken', async () => {
    const quantity = { quantity: 123_456_789_012_345n, unit: 'token', unit_price_nanos: 1_234_567_123_456_789n } as const;
    const line = lineWith({ kind: 'tokens', description: 'small, prompt tokens', amount_nanos: 1_000_000_001n, ...quantity });
    expect(rowsOf(await printed([line]))).toContainEqual([
      'small, prompt tokens',
      '123,456,789,012,345',
      '€1,234,567.123456789 / 1M',
      '€1.000000001',
    ]);
  });

  test('ask for no payment if the total is 0', async () => {
    const texts = (await printed([lineWith({ kind: 'tokens', description: 'free', amount_nanos: 0n })])).map(({ text }) => text);
    expect(texts).toContain('€0.00 EUR, nothing to pay');
  });
});

describe('a printed invoice', () => {
  test('has its period in the title, on each page and in its facts', async () => {
    const pdf = await invoicePdf(await testFonts(), invoiceWith(manyLines(40)));
    const texts = textsOf(pdf);
    expect(texts.slice(0, 2).map(({ text }) => text)).toEqual(['Invoice', 'October 2026']);
    const running = 'Invoice INV-000042  ·  October 2026  ·  Schleuse Rechenbetriebe GmbH';
    const pages = new Set(texts.map(({ page }) => page));
    expect(new Set(texts.filter(({ text }) => text === running).map(({ page }) => page))).toEqual(pages);
    expect(rowsOf(texts)).toContainEqual(expect.arrayContaining(['Period (UTC)', '1–31 October 2026']));
    const title = Buffer.from('Invoice INV-000042 · October 2026', 'utf16le').swap16().toString('latin1');
    expect(pdf.toString('latin1')).toContain(title);
  });

  test('has the number of the customer', async () => {
    const organization = 'org_VbdBUPc4RtYvB8fK2m';
    expect(rowsOf(await printed(undefined, { organization }))).toContainEqual(expect.arrayContaining(['Customer number', organization]));
  });

  test.each([
    ['in another country of the EU', 'GR', 'DE', true],
    ['in the EU, of a seller outside it', 'GR', 'US', true],
    ['in the seller’s own country', 'DE', 'DE', false],
    ['outside the EU', 'GB', 'DE', false],
  ])('says that a buyer %s has no tax ID: %s, %s, %s', async (_, buyerCountry, sellerCountry, isSaid) => {
    const { seller, buyer } = invoiceWith();
    const of = { lines: ['Street 1'] };
    const parties = {
      seller: { ...seller, address: { ...of, country: sellerCountry } },
      buyer: { ...buyer, address: { ...of, country: buyerCountry } },
    };
    const says = async (tax_id: string | null) =>
      (await printed(undefined, { ...parties, buyer: { ...parties.buyer, tax_id } })).some(({ text }) => text === 'Tax ID: none given');
    expect([await says(null), await says('EL094019245')]).toEqual([isSaid, false]);
  });

  test('has the note of the seller, also in its JSON file, if there is one', async () => {
    const note = 'Reverse charge: the customer owes the VAT.';
    expect((await printed(undefined, { note })).map(({ text }) => text)).toEqual(expect.arrayContaining(['Note', note]));
    expect(invoiceJson(invoiceWith(undefined, { note }))).toContain(JSON.stringify(note));
    for (const none of [{}, { note: null }]) expect((await printed(undefined, none)).map(({ text }) => text)).not.toContain('Note');
    expect(invoiceJson(invoiceWith())).not.toContain('"note"');
  });

  test('says nothing about the tax ID of a buyer whose country is unknown', async () => {
    const { buyer } = invoiceWith();
    const texts = await printed(undefined, { buyer: { ...buyer, address: null, tax_id: null } });
    expect(texts.some(({ text }) => text.startsWith('Tax ID:'))).toBe(false);
  });
});
