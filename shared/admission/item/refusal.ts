import type { RateRefusal } from './sliding-window.ts';
import type { MoneyRefusal } from './spending.ts';

/** Why a limiter rejected a request. */
export type Refusal = RateRefusal | MoneyRefusal;

export const isMoneyRefusal = (refusal: Refusal): refusal is MoneyRefusal => 'isHeld' in refusal;

/** Whether it can end at any moment because it ends when a request in flight ends. */
export const endsWithARequest = (refusal: Refusal): boolean =>
  refusal.dimension === 'concurrency' || (isMoneyRefusal(refusal) && refusal.isHeld);
