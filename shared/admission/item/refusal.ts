import type { RateRefusal } from './sliding-window.ts';
import type { MoneyRefusal } from './spending.ts';

/** Why a limiter rejected a request. */
export type LimiterRefusal = RateRefusal | MoneyRefusal;

export const isMoneyRefusal = (refusal: LimiterRefusal): refusal is MoneyRefusal => 'isHeld' in refusal;

/** It can end at any moment because it ends when a request in flight ends. */
export const endsWithARequest = (refusal: LimiterRefusal): boolean =>
  refusal.dimension === 'concurrency' || (isMoneyRefusal(refusal) && refusal.isHeld);
