import type { IdentityClaims } from '../../shared/federation/claim-fault.ts';
import { IssuerUnavailable, TokenRejected } from '../../shared/federation/errors.ts';
import type { Federation } from '../../shared/federation/federation.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { ApiError } from '../../shared/http/errors.ts';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { type Caller, callerOf } from '../../shared/identity/request-origin.ts';
import { hashOf } from '../../shared/quotas/row-id.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import type { SentSsoLogin, SsoLogin } from '../../shared/single-sign-on/sso-logins.ts';
import { HOUR_MS } from '../../shared/time/units.ts';
import type { AuthorizeDependencies } from './authorize.ts';
import { type CallbackParameters, isFromIssuer, readCallback } from './callback-parameters.ts';
import { usedSecondFactor } from './claims/identity-of-claims.ts';
import type { ShownIdentity } from './claims/shown-identity.ts';
import { exchangeCode } from './exchange-code.ts';
import { loginCookieOf } from './login-cookie.ts';
import { LoginFailed } from './login-fault.ts';
import { secretsOf } from './pkce.ts';
import { type Resolved, resolveUser } from './resolve-user.ts';
import { type SignInAsDependencies, signInAs } from './sign-in-as.ts';

export interface FinishDependencies extends AuthorizeDependencies, SignInAsDependencies {
  request: Federation['request'];
  verifyIdentityToken: Federation['verifyIdentityToken'];
  /** undefined: a public client. */
  clientSecretOf: (provider: IdentityProvider) => Promise<string | undefined>;
  /** Called before each fetch of an issuer's documents. */
  countFetch: (provider: IdentityProvider) => Promise<void>;
  /** Runs calls of a connection's identity provider, if its organization has room for them. @throws LoginFailed */
  withRoom: <Result>(caller: ProviderCaller, nowMs: number, run: () => Promise<Result>) => Promise<Result>;
}

/** A connection, its organization, and the address whose login calls its identity provider. */
export interface ProviderCaller {
  organization: string;
  provider: string;
  ipAddress: string;
}

/** A login that its identity provider has answered. */
export interface Answered {
  login: SsoLogin;
  provider: IdentityProvider;
  claims: IdentityClaims;
}

type FailedLogin = Pick<ConnectionLoginFailed, 'login' | 'provider' | 'identity'>;

/** Thrown if a login failed of which the connection is known. */
export class ConnectionLoginFailed extends LoginFailed {
  readonly login: SsoLogin;
  readonly provider: Pick<IdentityProvider, 'id' | 'organization'>;
  /** null: no ID token was verified. */
  readonly identity: ShownIdentity | null;

  constructor({ fault, detail }: LoginFailed, { login, provider, identity }: FailedLogin) {
    super(fault, detail);
    this.login = login;
    this.provider = provider;
    this.identity = identity;
  }
}

const toFailure = (error: unknown): unknown => {
  if (error instanceof TokenRejected) return new LoginFailed('token_rejected', error.fault);
  if (error instanceof IssuerUnavailable) return new LoginFailed('provider_unreachable', error.fault);
  return error;
};

const verify = async (
  deps: FinishDependencies,
  provider: IdentityProvider,
  { issuer: named, answer }: CallbackParameters,
  { codeVerifier, nonce }: ReturnType<typeof secretsOf>,
): Promise<IdentityClaims> => {
  const metadata = await deps.discover(provider);
  const { issuer, authorization_response_iss_parameter_supported: namesItself = false } = metadata;
  if (!isFromIssuer(named, { issuer, namesItself })) throw new LoginFailed('issuer_mismatch');
  if ('error' in answer) throw new LoginFailed('provider_refused', answer.error);
  const clientSecret = await deps.clientSecretOf(provider);
  const redirectUri = deps.controlUrl + SSO_PATHS.callback;
  const token = await exchangeCode(deps.request, { provider, clientSecret, metadata, code: answer.code, codeVerifier, redirectUri });
  const beforeFetch = (): Promise<void> => deps.countFetch(provider);
  const expected = { issuer, audience: provider.client_id, isIdToken: true, nonce, beforeFetch };
  return deps.verifyIdentityToken(token, expected);
};

