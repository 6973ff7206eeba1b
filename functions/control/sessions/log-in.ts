import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import { type Caller, originOf } from '../../../shared/identity/request-origin.ts';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import { type StoredUser, toWire } from '../../../shared/identity/user-store.ts';
import type { Attempt, AttemptStore } from '../identity/attempt-store.ts';
import type { SessionEndDependencies } from '../users/end-sessions.ts';
import { LoginRefused, RefreshRefused } from './errors.ts';
import { recordRefusal } from './record-refusal.ts';
import type { ChallengeAnswer, Refreshed, SessionOrChallenge } from './session.ts';

export interface SessionDependencies extends AuditDependencies, SessionEndDependencies {
  attempts: AttemptStore;
}

/** Every failed login is answered this long after it arrived, so that the response time doesn't reveal what was wrong. */
const FAILED_LOGIN_MS = 800;
/** The same for password resets, which may send an e-mail. */
const RESET_MS = 2_000;

/** Records a change that was made at the identity provider. A crash in between leaves it unrecorded. */
export const recordAction = (
  deps: AuditDependencies,
  origin: Origin,
  { id, organization }: Pick<StoredUser, 'id' | 'organization'>,
  action: string,
): Promise<void> => commit(deps, origin, { action, organization, target: { type: 'user', id } }, []);

export const userOf = async ({ users }: SessionDependencies, email: string): Promise<StoredUser | undefined> => {
  const id = await users.idOfEmail(email);
  return id === undefined ? undefined : users.get(id);
};

/** Waits for the fixed response time of a password reset. */
export const waitForResetTime = (deps: Pick<SessionDependencies, 'wait' | 'now'>, { receivedAtMs }: Caller): Promise<unknown> =>
  deps.wait(Math.max(0, receivedAtMs + RESET_MS - deps.now()));

const rejectLogin = async (deps: SessionDependencies, caller: Caller, user: StoredUser | undefined): Promise<never> => {
  if (user) await recordRefusal(deps, caller, user);
  await deps.wait(Math.max(0, caller.receivedAtMs + FAILED_LOGIN_MS - deps.now()));
  throw new LoginRefused();
};

/** Runs one step of a login. It succeeds only for users who are active in our own table too. */
const step = async (
  deps: SessionDependencies,
  caller: Caller,
  { kind, email }: { kind: Attempt['kind']; email: string },
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
  await deps.users.noteLogin(user.id, seconds);
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
  deps: SessionDependencies,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<SessionOrChallenge> => step(deps, caller, { kind: 'login', email }, () => deps.userPool.signIn({ email, password, caller }));

/** Answers a login challenge: returns a session or the next challenge. @throws 400 for a weak password, 401, 429 */
export const answerChallenge = (
  deps: SessionDependencies,
  caller: Caller,
  { email, session, new_password, code }: ChallengeAnswer,
): Promise<SessionOrChallenge> =>
  step(deps, caller, { kind: 'challenge', email }, () =>
    deps.userPool.answerChallenge({
      email,
      session,
      caller,
      ...(new_password === undefined ? { challenge: 'totp', answer: code ?? '' } : { challenge: 'new_password', answer: new_password }),
    }),
  );

/** Returns a new access token. @throws 401, 429 */
export const refreshSession = async (deps: SessionDependencies, caller: Caller, refreshToken: string): Promise<Refreshed> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const tokens = await deps.userPool.refresh({ refreshToken, caller });
  if (!tokens) throw new RefreshRefused();
  return { object: 'session', access_token: tokens.accessToken, token_type: 'Bearer', expires_in: tokens.expiresInSeconds };
};

/** Revokes a refresh token; does nothing if it is invalid. @throws 429 */
export const endSession = async (
  { attempts, userPool }: SessionDependencies,
  { ipAddress, receivedAtMs }: Caller,
  refreshToken: string,
): Promise<void> => {
  await attempts.count({ kind: 'refresh', ipAddress }, receivedAtMs);
  await userPool.revoke(refreshToken);
};
