import type * as z from 'zod';
import { countLogin } from '../../shared/identity/count-login.ts';
import { type LoginAttempt, REFUSED_MS } from '../../shared/identity/login-attempts.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import type { LoginChallenge, PageSession, SessionOrChallenge } from '../../shared/identity/session.ts';
import { type StoredSession, sessionOf } from '../../shared/identity/session-store.ts';
import { recordAction, type SessionDependencies } from '../../shared/identity/sessions.ts';
import type { Access, SignIn } from '../../shared/identity/sign-in.ts';
import type { User } from '../../shared/identity/user.ts';
import { type StoredUser, toWire } from '../../shared/identity/user-store.ts';
import type { FinishedSsoLogin, SsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { ssoSessionOf } from '../../shared/single-sign-on/sso-session.ts';
import { unixSeconds } from '../../shared/time/units.ts';
import { type AcceptsLoginDependencies, acceptsLogin } from './accepts-login.ts';
import { LoginRefused } from './errors.ts';
import { type RefusalDependencies, recordRefusal } from './record-refusal.ts';
import type { ChallengeAnswer } from './session.ts';

export interface LoginDependencies extends SessionDependencies, RefusalDependencies, AcceptsLoginDependencies {
  ssoLogins: Pick<SsoLogins, 'findChallenge'>;
}

/** Returns the user with this address, which must be in lower case. */
export const userOf = async ({ users }: Pick<SessionDependencies, 'users'>, email: string): Promise<StoredUser | undefined> => {
  const id = await users.idOfEmail(email);
  return id === undefined ? undefined : users.get(id);
};

/** Waits for the fixed response time of a refusal, so that it doesn't reveal the cause. */
export const waitForRefusalTime = (deps: Pick<SessionDependencies, 'wait' | 'now'>, { receivedAtMs }: Caller): Promise<unknown> =>
  deps.wait(Math.max(0, receivedAtMs + REFUSED_MS - deps.now()));

const rejectLogin = async (deps: LoginDependencies, caller: Caller, user: StoredUser | undefined): Promise<never> => {
  if (user) await recordRefusal(deps, caller, user);
  await waitForRefusalTime(deps, caller);
  throw new LoginRefused();
};

interface Step {
  kind: LoginAttempt['kind'];
  email: string;
  hasCode: boolean;
  /** The session of the challenge that is answered. Absent: a password. */
  session?: string;
  client: StoredSession['client'];
  /** The longest time that the session lasts, and that it lasts without a refresh. Absent: as long as the tokens. */
  lifetime?: { seconds: number; idleSeconds: number | null };
}

type LoggedIn = Extract<SignIn, { tokens: unknown }> & { user: User };

const ssoLoginOf = ({ ssoLogins }: LoginDependencies, { receivedAtMs }: Caller, { session }: Step) =>
  session === undefined ? undefined : ssoLogins.findChallenge(session, receivedAtMs);

const sessionRowOf = (
  access: Access,
  caller: Caller,
  { hasCode, client, lifetime }: Step,
  ssoLogin: FinishedSsoLogin | undefined,
): StoredSession | undefined => {
  const { sessionId, authenticatedAt } = access;
  if (ssoLogin) return ssoSessionOf(access, caller, ssoLogin, { client, hasCode, lifetime });
  if (sessionId === undefined) return undefined;
  return sessionOf(sessionId, caller, { client, proof: 'password', hasSecondFactor: hasCode, authenticatedAt, ...lifetime });
};

// A login succeeds only for users who are active in our own table too.
const step = async (
  deps: LoginDependencies,
  caller: Caller,
  given: Step,
  callProvider: () => Promise<SignIn | undefined>,
): Promise<LoggedIn | z.infer<typeof LoginChallenge>> => {
  const { kind, email, hasCode } = given;
  const attempt = { kind, ipAddress: caller.ipAddress, account: email };
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const [user, answer, ssoLogin] = await Promise.all([userOf(deps, email), callProvider(), ssoLoginOf(deps, caller, given)]);
  // The address may belong to another user at the identity provider by now.
  const isTheirs = answer && ('challenge' in answer || answer.tokens.subject === user?.subject);
  if (user?.status !== 'active' || !isTheirs) return rejectLogin(deps, caller, user);
  if (!(await acceptsLogin(deps, user, { answer, hasCode, ssoLogin }))) return rejectLogin(deps, caller, user);
  // Before the attempt is forgotten: one beyond the limit stays counted, as a wrong password does.
  await countLogin(deps, user, caller.receivedAtMs);
  await deps.attempts.forget(attempt, caller.receivedAtMs);
  if ('challenge' in answer) return { object: 'challenge', ...answer };
  const seconds = unixSeconds(caller.receivedAtMs);
  await deps.users.noteSecondFactor(user, hasCode);
  await deps.users.noteLogin(user.id, seconds);
  await deps.attempts.know(attempt, caller.receivedAtMs);
  // Before the tokens are handed out: a session without a row can't be listed.
  const session = sessionRowOf(answer.tokens, caller, given, ssoLogin);
  if (session) await deps.sessions.begin(user.id, session);
  await recordAction(deps, originOf(caller, user), user, 'session.created');
  return { tokens: answer.tokens, user: { ...toWire(user), last_login_at: seconds } };
};

/** The body of a session, without its refresh token. */
export const toSession = ({ tokens: { accessToken, expiresInSeconds }, user }: LoggedIn): PageSession => ({
  object: 'session',
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: expiresInSeconds,
  user,
});

/** The client of a login, and how long the session lasts. */
export type LoginClient = Pick<Step, 'client' | 'lifetime'>;

const API: LoginClient = { client: 'api' };

/** Checks a password: returns the tokens, or a challenge. @throws 401, 429 */
export const checkPassword = (
  deps: LoginDependencies,
  caller: Caller,
  { email, password }: { email: string; password: string },
  login: LoginClient,
) =>
  step(deps, caller, { kind: 'login', email, hasCode: false, ...login }, () =>
    deps.userPool.signIn({ email, password, client: login.client, caller }),
  );

/** Checks the answer to a challenge: returns the tokens, or the next challenge. @throws 400, 401, 429 */
export const checkAnswer = (
  deps: LoginDependencies,
  caller: Caller,
  { email, session, new_password, code }: ChallengeAnswer,
  login: LoginClient,
) =>
  step(deps, caller, { kind: 'challenge', email, session, hasCode: code !== undefined, ...login }, () =>
    deps.userPool.answerChallenge({
      email,
      session,
      client: login.client,
      caller,
      ...(new_password === undefined ? { challenge: 'totp', answer: code ?? '' } : { challenge: 'new_password', answer: new_password }),
    }),
  );

const toApiSession = (result: LoggedIn | z.infer<typeof LoginChallenge>): SessionOrChallenge =>
  'tokens' in result ? { ...toSession(result), refresh_token: result.tokens.refreshToken } : result;

/** Logs a user in, or returns a challenge. Every failure is the same 401 after the same time. @throws 401, 429 */
export const logIn = async (
  deps: LoginDependencies,
  caller: Caller,
  credentials: { email: string; password: string },
): Promise<SessionOrChallenge> => toApiSession(await checkPassword(deps, caller, credentials, API));

/** Answers a login challenge: returns a session or the next challenge. @throws 400 for a weak password, 401, 429 */
export const answerChallenge = async (deps: LoginDependencies, caller: Caller, answer: ChallengeAnswer): Promise<SessionOrChallenge> =>
  toApiSession(await checkAnswer(deps, caller, answer, API));
