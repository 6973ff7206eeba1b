import { availableOf, type Credit, type Draw, planDraw } from '../../../shared/gpu-time/credit.ts';
import { type PricedInterval, sumNanos } from '../../../shared/gpu-time/intervals.ts';

/** An interval, and what is charged for it. */
export interface Charge extends PricedInterval {
  chargedNanos: bigint;
  isPrepaid: boolean;
}

/** How intervals are paid. Credit is conserved: held before + drawn = charged + held after + returned. */
export interface Payment {
  charges: Charge[];
  heldNanos: bigint;
  /** What is taken from the organization's credit. */
  draws: Draw[];
  /** What is returned to it. */
  returnedNanos: bigint;
  /** What it has left. */
  availableNanos: bigint;
}

/** What intervals are paid from. */
interface Means {
  heldNanos: bigint;
  /** What the next step costs. */
  nextStepNanos: bigint;
  credit: Credit;
  /** Whether what is more than needed stays held. */
  keepsRest: boolean;
  /** Whether credit is taken now. */
  canDraw: boolean;
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Pays for intervals from what is held, and holds what the next step costs. What is missing is taken from the credit,
 * as much as there is; what is more than needed is returned, unless it is kept. If the credit ends, the oldest
 * intervals are paid first, and the others are charged what is left.
 */
export const payFromCredit = (
  intervals: readonly PricedInterval[],
  { heldNanos, nextStepNanos, credit, keepsRest, canDraw }: Means,
): Payment => {
  const oldestFirst = intervals.toSorted((one, other) => one.startMs - other.startMs);
  const needed = sumNanos(intervals) + nextStepNanos;
  const draws = canDraw && needed > heldNanos ? planDraw(credit, needed - heldNanos) : [];
  const drawn = draws.reduce((sum, { nanos }) => sum + nanos, 0n);
  const returnedNanos = heldNanos > needed && !keepsRest ? heldNanos - needed : 0n;
  let left = heldNanos + drawn - returnedNanos;
  const charges = oldestFirst.map((interval): Charge => {
    const chargedNanos = smaller(interval.costNanos, left);
    left -= chargedNanos;
    return { ...interval, chargedNanos, isPrepaid: true };
  });
  return { charges, heldNanos: left, draws, returnedNanos, availableNanos: availableOf(credit) - drawn + returnedNanos };
};

/** Without prepaid credit, intervals are only charged. What is still held, from when there was credit, is returned. */
export const chargeOnly = (intervals: readonly PricedInterval[], heldNanos: bigint): Payment => ({
  charges: intervals.map((interval) => ({ ...interval, chargedNanos: interval.costNanos, isPrepaid: false })),
  heldNanos: 0n,
  draws: [],
  returnedNanos: heldNanos,
  availableNanos: 0n,
});
