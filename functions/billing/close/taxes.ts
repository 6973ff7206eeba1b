import * as z from 'zod';
import type { InvokeFunction } from '../../../shared/aws/invoke-function.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import type { Tax } from './compose-invoice.ts';

/**
 * Computes the taxes of a draft with a positive subtotal. It can be called several times for an invoice and must return
 * the same.
 */
export type Taxes = (draft: Invoice) => Promise<Tax[]>;

export const noTaxes: Taxes = async () => [];

const MAX_TAX_LINES = 20;

const SignedDollars = z
  .string()
  .regex(/^-?\d{1,12}(\.\d{1,9})?$/, 'expected dollars as text with at most nine decimals, such as "12.50"')
  .transform((dollars) => (dollars.startsWith('-') ? -1n : 1n) * (nanosOf(dollars.replace('-', '')) ?? 0n));

const Reply = z.object({
  lines: z.array(z.object({ description: z.string().trim().min(1).max(200), amount: SignedDollars })).max(MAX_TAX_LINES),
});

// The event that the deployer's function receives. Amounts are texts. A draft's total is rounded before its taxes are
// known; that rounding is left out, so that the lines add up to the subtotal.
const eventOf = ({ id, organization, month, currency, seller, buyer, lines, subtotal_nanos }: Invoice) => ({
  invoice: id,
  organization,
  month,
  currency,
  seller,
  buyer,
  lines: lines
    .filter(({ kind }) => kind !== 'rounding')
    .map(({ amount_nanos, quantity, unit_price_nanos, ...line }) => ({
      ...line,
      quantity: quantity === null ? null : String(quantity),
      unit_price: unit_price_nanos === null ? null : dollarsOf(unit_price_nanos),
      amount: dollarsOf(amount_nanos),
    })),
  subtotal: dollarsOf(subtotal_nanos),
});

/**
 * Taxes from the deployer's own Lambda function. It receives a draft and returns `{ "lines": [{ "description": "VAT
 * 19 %", "amount": "1.90" }] }`.
 * @throws FunctionUnavailable; Error if the reply is invalid: then the month is not closed
 */
export const createTaxFunction =
  (invoke: InvokeFunction, functionName: string): Taxes =>
  async (draft) => {
    const { data, error } = Reply.safeParse(await invoke(functionName, eventOf(draft)));
    if (!data) throw new Error(`The tax function ${functionName} returned an invalid reply for ${draft.id}: ${z.prettifyError(error)}`);
    return data.lines.map(({ description, amount }) => ({ description, amount_nanos: amount }));
  };
