import { nanosOf } from '../../../shared/prices/dollars.ts';
import { ALLOWANCES, type PriceId, priceOf } from './prices.ts';
import { minus, type Quantity, quantity } from './quantity.ts';

/** A line of a month's bill. */
export interface Line {
  /** The billed item, in the words of docs/cost.md. */
  item: string;
  price: PriceId;
  quantity: Quantity;
}

/** The cost of a line in nano-dollars, rounded once, half up. */
export const costNanos = ({ price, quantity: { amount, scale } }: Line): bigint => {
  const { usd, per } = priceOf(price);
  const nanos = nanosOf(usd);
  if (nanos === undefined) throw new Error(`The price ${price} is not a number of dollars with at most nine decimals: ${usd}`);
  const divisor = scale * BigInt(per);
  return (2n * nanos * amount + divisor) / (2n * divisor);
};

/** The sum of the lines as they are rounded, in nano-dollars. */
export const totalNanos = (lines: readonly Line[]): bigint => lines.reduce((sum, line) => sum + costNanos(line), 0n);

/**
 * The lines without what an account gets for free each month, if it uses its allowances for nothing else. Earlier
 * lines use them up first.
 */
export const afterAllowances = (lines: readonly Line[]): Line[] => {
  const left = new Map<string, Quantity>();
  return lines.map((line) => {
    const { allowance } = priceOf(line.price);
    if (allowance === undefined) return line;
    const free = left.get(allowance) ?? quantity(ALLOWANCES[allowance].units);
    left.set(allowance, minus(free, line.quantity));
    return { ...line, quantity: minus(line.quantity, free) };
  });
};

/** The cost by service in nano-dollars, in the order in which the services first appear. */
export const byService = (lines: readonly Line[]): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const line of lines) {
    const { service } = priceOf(line.price);
    sums.set(service, (sums.get(service) ?? 0n) + costNanos(line));
  }
  return sums;
};
