import { ownCurrency } from './currency.ts';

const DIGIT_GROUP = /\B(?=(\d{3})+(?!\d))/g;

interface Decimal {
  isNegative: boolean;
  whole: string;
  fraction: string;
}

const partsOf = (amount: string): Decimal => {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  return { isNegative: sign === '-', whole, fraction };
};

/**
 * An exact amount as people read it, never through a float: at least the decimals of the currency, and all others that
 * are not zero.
 * @param amount a decimal number, such as `1234.5`
 */
export const formatAmount = (amount: string): string => {
  const { isNegative, whole, fraction } = partsOf(amount);
  const shown = fraction.replace(/0+$/, '').padEnd(ownCurrency().decimals, '0');
  return `${isNegative ? '−' : ''}${whole.replace(DIGIT_GROUP, ',')}${shown && `.${shown}`}`;
};

/** An exact amount with the symbol of the currency. */
export const formatMoney = (amount: string): string => {
  const { symbol } = ownCurrency();
  // No line breaks between them.
  const before = /\p{L}$/u.test(symbol) ? `${symbol}\u00a0` : symbol;
  return formatAmount(amount).replace(/^−?/, (sign) => sign + before);
};

const MOST_DECIMALS = 9;

/** A value of a chart's axis, which is a float, as an amount with the symbol of the currency. */
export const formatAxisMoney = (value: number): string => formatMoney(value.toFixed(MOST_DECIMALS));

/** The most that the API takes for a price of a million tokens or of an hour. */
export const MOST_PER_UNIT = '1000000';

// The most that the API takes for a budget.
const MOST = '999999999999.999999999';

/**
 * Why the API wouldn't take an amount of money; undefined: it would, or the field is empty.
 * @param example an amount for this field @param most the most that the API takes there
 */
export const faultOfMoney = (text: string, example: string, most = MOST): string | undefined => {
  if (text === '') return undefined;
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return `Enter an amount, such as ${example}.`;
  if (fraction.length > MOST_DECIMALS) return 'Enter at most nine decimals.';
  return whole.length > 12 || toUnits(text) > toUnits(most) ? `Enter at most ${formatAmount(partsOf(most).whole)}.` : undefined;
};

/** True for an amount of money that the API takes. @param most the most that it takes there */
export const isMoney = (text: string, most?: string): boolean => text !== '' && faultOfMoney(text, '', most) === undefined;

/** A number with separators. @param count a number, or the digits of one that a `number` can't hold */
export const formatCount = (count: number | string): string => String(count).replace(/^-?\d+/, (whole) => whole.replace(DIGIT_GROUP, ','));

/** A count with its noun, such as `1 deployment`. */
export const counted = (count: number, one: string, many: string): string => `${formatCount(count)} ${count === 1 ? one : many}`;

const SCALE = 12;

/** An amount in units of 10^-12, for exact sums and comparisons. */
export const toUnits = (amount: string): bigint => {
  const { isNegative, whole, fraction } = partsOf(amount);
  const units = BigInt(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
  return isNegative ? -units : units;
};

/** The amount of units of 10^-12. */
export const fromUnits = (units: bigint): string => {
  const digits = String(units < 0n ? -units : units).padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -SCALE)}${fraction && `.${fraction}`}`;
};

/** The exact sum of amounts. */
export const sumOf = (amounts: readonly string[]): string => fromUnits(amounts.reduce((sum, amount) => sum + toUnits(amount), 0n));

const PER_MILLION_DIGITS = 6;

/** A price of one token as the price of a million: exact, whatever its number of decimals. */
export const perMillion = (perToken: string): string => {
  const { whole, fraction } = partsOf(perToken);
  const digits = fraction.padEnd(PER_MILLION_DIGITS, '0');
  const shifted = (whole + digits.slice(0, PER_MILLION_DIGITS)).replace(/^0+(?=\d)/, '');
  const rest = digits.slice(PER_MILLION_DIGITS);
  return rest === '' ? shifted : `${shifted}.${rest}`;
};

const PERCENT = 100n;

/** How much of a whole is used, in whole percent, rounded down; 100 if the whole is zero. For bars, not for money. */
export const percentOf = (part: string, whole: string): number => {
  const units = toUnits(whole);
  return units <= 0n ? Number(PERCENT) : Number((toUnits(part) * PERCENT) / units);
};

/** A share of a whole to the nearest percent, such as `12%` or `<1%`; `0%` if the whole is zero. */
export const formatShare = (part: string, whole: string): string => {
  const [used, units] = [toUnits(part), toUnits(whole)];
  if (units <= 0n) return '0%';
  const percent = (2n * used * PERCENT + units) / (2n * units);
  return percent === 0n && used > 0n ? '<1%' : `${percent}%`;
};

/** An amount to the nearest cent, or what the currency has instead, for estimates. */
export const nearestCent = (amount: string): string => {
  const unitsPerCent = 10n ** BigInt(SCALE - ownCurrency().decimals);
  return fromUnits(((toUnits(amount) + unitsPerCent / 2n) / unitsPerCent) * unitsPerCent);
};
