import { type LoginAttempt, REFUSED_MS } from '../../shared/identity/login-attempts.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import { recordAction, type SessionDependencies } from '../../shared/identity/sessions.ts';
import type { SignIn } from '../../shared/identity/sign-in.ts';
import { type StoredUser, toWire } from '../../shared/identity/user-store.ts';
import { LoginRefused } from './errors.ts';
import { type RefusalDependencies, recordRefusal } from './record-refusal.ts';
import type { ChallengeAnswer, SessionOrChallenge } from './session.ts';

export interface LoginDependencies extends SessionDependencies, RefusalDependencies {}

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

// A login succeeds only for users who are active in our own table too.
const step = async (
  deps: LoginDependencies,
  caller: Caller,
  { kind, email, hasCode = false }: { kind: LoginAttempt['kind']; email: string; hasCode?: boolean },
  callProvider: () => Promise<SignIn | undefined>,
): Promise<SessionOrChallenge> => {
  const attempt = { kind, ipAddress: caller.ipAddress, account: email };
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const [user, answer] = await Promise.all([userOf(deps, email), callProvider()]);
  // The address may belong to another user at the identity provider by now.
  const isTheirs = answer && ('challenge' in answer || answer.tokens.subject === user?.subject);
  if (user?.status !== 'active' || !isTheirs) return rejectLogin(deps, caller, user);
  await deps.attempts.forget(attempt, caller.receivedAtMs);
  if ('challenge' in answer) return { object: 'challenge', ...answer };
  const seconds = Math.floor(caller.receivedAtMs / 1_000);
  await deps.users.noteSecondFactor(user, hasCode);
  await deps.users.noteLogin(user.id, seconds);
  await deps.attempts.know(attempt, caller.receivedAtMs);
  await recordAction(deps, originOf(caller, user), user, 'session.created');
  const { accessToken, refreshToken, expiresInSeconds } = answer.tokens;
  return {
    object: 'session',
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    user: { ...toWire(user), last_login_at: seconds },
  };
};

/** Logs a user in, or returns a challenge. Every failure is the same 401 after the same time. @throws 401, 429 */
export const logIn = (
  deps: LoginDependencies,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<SessionOrChallenge> => step(deps, caller, { kind: 'login', email }, () => deps.userPool.signIn({ email, password, caller }));

/** Answers a login challenge: returns a session or the next challenge. @throws 400 for a weak password, 401, 429 */
export const answerChallenge = (
  deps: LoginDependencies,
  caller: Caller,
  { email, session, new_password, code }: ChallengeAnswer,
): Promise<SessionOrChallenge> =>
  step(deps, caller, { kind: 'challenge', email, hasCode: code !== undefined }, () =>
    deps.userPool.answerChallenge({
      email,
      session,
      caller,
      ...(new_password === undefined ? { challenge: 'totp', answer: code ?? '' } : { challenge: 'new_password', answer: new_password }),
    }),
  );
