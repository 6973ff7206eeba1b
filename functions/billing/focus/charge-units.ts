import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { decimal, dollarsOf } from '../../../shared/prices/dollars.ts';

// Costs are exact in units of 10⁻¹⁸: the product of a price in nano-dollars and a quantity with nine decimals.
const COST_DECIMALS = 18;
const NANO_COST = 10n ** 9n;
const HOUR_SECONDS = 3_600n;
const HOUR_DECIMALS = 9;
const MILLION_DECIMALS = 6;

export const TOKEN_UNIT = '1000000 Tokens';
export const TIME_UNIT = 'Hours';

/** A cost in FOCUS's format of numbers: without exponent, plus sign or separators. */
export const costText = (cost: bigint): string => decimal(cost, COST_DECIMALS);

export const costOfNanos = (nanos: bigint): bigint => nanos * NANO_COST;

/** A priced quantity: the number as text, and its exact product with the price. */
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

/** Instance-hours, rounded to nine decimals. @param priceNanos nano-dollars per hour */
export const pricedSeconds = (seconds: bigint, priceNanos: bigint): Priced => {
  const hours = nanoHoursOf(seconds);
  return { quantity: decimal(hours, HOUR_DECIMALS), cost: hours * priceNanos };
};

/** The quantity of a line in the unit of its price, and that unit's name. */
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

/** An instant in FOCUS's format, in whole seconds: `2026-10-01T00:00:00Z`. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
