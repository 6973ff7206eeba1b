import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { Forbidden } from '../../../shared/http/errors.ts';
import { SCIM_BASE } from '../../../shared/http/scim-path.ts';
import { callerOf } from '../../../shared/identity/request-origin.ts';
import { DEFAULT_MAX_API_KEYS } from '../../../shared/identity/user.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { WrongScimToken } from './protocol/errors.ts';
import { parseScimToken } from './token.ts';
import type { ScimTokenStore } from './token-store.ts';

/** The identity provider that sent a request, with the rights of an owner over the users that it manages. */
export interface ScimConnection {
  provider: IdentityProvider;
  actor: Actor & { organization: string };
  /** The URL below which it sends requests, without a trailing slash. */
  baseUrl: string;
}

export interface ScimAuthenticationDependencies {
  scimTokens: Pick<ScimTokenStore, 'find' | 'noteUse'>;
  identityProviders: Pick<IdentityProviderStore, 'find'>;
}

// Not from the header Host, which is the caller's.
const baseUrlOf = ({ requestContext: { domainName = '', path = '' } }: ApiEvent): string => {
  const stage = path.slice(0, Math.max(0, path.indexOf(SCIM_BASE)));
  return `${/^(?:localhost|127\.0\.0\.1)(?::|$)/.test(domainName) ? 'http' : 'https'}://${domainName}${stage}${SCIM_BASE}`;
};

const actorOf = ({ id, organization }: IdentityProvider, event: ApiEvent): ScimConnection['actor'] => {
  const { requestId, ipAddress, receivedAtMs: nowMs } = callerOf(event);
  const actor = { type: 'system', id: `scim:${id}`, email: null, organization } as const;
  return {
    userId: id,
    email: '',
    role: 'owner',
    organization,
    maxApiKeys: DEFAULT_MAX_API_KEYS,
    origin: { actor, requestId, ipAddress, nowMs },
  };
};

/**
 * Returns the identity provider whose token a request has.
 * @throws 401 for every other token; 403 if the identity provider is disabled
 */
export const authenticateScim = async (
  { scimTokens, identityProviders }: ScimAuthenticationDependencies,
  event: ApiEvent,
): Promise<ScimConnection> => {
  const [, text = ''] = /^Bearer +(\S+)\s*$/i.exec(headerOf(event, 'authorization') ?? '') ?? [];
  const presented = parseScimToken(text);
  const found = presented && (await scimTokens.find(presented));
  const provider = found && (await identityProviders.find(found.organization, found.token.identity_provider));
  if (!found || !provider) throw new WrongScimToken();
  const actor = actorOf(provider, event);
  event.sender = { user: provider.id, org_id: provider.organization };
  if (provider.status !== 'active')
    throw new Forbidden({
      code: 'identity_provider_disabled',
      message: 'This identity provider is disabled. Ask an owner of the organization to enable it.',
    });
  const { nowMs, ipAddress } = actor.origin;
  await scimTokens.noteUse(found.token, unixSeconds(nowMs), ipAddress ?? '').catch((error: unknown) => {
    logError('scim_token_use_not_recorded', error, { identity_provider: provider.id });
  });
  return { provider, actor, baseUrl: baseUrlOf(event) };
};
