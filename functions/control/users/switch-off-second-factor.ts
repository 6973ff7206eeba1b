import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import type { Actor } from '../access/actor.ts';
import { requireNotBreakGlass } from './break-glass.ts';

interface SecondFactorDependencies extends AuditDependencies {
  users: Pick<UserStore, 'noteSecondFactor' | 'toCheckActor'>;
  identityProviders: Pick<IdentityProviderStore, 'passwordRule'>;
  userPool: Pick<UserPool, 'stopTotp'>;
}

/**
 * Switches off the second factor of a user.
 * @param action the one of the audit entry
 * @throws 403 if the actor has lost their role; 409 for the break-glass owner, without whose factor nobody could log in
 * with a password
 */
export const switchOffSecondFactor = async (
  deps: SecondFactorDependencies,
  actor: Actor,
  user: StoredUser,
  action: 'user.totp_disabled' | 'user.totp_reset',
): Promise<void> => {
  const { users, identityProviders, userPool } = deps;
  const { id, organization, subject } = user;
  await requireNotBreakGlass(identityProviders, user);
  // From here on, no connection that names this owner can be enforced. One that was enforced just before is seen below.
  await users.noteSecondFactor(user, false);
  try {
    await requireNotBreakGlass(identityProviders, user);
    // The entry first: a crash must not leave a factor that is off without one.
    await commit(deps, actor.origin, { action, organization, target: { type: 'user', id } }, users.toCheckActor(actor));
    await userPool.stopTotp(subject);
  } catch (error) {
    await users.noteSecondFactor({ ...user, second_factor: 'off' }, user.second_factor === 'on');
    throw error;
  }
};
