import type { QuotaStore } from '../quotas/quota-store.ts';
import { SECOND_MS } from '../time/units.ts';
import { TooManyAttempts } from './errors.ts';
import type { User } from './user.ts';

// Each costs a call of the user pool, and a session is an entry of the audit log for good.
const BOUNDS = [
  { span: 'minute', max: 60 },
  { span: 'day', max: 1_000 },
] as const;

export interface LoginCounts {
  quotas: Pick<QuotaStore, 'count'>;
}

/**
 * Counts a correct password or code of a user, or a session that single sign-on begins for them. Wrong ones count
 * elsewhere, so that strangers can't use up these limits.
 * @throws 429
 */
export const countLogin = async ({ quotas }: LoginCounts, { id: account }: Pick<User, 'id'>, nowMs: number): Promise<void> => {
  for (const bound of BOUNDS) {
    const { isCounted, untilMs } = await quotas.count({ kind: 'login', account, ...bound }, nowMs);
    if (!isCounted) throw new TooManyAttempts(Math.max(1, Math.ceil((untilMs - nowMs) / SECOND_MS)));
  }
};
