import { commit } from '../../../shared/audit/commit.ts';
import { inParallel } from '../../../shared/database/in-parallel.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import { changeMembership, hasOtherRole, type MembershipChange } from './memberships.ts';
import { InvalidScimValue } from './protocol/errors.ts';
import type { ScimGroupFields } from './protocol/group-fields.ts';
import type { ScimGroupRow, ScimUserRow } from './scim-store.ts';

const PARALLEL = 10;
// As many as are changed in the time of another change.
const MEMBERS_PER_CHANGE = 10;
const USERS_PER_READ = 100;

const audited = ({ display_name }: ScimGroupRow) => ({ display_name });

const changeOf = (action: string, { actor }: ScimConnection, { id }: ScimGroupRow) => ({
  action,
  organization: actor.organization,
  target: { type: 'scim_group', id },
});

/** Finds a group of the connection. @throws 404 */
export const visibleScimGroup = async ({ scim }: ScimDependencies, { provider }: ScimConnection, id: string): Promise<ScimGroupRow> => {
  const group = await scim.findGroup(provider.id, id);
  if (!group) throw new ResourceNotFound('group', id);
  return group;
};

const changeAll = async (deps: ScimDependencies, connection: ScimConnection, changes: readonly MembershipChange[]): Promise<void> => {
  const readGroups = async () => new Map((await deps.scim.listGroups(connection.provider.id)).map((group) => [group.id, group]));
  const first = changes.length > 0 ? await readGroups() : undefined;
  const failures = await inParallel(changes, PARALLEL, (change) => {
    let groups = first;
    return changeMembership(deps, connection, change, async () => {
      const read = groups ?? (await readGroups());
      groups = undefined;
      return read;
    });
  });
  if (failures.length > 0) throw failures[0];
};

const membershipChanges = (group: ScimGroupRow, rows: readonly ScimUserRow[], fields: ScimGroupFields): MembershipChange[] => {
  const members = new Set(rows.filter(({ groups }) => groups.includes(group.id)).map(({ id }) => id));
  const added = [...(fields.members ?? fields.added)].filter((id) => !members.has(id));
  const removed = [...(fields.members ? members : fields.removed)].filter((id) => members.has(id) && !fields.members?.has(id));
  return [
    ...added.map((user) => ({ user, added: group.id, groups: (before: readonly string[]) => [...new Set([...before, group.id])] })),
    ...removed.map((user) => ({ user, groups: (before: readonly string[]) => before.filter((id) => id !== group.id) })),
  ];
};

// The request itself counts as the change of the first ones.
const countMembers = async ({ calls }: ScimDependencies, { actor }: ScimConnection, members: number): Promise<void> => {
  for (let counted = MEMBERS_PER_CHANGE; counted < members; counted += MEMBERS_PER_CHANGE)
    await calls.countCall(['scim_changes'], { actor }, actor.origin.nowMs);
};

// Counts the members that change, so that too many of them are a 429 before anything is written.
const planMembers = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  group: ScimGroupRow,
  fields: ScimGroupFields,
): Promise<MembershipChange[]> => {
  if (!fields.members && fields.added.size === 0 && fields.removed.size === 0) return [];
  const changes = membershipChanges(group, await deps.scim.listUsers(connection.provider.id), fields);
  await countMembers(deps, connection, changes.length);
  return changes;
};

// Gives members the role that follows from their groups, after the group was renamed. Also after an earlier request
// crashed.
const renewRoles = async (deps: ScimDependencies, connection: ScimConnection, { id }: ScimGroupRow): Promise<void> => {
  const members = (await deps.scim.listUsers(connection.provider.id)).filter(({ groups }) => groups.includes(id));
  const groups = new Map((await deps.scim.listGroups(connection.provider.id)).map((group) => [group.id, group]));
  const roles = new Map<string, string>();
  for (let from = 0; from < members.length; from += USERS_PER_READ) {
    const users = await deps.users.getMany(members.slice(from, from + USERS_PER_READ).map((member) => member.id));
    for (const user of users) roles.set(user.id, user.role);
  }
  const changed = members.filter((row) => roles.has(row.id) && hasOtherRole(connection, row, roles.get(row.id), groups));
  await countMembers(deps, connection, changed.length);
  await changeAll(
    deps,
    connection,
    changed.map(({ id: user }): MembershipChange => ({ user, groups: (before) => before })),
  );
};

/**
 * Creates a group with its members, who get the role that the connection gives it. @throws 400, 409 for too many, 429
 */
export const createScimGroup = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  fields: ScimGroupFields,
): Promise<ScimGroupRow> => {
  const { provider, actor } = connection;
  if (fields.displayName === undefined) throw new InvalidScimValue('displayName', 'the name of the group');
  const seconds = unixSeconds(actor.origin.nowMs);
  const group: ScimGroupRow = {
    id: newTimedId('group', actor.origin.nowMs),
    external_id: fields.externalId ?? null,
    display_name: fields.displayName,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
  };
  const members = await planMembers(deps, connection, group, fields);
  await commit(
    deps,
    actor.origin,
    { ...changeOf('scim_group.created', connection, group), after: audited(group) },
    deps.scim.toCreateGroup(provider.id, group),
  );
  await changeAll(deps, connection, members);
  return group;
};

/**
 * Changes a group: its name, its members, and their roles. Repeating the request after a crash completes it.
 * @throws 400, 404, 412, 429, 503
 */
export const changeScimGroup = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  id: string,
  fields: ScimGroupFields,
): Promise<ScimGroupRow> => {
  const { provider, actor } = connection;
  const before = await visibleScimGroup(deps, connection, id);
  const { displayName = before.display_name, externalId = before.external_id } = fields;
  const members = await planMembers(deps, connection, before, fields);
  let group = before;
  if (displayName !== before.display_name || externalId !== before.external_id) {
    const after = { ...before, display_name: displayName, external_id: externalId, updated_at: unixSeconds(actor.origin.nowMs) };
    const change = { ...changeOf('scim_group.updated', connection, before), before: audited(before), after: audited(after) };
    await commit(deps, actor.origin, change, [deps.scim.toReplaceGroup(provider.id, after)]);
    group = { ...after, version: before.version + 1 };
  }
  await changeAll(deps, connection, members);
  if (fields.displayName !== undefined) await renewRoles(deps, connection, group);
  return group;
};

/**
 * Deletes a group. Its members lose it and its role first, so that repeating the request completes it.
 * @throws 404, 429
 */
export const deleteScimGroup = async (deps: ScimDependencies, connection: ScimConnection, id: string): Promise<void> => {
  const group = await visibleScimGroup(deps, connection, id);
  const members = await planMembers(deps, connection, group, { members: new Set(), added: new Set(), removed: new Set() });
  await changeAll(deps, connection, members);
  await commit(
    deps,
    connection.actor.origin,
    { ...changeOf('scim_group.deleted', connection, group), before: audited(group) },
    deps.scim.toDeleteGroup(connection.provider.id, group),
  );
};
