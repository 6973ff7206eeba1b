import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { decimal, dollarsOf } from '../../../shared/prices/dollars.ts';

/** Costs are exact in units of 10⁻¹⁸: the product of a price in nano-dollars and a quantity with nine decimals. */
const COST_DECIMALS = 18;
const NANO_COST = 10n ** 9n;
const HOUR_SECONDS = 3_600n;
const HOUR_DECIMALS = 9;
const MILLION_DECIMALS = 6;

export const TOKEN_UNIT = '1000000 Tokens';
export const TIME_UNIT = 'Hours';

/** A cost as FOCUS writes numbers: without exponent, plus sign or separators. */
export const costText = (cost: bigint): string => decimal(cost, COST_DECIMALS);

export const costOfNanos = (nanos: bigint): bigint => nanos * NANO_COST;

/** A quantity that is priced: the number as text, and its exact product with a price. */
export interface Priced {
  quantity: string;
  cost: bigint;
}

/** Tokens in millions. @param priceNanos nano-dollars per million */
export const pricedTokens = (tokens: bigint, priceNanos: bigint): Priced => ({
  quantity: decimal(tokens, MILLION_DECIMALS),
  // Nano-dollars × 10⁻⁶.
  cost: (tokens * priceNanos * NANO_COST) / 10n ** BigInt(MILLION_DECIMALS),
});

const nanoHoursOf = (seconds: bigint): bigint => {
  const product = seconds * 10n ** BigInt(HOUR_DECIMALS);
  const half = HOUR_SECONDS / 2n;
  return (product + (product < 0n ? -half : half)) / HOUR_SECONDS;
};

/**
 * Instance-hours with nine decimals, because an hour's fractions are not finite. @param priceNanos nano-dollars per
 * hour
 */
export const pricedSeconds = (seconds: bigint, priceNanos: bigint): Priced => {
  const hours = nanoHoursOf(seconds);
  return { quantity: decimal(hours, HOUR_DECIMALS), cost: hours * priceNanos };
};

/** What the quantity of a line is called and how much it is in the unit of its price. */
export const quantityOf = ({
  quantity,
  unit,
}: Pick<InvoiceLine, 'quantity' | 'unit'>): { quantity: string | null; unit: string | null } => {
  if (quantity === null || unit === null) return { quantity: null, unit: null };
  return unit === 'token'
    ? { quantity: pricedTokens(quantity, 0n).quantity, unit: TOKEN_UNIT }
    : { quantity: pricedSeconds(quantity, 0n).quantity, unit: TIME_UNIT };
};

export const priceText = (nanos: bigint | null): string | null => (nanos === null ? null : dollarsOf(nanos));

/** An instant as FOCUS writes it, in whole seconds: `2026-10-01T00:00:00Z`. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
