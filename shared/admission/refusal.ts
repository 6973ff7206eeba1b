import type { MoneyRefusal } from './money.ts';
import type { RateRefusal } from './window.ts';

/** Why a limiter lets a request not in. */
export type Refusal = RateRefusal | MoneyRefusal;

export const isMoneyRefusal = (refusal: Refusal): refusal is MoneyRefusal => 'isHeld' in refusal;

/** Whether it may be over at any moment, because it ends with some request in flight. */
export const endsWithARequest = (refusal: Refusal): boolean =>
  refusal.dimension === 'concurrency' || (isMoneyRefusal(refusal) && refusal.isHeld);
