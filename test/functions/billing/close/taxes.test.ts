import { expect, test } from '@jest/globals';
import { chargeLines, composeInvoice } from '../../../../functions/billing/close/compose-invoice.ts';
import { createInvoicePrices } from '../../../../functions/billing/close/invoice-prices.ts';
import { createTaxFunction } from '../../../../functions/billing/close/taxes.ts';
import { divideRounded } from '../../../../shared/billing/amounts/divide-rounded.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';

const MONTH = '2026-10';
const group = {
  model: 'small',
  deployment: null,
  deployment_name: null,
  instance_type: null,
  price_version: null,
  rerate_from: null,
  events: 1,
  prompt_tokens: 7n,
  cached_tokens: 0n,
  completion_tokens: 0n,
  instance_seconds: 0n,
  cost_nanos: 104_999_999n,
  prepaid_nanos: 0n,
};
const prices = createInvoicePrices({ tokens: [], instances: [] });
const charges = chargeLines({ month: MONTH, groups: new Map([[MONTH, [group]]]), prices, carriedNanos: 0n });
const draft = {
  id: 'inv_1',
  organization: 'org_1',
  month: MONTH,
  currency: 'EUR',
  seller: null,
  buyer: { legal_name: 'Ada', address: null, tax_id: null, email: null },
  ...composeInvoice({ month: MONTH, currency: 'USD' }, charges, []),
} as Invoice;

test('sends the draft with amounts as text to the tax function, and adds its lines to the invoice', async () => {
  const events: unknown[] = [];
  const taxes = createTaxFunction(async (name, event) => {
    events.push(name, event);
    return {
      lines: [
        { description: 'VAT 19 %', amount: '0.01995' },
        { description: 'Relief', amount: '-0.000000001' },
      ],
    };
  }, 'taxes');
  const lines = await taxes(draft);
  expect(events).toEqual([
    'taxes',
    expect.objectContaining({
      invoice: 'inv_1',
      currency: 'EUR',
      subtotal: '0.104999999',
      lines: [expect.objectContaining({ kind: 'tokens', quantity: '7', amount: '0.104999999' })],
    }),
  ]);
  const { total_nanos, tax_nanos } = composeInvoice({ month: MONTH, currency: 'USD' }, charges, lines);
  expect([total_nanos, tax_nanos]).toEqual([120_000_000n, 19_949_999n]);
});

test.each([
  ['no lines', {}],
  ['a number as an amount', { lines: [{ description: 'VAT', amount: 1.9 }] }],
  ['more than nine decimals', { lines: [{ description: 'VAT', amount: '0.0000000001' }] }],
  ['a line without a description', { lines: [{ description: ' ', amount: '1' }] }],
  ['more than 20 lines', { lines: Array(21).fill({ description: 'VAT', amount: '1' }) }],
])('a tax function that returns %s stops the closing', async (_, reply) => {
  await expect(createTaxFunction(async () => reply, 'taxes')(draft)).rejects.toThrow(
    'The tax function taxes returned an invalid reply for inv_1',
  );
});

test.each([
  ['USD', 5_000_000n, 10_000_000n],
  ['USD', 4_999_999n, 0n],
  ['USD', 14_999_999n, 10_000_000n],
  ['EUR', 15_000_000n, 20_000_000n],
  ['JPY', 1_499_999_999n, 1_000_000_000n],
  ['KRW', 1_500_000_000n, 2_000_000_000n],
  ['KWD', 1_499_999n, 1_000_000n],
  ['KWD', 1_500_000n, 2_000_000n],
])('in %s, %d nanos are rounded to %d: to the minor unit, half up', (currency, exact, total) => {
  const lines = chargeLines({ month: MONTH, groups: new Map([[MONTH, [{ ...group, cost_nanos: exact }]]]), prices, carriedNanos: 0n });
  const composed = composeInvoice({ month: MONTH, currency }, lines, []);
  expect(composed.total_nanos).toBe(total);
  expect(composed.lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)).toBe(total);
});

test('rounds negative amounts like positive ones, so that a correction takes back exactly what was charged', () => {
  for (const dividend of [0n, 1n, 5n, 14n, 15n, 16n, 25n]) expect(divideRounded(-dividend, 10n)).toBe(-divideRounded(dividend, 10n));
});
