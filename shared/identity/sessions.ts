import { type AuditDependencies, commit } from '../audit/commit.ts';
import type { Origin } from '../audit/origin.ts';
import type { LoginAttempts } from './login-attempts.ts';
import type { SessionStore } from './session-store.ts';
import type { UserPool } from './user-pool.ts';
import type { StoredUser, UserStore } from './user-store.ts';

export interface SessionEndDependencies {
  users: UserStore;
  userPool: UserPool;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
}

export interface SessionDependencies extends AuditDependencies, SessionEndDependencies {
  attempts: LoginAttempts;
  sessions: SessionStore;
}

/** Ends every session of a user: refresh tokens and access tokens issued earlier are rejected. */
export const endAllSessions = async (deps: SessionEndDependencies, { id, subject }: Pick<StoredUser, 'id' | 'subject'>): Promise<void> => {
  // Revoke refresh tokens first, so that no new access token is issued. Tokens carry only the second of issue, so
  // wait for the next one.
  await deps.userPool.signOutEverywhere(subject);
  const seconds = Math.ceil(deps.now() / 1_000);
  await deps.users.endSessions(id, seconds);
  await deps.wait(Math.max(0, seconds * 1_000 - deps.now()));
};

/** Records a change that was made at the identity provider. A crash in between leaves it unrecorded. */
export const recordAction = (
  deps: AuditDependencies,
  origin: Origin,
  { id, organization }: Pick<StoredUser, 'id' | 'organization'>,
  action: string,
): Promise<void> => commit(deps, origin, { action, organization, target: { type: 'user', id } }, []);
