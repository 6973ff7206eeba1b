import type { Quota, QuotaStore } from '../quotas/quota-store.ts';
import { SECOND_MS } from '../time/units.ts';
import { TooManyAttempts } from './errors.ts';

/** Counts an action against each of its quotas, in this order. @throws 429 for the first that is used up */
export const countWithin = async (store: Pick<QuotaStore, 'count'>, quotas: readonly Quota[], nowMs: number): Promise<void> => {
  for (const quota of quotas) {
    const { isCounted, untilMs } = await store.count(quota, nowMs);
    if (!isCounted) throw new TooManyAttempts(Math.max(1, Math.ceil((untilMs - nowMs) / SECOND_MS)));
  }
};
