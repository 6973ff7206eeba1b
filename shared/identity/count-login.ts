import { TooManyAttempts } from '../../shared/identity/errors.ts';
import type { User } from '../../shared/identity/user.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import { SECOND_MS } from '../../shared/time/units.ts';

// Each costs a call of the user pool, and a session is an entry of the audit log for good.
const BOUNDS = [
  { span: 'minute', max: 60 },
  { span: 'day', max: 1_000 },
] as const;

/**
 * Counts a correct password or code of a user. Wrong ones count elsewhere, so that strangers can't use up these limits.
 * @throws 429
 */
export const countLogin = async (
  { quotas }: { quotas: Pick<QuotaStore, 'count'> },
  { id: account }: Pick<User, 'id'>,
  nowMs: number,
): Promise<void> => {
  for (const bound of BOUNDS) {
    const { isCounted, untilMs } = await quotas.count({ kind: 'login', account, ...bound }, nowMs);
    if (!isCounted) throw new TooManyAttempts(Math.max(1, Math.ceil((untilMs - nowMs) / SECOND_MS)));
  }
};
