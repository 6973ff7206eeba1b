import { transact, type Write } from '../../../shared/database/transaction.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { retryChanged } from '../../../shared/http/precondition.ts';
import type { OrganizationRole } from '../../../shared/single-sign-on/identity-provider.ts';
import type { UserRole } from '../access/actor.ts';
import { updateUser } from '../users/update-user.ts';
import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import { findScimUser, type ScimUser } from './find-user.ts';
import { roleWithoutGroup, toSaveRow } from './manage-users.ts';
import { planLossOfOwner } from './protected-users.ts';
import { InvalidScimValue, ProtectedUser } from './protocol/errors.ts';
import { MAX_GROUPS_OF_USER, type ScimGroupRow, type ScimUserRow } from './scim-store.ts';

type GroupsById = ReadonlyMap<string, ScimGroupRow>;

/** One change of the groups of a user. `groups` returns those after it, or the same list. */
export interface MembershipChange {
  user: string;
  groups: (before: readonly string[]) => readonly string[];
  /** The group that is added, if one is. */
  added?: string;
}

interface Decision {
  role: OrganizationRole;
  group: string;
}

// The first entry of the role mapping that names one of the groups decides.
const decisionOf = ({ provider }: ScimConnection, ids: readonly string[], groups: GroupsById): Decision | undefined => {
  for (const { value, role } of provider.role_mapping) {
    const group = ids.find((id) => groups.get(id)?.display_name === value);
    if (group !== undefined) return { role, group };
  }
  return undefined;
};

// Without a group that gives a role, a user keeps the one that they were given otherwise, but not that of a group.
const plannedRole = (connection: ScimConnection, row: ScimUserRow, groups: GroupsById) => {
  const decision = decisionOf(connection, row.groups, groups);
  const role = decision?.role ?? (row.role_is_from_group ? roleWithoutGroup(connection) : undefined);
  return { role, group: decision?.group, role_is_from_group: decision !== undefined };
};

// The last owner and the one who can log in without single sign-on stay owners.
const toLoseOwner = async (deps: ScimDependencies, user: ScimUser['user']): Promise<Write[] | undefined> => {
  try {
    return await planLossOfOwner(deps, user);
  } catch (error) {
    if (error instanceof ProtectedUser) return undefined;
    throw error;
  }
};

const save = async (deps: ScimDependencies, connection: ScimConnection, found: ScimUser, role: UserRole, checks: readonly Write[]) => {
  const { user } = found;
  const writes = [toSaveRow(deps, connection, found), ...checks];
  const losing = role === user.role || user.role !== 'owner' ? [] : await toLoseOwner(deps, user);
  if (role === user.role || !losing) return transact(deps.database, writes);
  await updateUser(deps, connection.actor, user.id, { role }, [user.version], [...writes, ...losing]);
};

// The group that is added, and the one that decides about the role, must still have their names.
const toCheckGroups = (
  { scim }: ScimDependencies,
  { provider }: ScimConnection,
  ids: readonly (string | undefined)[],
  groups: GroupsById,
) =>
  [...new Set(ids)].flatMap((id) => {
    const group = groups.get(id ?? '');
    return group ? [scim.toCheckGroup(provider.id, group)] : [];
  });

const changeOnce = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  change: MembershipChange,
  groups: GroupsById,
): Promise<void> => {
  const found = await findScimUser(deps, connection, change.user);
  if (!found) throw new InvalidScimValue('members', 'ids of users whom this identity provider manages');
  const after = [...change.groups(found.row.groups)].filter((id) => groups.has(id));
  if (after.length > MAX_GROUPS_OF_USER) throw new InvalidScimValue('members', `users with at most ${MAX_GROUPS_OF_USER} groups`);
  const row = { ...found.row, groups: after };
  const { role, group, role_is_from_group } = plannedRole(connection, row, groups);
  const checks = toCheckGroups(deps, connection, [change.added, group], groups);
  await save(deps, connection, { ...found, row: { ...row, role_is_from_group } }, role ?? found.user.role, checks);
};

const MAX_TRIES = 5;
// API Gateway waits 29 s for a response. This leaves time for one more change.
const MAX_CHANGING_MS = 20_000;

/**
 * Changes the groups of one user, and their role with them, in one transaction.
 * @param readGroups the groups of the connection as they are now
 * @throws 400 for a user whom the connection doesn't manage; 412 if others change the user all the time; 503 if the
 * request has taken too long, and can be repeated
 */
export const changeMembership = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  change: MembershipChange,
  readGroups: () => Promise<GroupsById>,
): Promise<void> =>
  retryChanged(MAX_TRIES, async () => {
    if (deps.now() - connection.actor.origin.nowMs > MAX_CHANGING_MS)
      throw new ServiceUnavailable(new Error(`Some users of ${connection.provider.id} still have their former groups.`));
    await changeOnce(deps, connection, change, await readGroups());
  });

/** Says if a user has another role than their groups give them, as after a crash or a new name of a group. */
export const hasOtherRole = (connection: ScimConnection, row: ScimUserRow, role: string | undefined, groups: GroupsById): boolean => {
  const planned = plannedRole(connection, row, groups);
  return (planned.role !== undefined && planned.role !== role) || planned.role_is_from_group !== row.role_is_from_group;
};
