/** The smallest unit of a currency in which amounts are paid. */
export interface MinorUnit {
  /** The decimals of an amount of whole units. */
  decimals: number;
  /** The unit in billionths of the currency. */
  nanos: bigint;
  /** Completes `rounded to …`. */
  name: string;
}

const CENT: MinorUnit = { decimals: 2, nanos: 10_000_000n, name: 'whole cents' };
const WHOLE: MinorUnit = { decimals: 0, nanos: 1_000_000_000n, name: 'a whole amount' };
const THOUSANDTH: MinorUnit = { decimals: 3, nanos: 1_000_000n, name: 'three decimals' };

// ISO 4217, table A.1. Intl's own table has other decimals for currencies whose coins are out of use.
const OTHERS: ReadonlyMap<string, MinorUnit> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map((code) => [code, WHOLE] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, THOUSANDTH] as const),
]);

/**
 * The minor unit of a currency by ISO 4217.
 * @param currency a code, such as `USD`
 */
export const minorUnitOf = (currency: string): MinorUnit => OTHERS.get(currency) ?? CENT;
