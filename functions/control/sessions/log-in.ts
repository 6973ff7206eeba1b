import type { Origin } from '../audit/audit.ts';
import { type Books, commit } from '../audit/commit.ts';
import type { SignIn, UserPool } from '../identity/user-pool.ts';
import type { StoredUser, UserStore } from '../users/user-store.ts';
import { toWire } from '../users/user-store.ts';
import type { Attempt, AttemptStore } from './attempt-store.ts';
import { LoginRefused } from './errors.ts';
import type { ChallengeAnswer, SessionOrChallenge } from './session.ts';

export interface SessionDependencies extends Books {
  userPool: UserPool;
  users: UserStore;
  attempts: AttemptStore;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
}

/** Where a login comes from, for the identity provider's own protection and the audit log. */
export interface Caller {
  ipAddress: string;
  serverName: string;
  serverPath: string;
  userAgent?: string;
  requestId: string;
  receivedAtMs: number;
}

/** Every refused login is told this long after it came in: how long the work took tells nothing of what was wrong. */
const REFUSED_AFTER_MS = 800;
/** And whatever becomes of a forgotten password, which may have an e-mail sent, this long. */
const RESET_AFTER_MS = 2_000;

/** Of a request that a user makes without a token. */
export const originOf = ({ ipAddress, requestId, receivedAtMs }: Caller, user: StoredUser): Origin => ({
  actor: { type: 'user', id: user.id, email: user.email, organization: user.organization },
  requestId,
  ipAddress,
  nowMs: receivedAtMs,
});

/** Notes what was done to a user at the identity provider; a death in between leaves it unnoted. */
export const note = (
  books: Books,
  origin: Origin,
  { id, organization }: Pick<StoredUser, 'id' | 'organization'>,
  action: string,
): Promise<void> => commit(books, origin, { action, organization, target: { type: 'user', id } }, []);

export const userOf = async ({ users }: SessionDependencies, email: string): Promise<StoredUser | undefined> => {
  const id = await users.idOfEmail(email);
  return id === undefined ? undefined : users.get(id);
};

/** Waits until an answer that must not tell how long it took. */
export const untilReset = (deps: Pick<SessionDependencies, 'wait' | 'now'>, { receivedAtMs }: Caller): Promise<unknown> =>
  deps.wait(Math.max(0, receivedAtMs + RESET_AFTER_MS - deps.now()));

const refuse = async (deps: SessionDependencies, caller: Caller, user: StoredUser | undefined): Promise<never> => {
  if (user) await note(deps, originOf(caller, user), user, 'session.refused');
  await deps.wait(Math.max(0, caller.receivedAtMs + REFUSED_AFTER_MS - deps.now()));
  throw new LoginRefused();
};

/** One step of a login: what the identity provider says counts only for a user who is active here. */
const step = async (
  deps: SessionDependencies,
  caller: Caller,
  { kind, email }: { kind: Attempt['kind']; email: string },
  ask: () => Promise<SignIn | undefined>,
): Promise<SessionOrChallenge> => {
  const attempt = { kind, ipAddress: caller.ipAddress, account: email };
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const [user, answer] = await Promise.all([userOf(deps, email), ask()]);
  // The identity provider may know someone else by this address by now.
  const isTheirs = answer && ('challenge' in answer || answer.tokens.subject === user?.subject);
  if (user?.status !== 'active' || !isTheirs) return refuse(deps, caller, user);
  await deps.attempts.forget(attempt, caller.receivedAtMs);
  if ('challenge' in answer) return { object: 'challenge', ...answer };
  const seconds = Math.floor(caller.receivedAtMs / 1_000);
  await deps.users.noteLogin(user.id, seconds);
  await note(deps, originOf(caller, user), user, 'session.created');
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

/** Logs a user in, or says which step comes next. Whatever is wrong is one 401, in one time. @throws 401, 429 */
export const logIn = (
  deps: SessionDependencies,
  caller: Caller,
  { email, password }: { email: string; password: string },
): Promise<SessionOrChallenge> => step(deps, caller, { kind: 'login', email }, () => deps.userPool.signIn({ email, password, caller }));

/** Goes on with a login. @throws 400 for a weak password, 401, 429 */
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
