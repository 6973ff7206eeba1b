import type { CreditStore, ExpiryCheck } from '../../../shared/credit/credit-store.ts';

/** Usage events of a day are complete this long after its end, except those whose requests still hold credit. */
const COMPLETE_AFTER_MS = 60 * 60_000;

/**
 * The expiries of all organizations that must be looked at now: those that have come, and those that must be looked
 * at again.
 */
export async function* dueExpiries({
  credit,
  now,
}: {
  credit: Pick<CreditStore, 'listExpiries' | 'listExpiryChecks'>;
  now: () => number;
}): AsyncGenerator<ExpiryCheck> {
  const nowMs = now();
  for await (const expiry of credit.listExpiries(nowMs - COMPLETE_AFTER_MS)) yield { ...expiry, looks: 0, owedNanos: 0n, checkAtMs: 0 };
  for await (const check of credit.listExpiryChecks()) if (check.owedNanos > 0n || check.checkAtMs <= nowMs) yield check;
}
