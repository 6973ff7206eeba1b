import type { Database } from '../../shared/database/database.ts';
import { IssuerUnavailable } from '../../shared/federation/errors.ts';
import type { Federation } from '../../shared/federation/federation.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import { rowId } from '../../shared/quotas/row-id.ts';
import { createSlidingCounts } from '../../shared/quotas/sliding-counts.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import { SECOND_MS } from '../../shared/time/units.ts';
import type { FinishDependencies } from './finish-login.ts';
import { LoginFailed } from './login-fault.ts';

// Half of the environments, so that a provider that answers slowly leaves room for those of other organizations.
const MAX_AT_ONCE = 3;
// Longer than a login calls its provider.
const AT_ONCE_MS = 10 * SECOND_MS;
// Each environment fetches two documents when it begins, and again after half an hour.
const MAX_FETCHES_PER_MINUTE = 30;

interface IssuerCallsOptions {
  database: Database;
  table: string;
  quotas: Pick<QuotaStore, 'count'>;
  now: () => number;
}

type IssuerCalls = Pick<FinishDependencies, 'request' | 'verifyIdentityToken' | 'discover' | 'countFetch' | 'withRoom'>;

/** The calls of identity providers, limited for each organization and connection. */
export const createIssuerCalls = (
  { request, discover, verifyIdentityToken }: Federation,
  { database, table, quotas, now }: IssuerCallsOptions,
): IssuerCalls => {
  const counts = createSlidingCounts(database, table);

  const countFetch = async ({ organization }: Pick<IdentityProvider, 'organization'>): Promise<void> => {
    const quota = { kind: 'sso_fetch', span: 'minute', account: organization, max: MAX_FETCHES_PER_MINUTE } as const;
    const { isCounted } = await quotas.count(quota, now());
    if (!isCounted) throw new IssuerUnavailable('too_many_fetches');
  };

  return {
    request,
    verifyIdentityToken,
    countFetch,

    discover: async (provider) => {
      try {
        return await discover(provider.issuer, { beforeFetch: () => countFetch(provider) });
      } catch (error) {
        throw error instanceof IssuerUnavailable ? new LoginFailed('provider_unreachable', error.fault) : error;
      }
    },

    withRoom: async (provider, nowMs, run) => {
      const limit = { id: rowId('sso', 'at-once', provider), max: MAX_AT_ONCE, windowMs: AT_ONCE_MS };
      if ((await counts.count(limit, nowMs)) !== undefined) throw new LoginFailed('provider_busy');
      try {
        return await run();
      } finally {
        await counts.takeBack(limit, nowMs);
      }
    },
  };
};
