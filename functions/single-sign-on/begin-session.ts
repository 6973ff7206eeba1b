import * as z from 'zod';
import { ApiError } from '../../shared/http/errors.ts';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { countLogin, type LoginCounts } from '../../shared/identity/count-login.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import type { LoginChallenge, PageSession } from '../../shared/identity/session.ts';
import { recordAction, type SessionDependencies } from '../../shared/identity/sessions.ts';
import type { SignInTickets } from '../../shared/identity/sign-in-tickets.ts';
import { type StoredUser, toWire } from '../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import type { FinishedSsoLogin, SsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { type SsoClient, ssoSessionOf } from '../../shared/single-sign-on/sso-session.ts';
import { unixSeconds } from '../../shared/time/units.ts';
import { challengeOf } from './pkce.ts';

// RFC 7636, section 4.1.
const CodeVerifier = z.string().regex(/^[\w.~-]{43,128}$/, 'expected 43 to 128 letters, digits and -._~');

export const SsoCode = z.strictObject({
  code: z.string().regex(/^[\w-]{43}$/, 'expected the code of the page or of the redirect'),
  code_verifier: CodeVerifier,
});
export type SsoCode = z.output<typeof SsoCode>;

export interface BeginSessionDependencies extends SessionDependencies, LoginCounts {
  logins: SsoLogins;
  tickets: SignInTickets;
  providers: Pick<IdentityProviderStore, 'find'>;
}

// For every code that is not accepted, and every user who cannot log in.
class SsoCodeRefused extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'sso_code_refused',
      message: `The code is unknown, used, older than a minute, or doesn't match this code_verifier. Start again with POST ${SSO_PATHS.begin}.`,
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}

interface Found {
  user: StoredUser;
  finished: FinishedSsoLogin;
}

const findLogin = async (deps: BeginSessionDependencies, caller: Caller, { code, code_verifier }: SsoCode): Promise<Found> => {
  const finished = await deps.logins.takeFinished(code, challengeOf(code_verifier), caller.receivedAtMs);
  if (!finished) throw new SsoCodeRefused();
  const [user, provider] = await Promise.all([
    deps.users.get(finished.user),
    deps.providers.find(finished.organization, finished.provider),
  ]);
  // Both can have been disabled within the minute.
  if (user?.status !== 'active' || user.organization !== finished.organization || provider?.status !== 'active') throw new SsoCodeRefused();
  return { user, finished };
};

/** A session, or the challenge of the user's authenticator app. */
export type BegunSession = {
  /** The page of the console at which the login began; null: it began elsewhere. */
  returnTo: string | null;
} & (
  | { challenge: z.infer<typeof LoginChallenge> }
  | { page: PageSession; tokens: { sessionId: string | undefined; refreshToken: string } /** Unix time in seconds. */; endsAt: number }
);

/**
 * Exchanges the code of a finished login for a session, once. A user with an authenticator app gets its challenge.
 * @throws 401, 429
 */
export const beginSession = async (
  deps: BeginSessionDependencies,
  caller: Caller,
  body: SsoCode,
  login: SsoClient,
): Promise<BegunSession> => {
  await deps.attempts.count({ kind: 'sso', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const { user, finished } = await findLogin(deps, caller, body);
  await countLogin(deps, user, caller.receivedAtMs);
  const ticket = await deps.tickets.issue(user.subject, caller.receivedAtMs);
  const answer = await deps.userPool.signInWithTicket({ subject: user.subject, ticket, client: login.client, caller });
  if (!answer) throw new SsoCodeRefused();
  const { returnTo } = finished;
  if ('challenge' in answer) {
    await deps.logins.keepChallenge(answer.session, finished, caller.receivedAtMs);
    return { returnTo, challenge: { object: 'challenge', ...answer } };
  }
  const seconds = unixSeconds(caller.receivedAtMs);
  const session = ssoSessionOf(answer.tokens, caller, finished, { ...login, hasCode: false });
  await deps.sessions.begin(user.id, session);
  await deps.users.noteLogin(user.id, seconds);
  await recordAction(deps, originOf(caller, user), user, 'session.created');
  const { accessToken, expiresInSeconds } = answer.tokens;
  const page: PageSession = {
    object: 'session',
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    user: { ...toWire(user), last_login_at: seconds },
  };
  return { returnTo, page, tokens: answer.tokens, endsAt: session.ends_at };
};
