import type { UserPool } from '../../../shared/identity/user-pool.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { requireNotBreakGlass } from './break-glass.ts';

interface SecondFactorDependencies {
  users: Pick<UserStore, 'noteSecondFactor'>;
  identityProviders: Pick<IdentityProviderStore, 'passwordRule'>;
  userPool: Pick<UserPool, 'stopTotp'>;
}

/**
 * Switches off the second factor of a user. @throws 409 for the break-glass owner, without whose factor nobody could
 * log in with a password
 */
export const switchOffSecondFactor = async (
  { users, identityProviders, userPool }: SecondFactorDependencies,
  user: StoredUser,
): Promise<void> => {
  await requireNotBreakGlass(identityProviders, user);
  // From here on, no connection that names this owner can be enforced. One that was enforced just before is seen below.
  await users.noteSecondFactor(user, false);
  try {
    await requireNotBreakGlass(identityProviders, user);
    await userPool.stopTotp(user.subject);
  } catch (error) {
    await users.noteSecondFactor({ ...user, second_factor: 'off' }, user.second_factor === 'on');
    throw error;
  }
};
