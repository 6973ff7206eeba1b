import type { CreditStore, ExpiryCheck } from '../../../shared/credit/credit-store.ts';

// After this, only requests that still hold credit can add usage events to a day.
const COMPLETE_AFTER_MS = 60 * 60_000;

/** The due expiries of all organizations: new ones, and those to check again. */
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
