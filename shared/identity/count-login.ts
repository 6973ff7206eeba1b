import type { QuotaStore } from '../quotas/quota-store.ts';
import { countWithin } from './count-within.ts';
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
export const countLogin = ({ quotas }: LoginCounts, { id: account }: Pick<User, 'id'>, nowMs: number): Promise<void> =>
  countWithin(
    quotas,
    BOUNDS.map((bound) => ({ kind: 'login', account, ...bound })),
    nowMs,
  );
