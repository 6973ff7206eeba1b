import type { User } from '../identity/user.ts';
import type { IdentityProviderStore } from './identity-provider-store.ts';

/** How far a user can use a password. The break-glass owner of an enforced connection needs a second factor, too. */
export type PasswordUse = 'allowed' | 'with_second_factor' | 'refused';

/** Reads how far a user can use their password. */
export const passwordUseOf = async (
  providers: Pick<IdentityProviderStore, 'passwordRule'>,
  { id, organization }: Pick<User, 'id' | 'organization'>,
): Promise<PasswordUse> => {
  if (organization === null) return 'allowed';
  const { isClosed, breakGlass } = await providers.passwordRule(organization);
  if (!isClosed) return 'allowed';
  return breakGlass.includes(id) ? 'with_second_factor' : 'refused';
};
