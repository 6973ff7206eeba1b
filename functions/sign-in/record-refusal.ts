import { type AuditDependencies, commit } from '../../shared/audit/commit.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import type { StoredUser } from '../../shared/identity/user-store.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';

export interface RefusalDependencies extends AuditDependencies {
  quotas: Pick<QuotaStore, 'count'>;
}

/**
 * Records a refused login in the audit log: the first one of a user in an hour (UTC), whatever the number of
 * environments. Anyone who knows an address can cause refusals, and entries are never deleted. The access log has
 * every refusal.
 */
export const recordRefusal = async (deps: RefusalDependencies, caller: Caller, user: StoredUser): Promise<void> => {
  const quota = { kind: 'session_refused', span: 'hour', account: user.id, max: 1 } as const;
  const { isCounted } = await deps.quotas.count(quota, caller.receivedAtMs);
  if (!isCounted) return;
  const { id, organization } = user;
  await commit(deps, originOf(caller, user), { action: 'session.refused', organization, target: { type: 'user', id } }, []);
};