const answerOf = async (
  deps: FinishDependencies,
  { sent, answer, cookie }: { sent: SentSsoLogin; answer: CallbackParameters; cookie: string },
  { ipAddress, receivedAtMs: nowMs }: Caller,
): Promise<Answered> => {
  const provider = await deps.providers.find(sent.organization, sent.provider);
  if (!provider) throw new LoginFailed('no_provider');
  if (sent.login.kind === 'login' && provider.status !== 'active') throw new LoginFailed('provider_disabled');
  return deps.withRoom({ organization: provider.organization, provider: provider.id, ipAddress }, nowMs, async () => {
    // From here on, the answer counts once.
    const taken = await deps.logins.takeSent(answer.state, hashOf(cookie), nowMs);
    if (!taken) throw new LoginFailed('login_expired');
    return { login: taken.login, provider, claims: await verify(deps, provider, answer, secretsOf(answer.state, cookie)) };
  });
};

/**
 * Reads the answer of an identity provider to a login of this browser. @throws ConnectionLoginFailed, LoginFailed, 429
 */
export const readAnswer = async (deps: FinishDependencies, event: ApiEvent): Promise<Answered> => {
  const caller = callerOf(event);
  const { receivedAtMs } = caller;
  await deps.attempts.count({ kind: 'sso', ipAddress: caller.ipAddress }, receivedAtMs);
  const answer = readCallback(event);
  if ('fault' in answer) throw new LoginFailed(answer.fault);
  const sent = await deps.logins.findSent(answer.state, receivedAtMs);
  if (!sent) throw new LoginFailed('login_expired');
  const cookie = loginCookieOf(event, deps.controlUrl);
  if (cookie === undefined || hashOf(cookie) !== sent.browser) throw new LoginFailed('other_browser');
  try {
    return await answerOf(deps, { sent, answer, cookie }, caller);
  } catch (error) {
    const failure = toFailure(error);
    const provider = { id: sent.provider, organization: sent.organization };
    throw failure instanceof LoginFailed ? new ConnectionLoginFailed(failure, { login: sent.login, provider, identity: null }) : failure;
  }
};

interface FinishedLogin {
  /** With it, whoever began the login gets a session. */
  code: string;
  user: string;
  resolved: Resolved;
}

// Two logins of the same person can be first at the same time.
const MAX_TRIES = 3;

const CHANGED = new Set([409, 412]);

const refusedBy = (error: ApiError): LoginFailed =>
  error.code === 'too_many_users' ? new LoginFailed('organization_refused', error.code) : new LoginFailed('changed_meanwhile', error.code);

const signIn = async (deps: FinishDependencies, caller: Caller, { provider, claims }: Answered): Promise<Omit<FinishedLogin, 'code'>> => {
  for (let tries = 1; ; tries++) {
    const resolved: Resolved = await resolveUser(deps, provider, claims);
    try {
      return { user: await signInAs(deps, caller, provider, resolved), resolved };
    } catch (error) {
      if (!(error instanceof ApiError) || !CHANGED.has(error.status)) throw error;
      if (error.code === 'too_many_users' || tries === MAX_TRIES) throw refusedBy(error);
    }
  }
};

/** Finishes a login: makes its changes, and stores it under a code. @throws LoginFailed */
export const finishLogin = async (
  deps: FinishDependencies,
  caller: Caller,
  answered: Answered,
  { codeChallenge, returnTo }: Extract<SsoLogin, { kind: 'login' }>,
): Promise<FinishedLogin> => {
  const { provider, claims } = answered;
  const { user, resolved } = await signIn(deps, caller, answered);
  await deps.attempts.know({ kind: 'sso', ipAddress: caller.ipAddress, account: provider.id }, caller.receivedAtMs);
  const finished = {
    user,
    organization: provider.organization,
    provider: provider.id,
    hasSecondFactor: usedSecondFactor(provider, claims),
    endsAtMs: caller.receivedAtMs + provider.session_hours * HOUR_MS,
    returnTo,
  };
  return { code: await deps.logins.finish(finished, codeChallenge, caller.receivedAtMs), user, resolved };
};
