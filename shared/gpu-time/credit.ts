import { availableNanosOf, isPrepaid, type LimiterItem } from '../admission/item/limiter-item.ts';

// The transaction has other writes too.
const MAX_DRAWN_SHARDS = 40;

/** The prepaid credit of an organization, in the limiter items that share it; its own item first. */
export interface Credit {
  isPrepaid: boolean;
  shards: readonly { id: string; availableNanos: bigint }[];
}

/** The amount to take from a shard. */
export interface Draw {
  id: string;
  nanos: bigint;
}

/** @param items all shards of an organization, its own first; empty: it has no limits, and so no credit */
export const creditOf = (items: readonly LimiterItem[]): Credit => ({
  isPrepaid: items[0] !== undefined && isPrepaid(items[0]),
  shards: items.map((item) => ({ id: item.id, availableNanos: availableNanosOf(item) })),
});

/** The credit left. A deduction can make one shard negative; the others must not pay more than the sum. */
export const availableOf = ({ shards }: Credit): bigint => {
  const sum = shards.reduce((total, { availableNanos }) => total + availableNanos, 0n);
  return sum < 0n ? 0n : sum;
};

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The larger of two amounts: `Math.max` takes no bigints. */
export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Plans how to take an amount, or as much of it as there is, from the richest shards. */
export const planDraw = (credit: Credit, nanos: bigint): Draw[] => {
  let missing = smaller(nanos, availableOf(credit));
  const richest = credit.shards.toSorted((one, other) => (one.availableNanos < other.availableNanos ? 1 : -1)).slice(0, MAX_DRAWN_SHARDS);
  return richest.flatMap(({ id, availableNanos }) => {
    const taken = smaller(availableNanos, missing);
    if (taken <= 0n) return [];
    missing -= taken;
    return [{ id, nanos: taken }];
  });
};
