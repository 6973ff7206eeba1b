import { Conflict, InvalidValue } from '../../../shared/http/errors.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { newestFirst } from '../../../shared/prices/price-version.ts';

// Allows for differing clocks.
const MAX_PAST_MS = 60_000;

/**
 * Returns the time at which a price version takes effect, in ms. A time in the last minute counts as now, because usage
 * since then was billed at the previous price.
 * @throws 400
 */
export const effectiveAt = (seconds: number | undefined, nowMs: number): number => {
  if (seconds === undefined) return nowMs;
  if (seconds * 1_000 < nowMs - MAX_PAST_MS)
    throw new InvalidValue('effective_at', 'expected a time at most a minute in the past. Earlier usage is already billed');
  return Math.max(seconds * 1_000, nowMs);
};

/** Returns the price version that takes effect next after a time; undefined if none is scheduled. */
export const priceAfter = (prices: readonly Price[], atMs: number): Price | undefined =>
  newestFirst(prices).findLast(({ effective_at }) => effective_at > atMs);

interface Room {
  max: number;
  advice: string;
}

/** Checks that one more price version can be added. @throws 409 */
export const checkRoom = (prices: readonly { effective_at: number }[], effectiveAtMs: number, { max, advice }: Room): void => {
  if (prices.length >= max)
    throw new Conflict({
      code: 'too_many_prices',
      message: `There can be at most ${max} price versions, and they are never removed. ${advice}`,
    });
  if (prices.some(({ effective_at }) => effective_at === effectiveAtMs))
    throw new Conflict({
      code: 'price_exists',
      param: 'effective_at',
      message: 'There is already a price that takes effect at this time. Choose another time.',
    });
};
