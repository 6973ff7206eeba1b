import { type AuditDependencies, commit } from '../../shared/audit/commit.ts';
import { systemOrigin } from '../../shared/audit/origin.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import type { CallbackDependencies } from './callback.ts';

interface RefusalDependencies extends AuditDependencies {
  quotas: Pick<QuotaStore, 'count'>;
}

const MAX_PER_HOUR = 20;

/**
 * Records a refused login in the audit log of the connection's organization, where its owners see why: at most 20 in an
 * hour (UTC), because anyone with an account at the provider can cause them, and entries are never deleted.
 */
export const createRecordRefusal =
  (deps: RefusalDependencies): CallbackDependencies['recordRefusal'] =>
  async ({ organization, provider, reason }, { requestId, requestContext, receivedAtMs }) => {
    const quota = { kind: 'sso_refused', span: 'hour', account: provider, max: MAX_PER_HOUR } as const;
    const { isCounted } = await deps.quotas.count(quota, receivedAtMs);
    if (!isCounted) return;
    const ipAddress = requestContext.identity?.sourceIp ?? null;
    const system = systemOrigin('single-sign-on', receivedAtMs);
    // With the organization, because owners see only addresses of their own.
    const origin = { ...system, actor: { ...system.actor, organization }, requestId, ipAddress };
    const target = { type: 'identity_provider', id: provider };
    await commit(deps, origin, { action: 'session.refused', organization, target, reason }, []);
  };
