import type { Write } from '../../../shared/database/transaction.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { ProtectedUser } from './protocol/errors.ts';

export interface ProtectionDependencies {
  users: Pick<UserStore, 'list' | 'toCheckOwner'>;
  identityProviders: Pick<IdentityProviderStore, 'list'>;
}

type Owner = Pick<StoredUser, 'id' | 'role' | 'status'> & { organization: string };

const ROWS_PER_PAGE = 100;
// An organization has at most 1,000 users.
const MAX_PAGES = 11;

const otherOwnerOf = async ({ users }: ProtectionDependencies, { organization, id }: Owner): Promise<string | undefined> => {
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { data, next } = await users.list(organization, { limit: ROWS_PER_PAGE, ...(after !== undefined && { after }) });
    const other = data.find((user) => user.id !== id && user.role === 'owner' && user.status === 'active');
    if (other) return other.id;
    if (next === null) return undefined;
    after = next;
  }
  return undefined;
};

/**
 * Plans that a user is no longer an active owner, which an organization and its single sign-on can need.
 * @returns the check, for the same transaction, that another owner stays: of two who are removed at once, one fails
 * @throws 409 for the last active owner, and for the owner who can log in without single sign-on
 */
export const planLossOfOwner = async (deps: ProtectionDependencies, user: Owner): Promise<Write[]> => {
  if (user.role !== 'owner' || user.status !== 'active') return [];
  const providers = await deps.identityProviders.list(user.organization);
  if (providers.some(({ break_glass }) => break_glass === user.id)) throw new ProtectedUser('break_glass');
  const other = await otherOwnerOf(deps, user);
  if (other === undefined) throw new ProtectedUser('last_owner');
  return [deps.users.toCheckOwner(other, () => new ProtectedUser('last_owner'))];
};
