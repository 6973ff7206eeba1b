import { commit } from '../../../shared/audit/commit.ts';
import { Forbidden } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import { type Actor, requireRole } from '../access/actor.ts';
import type { UserDependencies } from './create-user.ts';
import { visibleUser } from './update-user.ts';

export interface SessionEndDependencies extends Pick<UserDependencies, 'users' | 'userPool'> {
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
}

/** Ends every session of a user: refresh tokens and access tokens issued earlier are rejected. */
export const endAllSessions = async (deps: SessionEndDependencies, { id, subject }: Pick<StoredUser, 'id' | 'subject'>): Promise<void> => {
  // Revoke refresh tokens first, so that no new access token is issued. Tokens carry only the second of issue, so wait for the next one.
  await deps.userPool.signOutEverywhere(subject);
  const seconds = Math.ceil(deps.now() / 1_000);
  await deps.users.endSessions(id, seconds);
  await deps.wait(Math.max(0, seconds * 1_000 - deps.now()));
};

/** Switches off the second factor of a user who has lost it, and ends their sessions. @throws 403, 404 */
export const resetTotp = async (deps: UserDependencies & SessionEndDependencies, actor: Actor, id: string): Promise<void> => {
  requireRole(actor, 'owner');
  if (id === actor.userId)
    throw new Forbidden({
      code: 'own_rights',
      message: `You can't reset your own second factor here. Send your password and a code to POST ${AUTH_PATHS.disableTotp} instead.`,
    });
  const user = await visibleUser(deps, actor, id);
  await deps.userPool.stopTotp(user.subject);
  await endAllSessions(deps, user);
  await commit(deps, actor.origin, { action: 'user.totp_reset', organization: user.organization, target: { type: 'user', id } }, []);
};
