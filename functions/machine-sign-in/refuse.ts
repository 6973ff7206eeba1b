import { commit } from '../../shared/audit/commit.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import type { StoredServiceAccount } from '../../shared/service-accounts/service-account-store.ts';
import { InvalidClient } from './errors.ts';
import type { MachineSignInDependencies } from './grant.ts';

/**
 * Rejects a proof. The audit log of an account gets the first refusal in an hour (UTC), because anyone who knows its id
 * can cause refusals, and entries are never deleted.
 * @param reason for the audit log only
 * @throws 401
 */
export const refuse = async (
  deps: Pick<MachineSignInDependencies, 'database' | 'audit' | 'quotas'>,
  caller: Caller,
  account: StoredServiceAccount | undefined,
  reason: string,
): Promise<never> => {
  if (account) {
    const quota = { kind: 'session_refused', span: 'hour', account: account.id, max: 1 } as const;
    const { isCounted } = await deps.quotas.count(quota, caller.receivedAtMs);
    const { id, organization } = account;
    const change = { action: 'session.refused', organization, target: { type: 'service_account', id }, reason };
    if (isCounted) await commit(deps, originOf(caller, account), change, []);
  }
  throw new InvalidClient();
};
