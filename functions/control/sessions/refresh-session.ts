import type { Caller } from '../../../shared/identity/request-origin.ts';
import { isAccepted, isOfLogin, REFRESH_SECONDS, type StoredSession, useOf } from '../../../shared/identity/session-store.ts';
import type { SessionDependencies } from '../../../shared/identity/sessions.ts';
import type { Access } from '../../../shared/identity/sign-in.ts';
import { userIdOf } from '../../../shared/identity/user.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { RefreshRefused } from './errors.ts';
import type { Refreshed } from './session.ts';

export interface RefreshDependencies extends SessionDependencies {
  /** The issuer of the users' access tokens. */
  issuer: string;
}

/** Returns the row of a login through another release. */
export const foreignSession = (id: string, authenticatedAt: number, lastUse: StoredSession['last_use']): StoredSession => ({
  id,
  created_at: authenticatedAt,
  last_use: lastUse,
  client: 'api',
  proof: 'unknown',
  second_factor: false,
  proved_at: authenticatedAt,
  ends_at: authenticatedAt + REFRESH_SECONDS,
  idle_seconds: null,
});

/**
 * Records that a session was refreshed. A session that another release began gets its row.
 * @param browser the session's id before the refresh token was replaced
 * @returns its row; undefined if the session has ended
 */
export const useSession = async (
  { users, sessions, issuer }: RefreshDependencies,
  caller: Caller,
  { subject, sessionId, authenticatedAt }: Access,
  browser?: { previousId: string },
): Promise<StoredSession | undefined> => {
  const userId = userIdOf(issuer, subject);
  const now = unixSeconds(caller.receivedAtMs);
  const client = browser ? 'browser' : 'api';
  if (browser && sessionId !== undefined) await sessions.rename(userId, { from: browser.previousId, to: sessionId, authenticatedAt }, now);
  const { user, ...rows } = await users.getSignedIn(userId, sessionId);
  if (user?.status !== 'active' || !isAccepted({ client, authenticatedAt }, rows, now)) return undefined;
  const session = rows.session ?? foreignSession(sessionId ?? '', authenticatedAt, useOf(caller, now));
  if (sessionId === undefined) return session;
  if (!rows.session) return (await sessions.adopt(userId, session)) ? session : undefined;
  await sessions.use(userId, sessionId, useOf(caller, now));
  return session;
};

/** Returns a new access token. @throws 401, 429 */
export const refreshSession = async (deps: RefreshDependencies, caller: Caller, refreshToken: string): Promise<Refreshed> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const tokens = await deps.userPool.refresh({ refreshToken, caller });
  if (!tokens) throw new RefreshRefused();
  if (!(await useSession(deps, caller, tokens))) {
    await deps.userPool.revoke(refreshToken);
    throw new RefreshRefused();
  }
  return { object: 'session', access_token: tokens.accessToken, token_type: 'Bearer', expires_in: tokens.expiresInSeconds };
};

// In the table, so that the session's access tokens are rejected.
const markEnded = async (
  { users, sessions, issuer }: RefreshDependencies,
  caller: Caller,
  { subject, sessionId, authenticatedAt }: Access,
): Promise<void> => {
  if (sessionId === undefined) return;
  const userId = userIdOf(issuer, subject);
  const now = unixSeconds(caller.receivedAtMs);
  const { session } = await users.getSignedIn(userId, sessionId);
  if (session) await sessions.end(userId, sessionId, now);
  else await sessions.adopt(userId, { ...foreignSession(sessionId, authenticatedAt, useOf(caller, now)), ended_at: now });
};

/** Ends the session of a refresh token, and its access tokens; does nothing if it is invalid. @throws 429 */
export const endSession = async (deps: RefreshDependencies, caller: Caller, refreshToken: string): Promise<void> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  // The token itself can't be read: the user pool says whose it is.
  const tokens = await deps.userPool.refresh({ refreshToken, caller });
  if (tokens) await markEnded(deps, caller, tokens);
  await deps.userPool.revoke(refreshToken);
};

/**
 * Ends the session of a cookie and of the tokens that its refresh token has got. The holder of a cookie can write
 * another id there, so that one ends only if it is of the same login.
 */
export const endPresented = async (deps: RefreshDependencies, caller: Caller, presentedId: string, access: Access): Promise<void> => {
  const userId = userIdOf(deps.issuer, access.subject);
  const now = unixSeconds(caller.receivedAtMs);
  const presented = await deps.sessions.get(userId, presentedId, now);
  if (presented && isOfLogin(presented, access.authenticatedAt)) await deps.sessions.end(userId, presentedId, now);
  await markEnded(deps, caller, access);
};
