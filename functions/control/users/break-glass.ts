import { Conflict } from '../../../shared/http/errors.ts';
import type { User } from '../../../shared/identity/user.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';

/** Rejects a change of the owner who alone can use a password while a connection is enforced. @throws 409 */
export const requireNotBreakGlass = async (
  providers: Pick<IdentityProviderStore, 'passwordRule'>,
  { id, organization }: Pick<User, 'id' | 'organization'>,
): Promise<void> => {
  if (organization === null) return;
  const { breakGlass } = await providers.passwordRule(organization);
  if (breakGlass.includes(id))
    throw new Conflict({
      code: 'break_glass_owner',
      message:
        "This user is the break-glass owner of an enforced identity provider. Name another owner in its 'break_glass', or stop enforcing it, first.",
    });
};
