import { isPlatformRole, type Permission, permissionsOfServiceAccount, type Role } from '../../../shared/hosts/permissions.ts';
import { Forbidden, InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { ServiceAccountStore, StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { type Actor, can, isOfPlatform } from '../access/actor.ts';

interface GivenRights {
  role: Role;
  permissions?: readonly Permission[] | null | undefined;
}

/**
 * Returns a service account that the actor can see: one of their organization, or for the platform's users any one.
 * @throws 404
 */
export const visibleServiceAccount = async (
  { serviceAccounts }: { serviceAccounts: ServiceAccountStore },
  actor: Actor,
  id: string,
): Promise<StoredServiceAccount> => {
  const account = await serviceAccounts.find(id);
  if (!account || (!isOfPlatform(actor) && account.organization !== actor.organization)) throw new ResourceNotFound('service account', id);
  return account;
};

/**
 * Rejects rights that the actor does not have: nobody gains rights through a service account.
 * @throws 403; 400 for a permission that the role doesn't have
 */
export const checkGivenRights = (actor: Actor, { role, permissions }: GivenRights): void => {
  if (isPlatformRole(role) && !isOfPlatform(actor))
    throw new Forbidden({
      param: 'role',
      message: `Only admins can create service accounts with the role '${role}'. Choose another role.`,
    });
  const given = permissionsOfServiceAccount(role, permissions ?? undefined);
  const unknown = permissions?.find((permission) => !given.has(permission));
  if (unknown !== undefined)
    throw new InvalidRequest({
      param: 'permissions',
      message: `A service account with the role '${role}' can't have the permission '${unknown}'. Remove it, or choose another role.`,
    });
  // Content belongs to organizations: admins create accounts of owners without the permissions of content.
  const lacking = [...given].find((permission) => !can(actor, permission));
  if (lacking !== undefined)
    throw new Forbidden({
      param: permissions ? 'permissions' : 'role',
      message: `You can't give the permission '${lacking}', because you don't have it. Choose permissions that you have in 'permissions'.`,
    });
};
