import { availableOf, type Credit, type Draw, planDraw } from '../../../shared/gpu-time/credit.ts';
import { type PricedInterval, sumNanos } from '../../../shared/gpu-time/intervals.ts';

/** An interval, and the amount charged for it. */
export interface Charge extends PricedInterval {
  chargedNanos: bigint;
  isPrepaid: boolean;
}

/** The payment of intervals. Credit is conserved: held before + drawn = charged + held after + returned. */
export interface CreditPayment {
  charges: Charge[];
  heldNanos: bigint;
  /** The amounts taken from the organization's credit. */
  draws: Draw[];
  /** The amount returned to it. */
  returnedNanos: bigint;
  /** The amount left in it. */
  availableNanos: bigint;
}

interface PaymentSources {
  heldNanos: bigint;
  /** The cost of the next step. */
  nextStepNanos: bigint;
  credit: Credit;
  /** True if a surplus stays held. */
  keepsRest: boolean;
  /** True if credit can be taken now. */
  canDraw: boolean;
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Pays for intervals from the held credit, and holds the cost of the next step. A shortage is taken from the available
 * credit, as far as it lasts; a surplus is returned, unless it is kept. If the credit is used up, the oldest intervals
 * are paid first, and the others are charged the rest.
 */
export const payFromCredit = (
  intervals: readonly PricedInterval[],
  { heldNanos, nextStepNanos, credit, keepsRest, canDraw }: PaymentSources,
): CreditPayment => {
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

/** Without prepaid credit, intervals are only charged. Credit that is still held from earlier is returned. */
export const chargeOnly = (intervals: readonly PricedInterval[], heldNanos: bigint): CreditPayment => ({
  charges: intervals.map((interval) => ({ ...interval, chargedNanos: interval.costNanos, isPrepaid: false })),
  heldNanos: 0n,
  draws: [],
  returnedNanos: heldNanos,
  availableNanos: 0n,
});
