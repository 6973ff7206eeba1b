import { randomBytes } from 'node:crypto';
import type { IssuerMetadata } from '../../shared/federation/discovery.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { callerOf } from '../../shared/identity/request-origin.ts';
import { hashOf } from '../../shared/quotas/row-id.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import type { SsoLogin } from '../../shared/single-sign-on/sso-logins.ts';
import { authorizationUrl } from './authorization-url.ts';
import type { BeginDependencies } from './begin-login.ts';
import { loginCookieOf, newLoginCookie, toSetCookie } from './login-cookie.ts';
import { LoginFailed } from './login-fault.ts';
import { redirectReply } from './pages.ts';
import { secretsOf } from './pkce.ts';
import type { RecordEvent } from './record-event.ts';

export interface AuthorizeDependencies extends BeginDependencies {
  providers: Pick<IdentityProviderStore, 'find' | 'ofDomain'>;
  /** The metadata of a connection's issuer. @throws LoginFailed */
  discover: (provider: IdentityProvider) => Promise<IssuerMetadata>;
  recordEvent: RecordEvent;
}

const LOGIN = /^[\w-]{43}$/;
const STATE_BYTES = 32;

// The test of a connection runs also while it is switched off.
const providerOf = async ({ providers }: AuthorizeDependencies, login: SsoLogin): Promise<IdentityProvider> => {
  const provider =
    login.kind === 'test' ? await providers.find(login.organization, login.provider) : await providers.ofDomain(login.domain);
  if (!provider) throw new LoginFailed('no_provider');
  return provider;
};

// A provider can change its document after the connection was created.
const canBeOpened = (endpoint: string, { issuer }: IdentityProvider): boolean => {
  const protocol = URL.parse(endpoint)?.protocol;
  return protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'));
};

const endpointOf = async ({ discover }: AuthorizeDependencies, provider: IdentityProvider, { kind }: SsoLogin): Promise<string> => {
  if (kind === 'login' && provider.status !== 'active') throw new LoginFailed('provider_disabled');
  const { authorization_endpoint: endpoint } = await discover(provider);
  if (endpoint === undefined) throw new LoginFailed('provider_unreachable', 'authorization_endpoint_missing');
  if (!canBeOpened(endpoint, provider)) throw new LoginFailed('provider_unreachable', 'authorization_endpoint_unusable');
  return endpoint;
};

const recordFailure = async (
  { recordEvent }: AuthorizeDependencies,
  event: ApiEvent,
  provider: IdentityProvider,
  error: unknown,
): Promise<never> => {
  if (error instanceof LoginFailed) await recordEvent(event, provider, { outcome: 'refused', reason: error.reason, identity: null });
  throw error;
};

/** Sends a browser to the identity provider of a login that was begun. @throws LoginFailed, 429 */
export const authorize = async (deps: AuthorizeDependencies, event: ApiEvent): Promise<Reply> => {
  const { ipAddress, receivedAtMs } = callerOf(event);
  await deps.attempts.count({ kind: 'sso', ipAddress }, receivedAtMs);
  const id = event.queryStringParameters?.login ?? '';
  const login = LOGIN.test(id) ? await deps.logins.find(id, receivedAtMs) : undefined;
  if (!login) throw new LoginFailed('login_expired');
  const provider = await providerOf(deps, login);
  const endpoint = await endpointOf(deps, provider, login).catch((error: unknown) => recordFailure(deps, event, provider, error));
  // A browser with two logins at the same time keeps its cookie.
  const cookie = loginCookieOf(event, deps.controlUrl) ?? newLoginCookie();
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const sent = { login, organization: provider.organization, provider: provider.id, browser: hashOf(cookie) };
  await deps.logins.send(state, sent, receivedAtMs);
  const location = authorizationUrl({
    endpoint,
    clientId: provider.client_id,
    redirectUri: deps.controlUrl + SSO_PATHS.callback,
    scopes: provider.scopes,
    requiredAcr: provider.required_acr,
    state,
    ...secretsOf(state, cookie),
  });
  return redirectReply(event.requestId, location, { 'set-cookie': toSetCookie(cookie, deps.controlUrl) });
};
