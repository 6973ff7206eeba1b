import type { ApiEvent } from '../../shared/http/api-event.ts';
import { callerOf } from '../../shared/identity/request-origin.ts';
import { logError } from '../../shared/logging/log.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import type { IdentityProviderEvent, IdentityProviderEvents } from '../../shared/single-sign-on/identity-provider-events.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import type { ShownIdentity } from './claims/shown-identity.ts';

interface EventDependencies {
  events: Pick<IdentityProviderEvents, 'add' | 'clear'>;
  providers: Pick<IdentityProviderStore, 'find'>;
  quotas: Pick<QuotaStore, 'count'>;
}

/** How a login ended. `identity` is null without a verified ID token. */
export type LoginEnd = { identity: ShownIdentity | null } & (
  | { outcome: 'refused'; reason: string }
  | { outcome: Exclude<IdentityProviderEvent['outcome'], 'refused'>; user: string; role: string }
);

/** Records how a login ended, for those who may see the connection. Never throws: a login does not depend on it. */
export type RecordEvent = (event: ApiEvent, provider: Pick<IdentityProvider, 'id' | 'organization'>, end: LoginEnd) => Promise<void>;

// Strangers can cause refusals.
const MAX_REFUSALS_A_MINUTE = 5;

const toEvent = (event: ApiEvent, { identity, ...end }: LoginEnd): IdentityProviderEvent => {
  const { ipAddress, requestId, receivedAtMs } = callerOf(event);
  return {
    object: 'identity_provider_event',
    at: receivedAtMs,
    reason: null,
    is_verified: identity !== null,
    user: null,
    role: null,
    ...(identity ?? { subject: null, email: null, claims: {} }),
    ...end,
    ip_address: ipAddress,
    request_id: requestId,
  };
};

/** Creates the recorder of how logins ended: all that succeeded, and at most 5 refusals of each kind in a minute. */
export const createRecordEvent = ({ events, providers, quotas }: EventDependencies): RecordEvent => {
  const record: RecordEvent = async (request, { id, organization }, end) => {
    const event = toEvent(request, end);
    if (end.outcome === 'refused') {
      const kind = event.is_verified ? 'sso_refused_verified' : 'sso_refused_unverified';
      const quota = { kind, span: 'minute', account: id, max: MAX_REFUSALS_A_MINUTE } as const;
      if (!(await quotas.count(quota, event.at)).isCounted) return;
    }
    await events.add(id, event);
    // The connection can have been deleted meanwhile, and nobody could find its events any more.
    if (!(await providers.find(organization, id))) await events.clear(id);
  };

  return async (request, provider, end) => {
    try {
      await record(request, provider, end);
    } catch (error) {
      logError('login_event_not_recorded', error, { request_id: request.requestId });
    }
  };
};
