import * as z from 'zod';
import { commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { isPlatformRole } from '../../../shared/hosts/permissions.ts';
import { Forbidden, ResourceNotFound } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { MaxApiKeys, type User, UserName } from '../../../shared/identity/user.ts';
import { type StoredUser, toWire } from '../../../shared/identity/user-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, isOfPlatform, requirePermission, requireRightsOver, seesOnlyOwn, UserRole } from '../access/actor.ts';
import { requireNotBreakGlass } from './break-glass.ts';
import type { UserDependencies } from './create-user.ts';

export const UserUpdate = z.strictObject({
  name: UserName.nullable().optional(),
  role: UserRole.optional(),
  status: z.enum(['active', 'disabled']).optional().meta({ description: "`disabled` takes effect at the user's next request." }),
  max_api_keys: MaxApiKeys.optional(),
});
export type UserUpdate = z.output<typeof UserUpdate>;

/**
 * Returns a user whom the actor can see: themselves; with the reach of an
 * organization, its users; with that of the platform, everyone.
 * @throws 404
 */
export const visibleUser = async ({ users }: Pick<UserDependencies, 'users'>, actor: Actor, id: string): Promise<StoredUser> => {
  const user = await users.get(id);
  const isVisible =
    user &&
    user.kind === undefined &&
    (user.id === actor.userId || isOfPlatform(actor) || (!seesOnlyOwn(actor) && user.organization === actor.organization));
  if (!isVisible) throw new ResourceNotFound('user', id);
  return user;
};

// Users cannot change their own role, status or quota, so that they cannot lock themselves out.
const checkRights = (actor: Actor, user: StoredUser, { role, status, max_api_keys }: UserUpdate): void => {
  const changesRole = role !== undefined && role !== user.role;
  const changesStatus = status !== undefined && status !== user.status;
  const changesQuota = max_api_keys !== undefined && max_api_keys !== user.max_api_keys;
  if (!changesRole && !changesStatus && !changesQuota) return;
  requirePermission(actor, 'users:write');
  for (const each of [user.role, role ?? user.role]) requireRightsOver(actor, each);
  if (user.id === actor.userId)
    throw new Forbidden({
      code: 'own_rights',
      param: changesRole ? 'role' : changesStatus ? 'status' : 'max_api_keys',
      message: "You can't change your own role, status or number of API keys. Ask another owner or an admin.",
    });
  if (changesRole && isPlatformRole(role) !== (user.organization === null))
    throw new Forbidden({
      code: 'role_not_changeable',
      param: 'role',
      message:
        "Users of the platform don't belong to an organization; all other users do. Invite this person again with a different email address.",
    });
};

/**
 * Updates a user's name, role or status.
 * @param others more writes of the same transaction
 * @throws 403, 404, 409 for the break-glass owner, 412
 */
export const updateUser = async (
  deps: UserDependencies,
  actor: Actor,
  id: string,
  fields: UserUpdate,
  expected?: readonly number[],
  others: readonly Write[] = [],
): Promise<User> => {
  const before = checkVersion(await visibleUser(deps, actor, id), expected);
  checkRights(actor, before, fields);
  if ((fields.role ?? before.role) !== before.role || fields.status === 'disabled')
    await requireNotBreakGlass(deps.identityProviders, before);
  const { name = before.name, role = before.role, status = before.status, max_api_keys = before.max_api_keys } = fields;
  const seconds = unixSeconds(actor.origin.nowMs);
  const disables = status === 'disabled' && before.status !== 'disabled';
  const after: StoredUser = {
    ...before,
    name,
    role,
    status,
    max_api_keys,
    updated_at: seconds,
    ...(disables && { tokens_valid_from: seconds + 1 }),
  };
  const change = {
    action: 'user.updated',
    organization: before.organization,
    target: { type: 'user', id },
    before: toWire(before),
    after: toWire(after),
  };
  const changesRights = role !== before.role || status !== before.status || max_api_keys !== before.max_api_keys;
  const checks = changesRights ? deps.users.toCheckActor(actor) : [];
  await commit(deps, actor.origin, change, [...checks, deps.users.toReplace(after, before), ...others]);
  // Our own row already rejects a disabled user. If a call to the identity provider fails, repeating the request
  // completes the change.
  if (fields.status !== undefined) await deps.userPool.setEnabled(before.subject, status === 'active');
  if (fields.status === 'disabled') await deps.userPool.signOutEverywhere(before.subject);
  return { ...toWire(after), version: after.version + 1 };
};
