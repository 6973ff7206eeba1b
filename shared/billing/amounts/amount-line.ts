import type { InvoiceLine } from '../invoice.ts';

/** The fields of a line that only lines of usage have. */
export const WITHOUT_USAGE: Omit<InvoiceLine, 'kind' | 'description' | 'month' | 'amount_nanos'> = {
  is_correction: false,
  model: null,
  token_kind: null,
  deployment: null,
  deployment_name: null,
  instance_type: null,
  price_version: null,
  rerate_from: null,
  quantity: null,
  unit: null,
  unit_price_nanos: null,
};

/** A line without a quantity. */
export const amountLine = (kind: InvoiceLine['kind'], description: string, month: string, amountNanos: bigint): InvoiceLine => ({
  ...WITHOUT_USAGE,
  kind,
  description,
  month,
  amount_nanos: amountNanos,
});

export const sumLines = (lines: readonly InvoiceLine[]): bigint => lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n);
