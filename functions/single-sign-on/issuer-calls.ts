import type { Database } from '../../shared/database/database.ts';
import { IssuerUnavailable } from '../../shared/federation/errors.ts';
import type { Federation } from '../../shared/federation/federation.ts';
import type { LoginAttempts } from '../../shared/identity/login-attempts.ts';
import { networkOf } from '../../shared/identity/network-of.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import { rowId } from '../../shared/quotas/row-id.ts';
import { createSlidingCounts, type SlidingLimit } from '../../shared/quotas/sliding-counts.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import { SECOND_MS } from '../../shared/time/units.ts';
import type { FinishDependencies, ProviderCaller } from './finish-login.ts';
import { LoginFailed } from './login-fault.ts';

// Half of the environments, for all providers of an organization together: slow ones leave room for those of others.
const MAX_AT_ONCE = 3;
// Strangers can begin logins too. So one place is left for networks from which somebody has signed in, and each other
// network can have one of the rest.
const MAX_OF_NEW_NETWORKS = 2;
const MAX_OF_NEW_NETWORK = 1;
// Longer than a login calls its provider.
const AT_ONCE_MS = 10 * SECOND_MS;
// Each environment fetches two documents when it begins, and again after half an hour.
const MAX_FETCHES_PER_MINUTE = 30;

interface IssuerCallsOptions {
  database: Database;
  table: string;
  quotas: Pick<QuotaStore, 'count'>;
  attempts: Pick<LoginAttempts, 'isKnown'>;
  now: () => number;
}

type IssuerCalls = Pick<FinishDependencies, 'request' | 'verifyIdentityToken' | 'discover' | 'countFetch' | 'withRoom'>;

const placesOf = ({ organization, ipAddress }: ProviderCaller, isKnown: boolean): SlidingLimit[] => {
  const place = (max: number, ...parts: string[]) => ({ id: rowId('sso', 'at-once', organization, ...parts), max, windowMs: AT_ONCE_MS });
  const ofNewNetworks = [place(MAX_OF_NEW_NETWORK, 'new', networkOf(ipAddress)), place(MAX_OF_NEW_NETWORKS, 'new')];
  return [...(isKnown ? [] : ofNewNetworks), place(MAX_AT_ONCE)];
};

/** The calls of identity providers, limited for each organization. */
export const createIssuerCalls = (
  { request, discover, verifyIdentityToken }: Federation,
  { database, table, quotas, attempts, now }: IssuerCallsOptions,
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

    withRoom: async (caller, nowMs, run) => {
      const isKnown = await attempts.isKnown({ kind: 'sso', ipAddress: caller.ipAddress, account: caller.provider }, nowMs);
      const taken: SlidingLimit[] = [];
      try {
        for (const place of placesOf(caller, isKnown)) {
          if ((await counts.count(place, nowMs)) !== undefined) throw new LoginFailed('provider_busy');
          taken.push(place);
        }
        return await run();
      } finally {
        for (const place of taken) await counts.takeBack(place, nowMs);
      }
    },
  };
};
