import { expect, test } from '@jest/globals';
import { creditNotePdf } from '../../../../functions/billing/render/credit-note-pdf.ts';
import type { CreditLine } from '../../../../shared/service-levels/service-level.ts';
import { textsOf } from '../../../support/clients/pdf-text.ts';
import { creditNoteWith, invoiceWith, SERVICE_CREDIT, testFonts } from '../documents.ts';

// On A4, in points from the bottom: the margin and the height of the footer.
const FOOTER_TOP = 70;

test('prints a credit note with its date, its invoice’s date and period, the reason and its hash', async () => {
  const sha256 = 'c0ffee'.padEnd(64, '0');
  const pdf = await creditNotePdf(await testFonts(), creditNoteWith({ note: 'Reverse charge.' }), { invoice: invoiceWith(), sha256 });
  const texts = textsOf(pdf).map(({ text }) => text.trim());
  expect(texts.slice(0, 2)).toEqual(['Credit note', 'October 2026']);
  expect(texts).toContain('Credit note CN-000003  ·  October 2026  ·  Schleuse Rechenbetriebe GmbH');
  const facts = texts.slice(texts.indexOf('Number'), texts.indexOf('Reason'));
  expect(Object.fromEntries(facts.flatMap((label, i) => (i % 2 === 0 ? [[label, facts[i + 1]]] : [])))).toEqual({
    Number: 'CN-000003',
    'Customer number': 'org_1',
    'Issue date': '12 November 2026',
    'Corrects invoice': 'INV-000042',
    'Invoice date': '1 November 2026',
    'Period (UTC)': '1–31 October 2026',
    'Purchase order': 'PO-2026/1187',
  });
  expect(texts).toEqual(
    expect.arrayContaining([
      'Two hours on 7 October in which your deployment did not answer.',
      'Credit (EUR)',
      '€12.50',
      'Note',
      'Reverse charge.',
      sha256,
    ]),
  );
});

test('prints long names and many promises within the page, and the sum with the last line', async () => {
  const fonts = await testFonts();
  const [missed, rounding] = SERVICE_CREDIT.lines as [CreditLine, CreditLine];
  const longName = { ...missed, description: `${'x'.repeat(256)}: 99,812 of 100,000 requests answered, below 0.999` };
  // Their heights differ, so that each part of a page is the last one of some document.
  for (const count of [8, 11, 12, 13, 40]) {
    const lines = [...Array.from({ length: count }, (_, i) => (i % 5 === 4 ? longName : missed)), rounding];
    const texts = textsOf(await creditNotePdf(fonts, creditNoteWith({ ...SERVICE_CREDIT, lines }), { invoice: invoiceWith(), sha256: '' }));
    const pageOf = (text: string): number | undefined => texts.find((each) => each.text.trim() === text)?.page;
    expect([count, pageOf('Credit (EUR)')]).toEqual([count, pageOf('Rounding to whole cents')]);
    const body = texts.filter(({ text }) => !/^(Credit note CN|Page )/.test(text));
    expect(Math.min(...body.map(({ y }) => y))).toBeGreaterThan(FOOTER_TOP);
    const charges = texts.find(({ text }) => text.trim() === '€1,234.567891234');
    for (const { text, end } of texts) if (/^x{9}/.test(text)) expect(end).toBeLessThan(charges?.x ?? 0);
    const heads = texts.filter(({ text }) => text.trim() === 'Missed promise').map(({ page }) => page);
    expect(heads).toEqual(Array.from({ length: pageOf('Rounding to whole cents') ?? 0 }, (_, i) => i + 1));
  }
});

test('prints the promises that a month missed, with the numbers that prove them, and their sum', async () => {
  const pdf = await creditNotePdf(await testFonts(), creditNoteWith(SERVICE_CREDIT), { invoice: invoiceWith(), sha256: '' });
  const texts = textsOf(pdf).map(({ text }) => text.trim());
  for (const { description } of SERVICE_CREDIT.lines) expect(texts.join(' ')).toContain(description);
  expect(texts).toEqual(
    expect.arrayContaining(['Charges', '€1,234.567891234', '10 %', '€123.456789123', '−€0.006789123', 'Credit (EUR)', '€123.45']),
  );
});
