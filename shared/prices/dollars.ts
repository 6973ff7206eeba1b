import * as z from 'zod';

/** An amount of dollars on the wire: text, because a JSON number is not exact. */
export const Dollars = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,9})?$/, 'expected dollars as text with at most nine decimals, such as "12.50"')
  .meta({ examples: ['12.50'] });

// A nano-dollar is 10⁻⁹ dollars.
const NANO_DECIMALS = 9;
// A nano-dollar per million tokens is 10⁻¹⁵ dollars a token.
const PER_TOKEN_DECIMALS = 15;

/** `units` of 10⁻`decimals` as an exact decimal number, without exponent or trailing zeros. */
export const decimal = (units: bigint, decimals: number): string => {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}`;
  return fraction ? `${whole}.${fraction}` : whole;
};

export const dollarsOf = (nanos: bigint): string => decimal(nanos, NANO_DECIMALS);

/** Converts a price from nano-dollars per million tokens to dollars per token. */
export const dollarsPerToken = (nanosPerMillion: number): string => decimal(BigInt(nanosPerMillion), PER_TOKEN_DECIMALS);

/** Parses dollars with up to nine decimals to nano-dollars; undefined if the text is invalid. */
export const nanosOf = (dollars: string): bigint | undefined => {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(dollars) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(NANO_DECIMALS, '0'));
};
