import { transact, type Write } from '../../../shared/database/transaction.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { Email } from '../../../shared/identity/user.ts';
import { changeUser, deleteUser } from '../users/remove-access.ts';
import { updateUser } from '../users/update-user.ts';
import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import { isOfVerifiedDomain, newRow, type ScimUser, verifiedDomains, visibleScimUser } from './find-user.ts';
import { planLossOfOwner } from './protected-users.ts';
import { InvalidScimValue, UserNameNotChangeable } from './protocol/errors.ts';
import type { ScimUserFields } from './protocol/user-fields.ts';
import { provisionUser } from './provision-user.ts';
import type { ScimUserRow } from './scim-store.ts';
import { nameOfParts, namesAfter } from './user-resource.ts';

/** The role of those to whom no group gives one. */
export const roleWithoutGroup = ({ provider }: ScimConnection) => provider.default_role ?? 'member';

const addressOf = (connection: ScimConnection, userName: string | undefined): string => {
  const email = Email.safeParse(userName ?? '');
  if (!email.success) throw new InvalidScimValue('userName', 'an email address');
  if (!isOfVerifiedDomain(connection, email.data)) {
    const domains = verifiedDomains(connection).join(', ');
    throw new InvalidScimValue(
      'userName',
      domains ? `an address of these verified domains: ${domains}` : 'a domain of the identity provider to be verified first',
    );
  }
  return email.data;
};

/** Creates a user, who gets no mail. @throws 400, 403; 409 if the address is in use */
export const createScimUser = async (deps: ScimDependencies, connection: ScimConnection, fields: ScimUserFields): Promise<ScimUser> => {
  const { provider, actor } = connection;
  const email = addressOf(connection, fields.userName);
  const names = namesAfter(newRow('').names, fields);
  const active = fields.active ?? true;
  const rowOf = (id: string): ScimUserRow => ({ ...newRow(id), names, active, external_id: fields.externalId ?? null });
  const user = await provisionUser(
    deps,
    actor.origin,
    {
      email,
      name: nameOfParts(names),
      role: roleWithoutGroup(connection),
      organization: actor.organization,
      status: active ? 'active' : 'disabled',
    },
    (id) => [deps.scim.toCreateUser(provider.id, rowOf(id))],
  );
  return { user: { ...user, organization: actor.organization }, row: rowOf(user.id), isManaged: true };
};

/** The write of a user's row beside the user: it begins to be managed with the first change. */
export const toSaveRow = ({ scim }: ScimDependencies, { provider }: ScimConnection, { isManaged, row }: ScimUser): Write =>
  isManaged ? scim.toReplaceUser(provider.id, row) : scim.toCreateUser(provider.id, row);

const saved = (found: ScimUser): ScimUser =>
  found.isManaged ? { ...found, row: { ...found.row, version: found.row.version + 1 } } : { ...found, isManaged: true };

const saveRow = async (deps: ScimDependencies, connection: ScimConnection, found: ScimUser): Promise<ScimUser> => {
  await transact(deps.database, [toSaveRow(deps, connection, found)]);
  return saved(found);
};

// The row first: if the rest fails, the identity provider repeats the request, because the user is still active.
const deactivate = async (deps: ScimDependencies, connection: ScimConnection, found: ScimUser): Promise<ScimUser> => {
  const checks = await planLossOfOwner(deps, found.user);
  const { row } = found;
  const noted = row.active || !found.isManaged ? await saveRow(deps, connection, { ...found, row: { ...row, active: false } }) : found;
  const revokes = connection.provider.deactivation_revokes_keys;
  const change = { status: 'disabled', ...(revokes && { revoke_keys: true }) } as const;
  const { open_api_keys: open = [] } = await changeUser(deps, connection.actor, found.user.id, change, undefined, checks);
  if (revokes && open.length > 0)
    throw new ServiceUnavailable(new Error(`${open.length} API keys of ${found.user.id} are still to be revoked.`));
  return noted;
};

const changeNames = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  found: ScimUser,
  fields: ScimUserFields,
): Promise<ScimUser> => {
  const { row, user } = found;
  const names = namesAfter(row.names, fields);
  const externalId = fields.externalId === undefined ? row.external_id : fields.externalId;
  const isNamed = [fields.displayName, fields.formatted, fields.givenName, fields.familyName].some((part) => part !== undefined);
  const changed = { ...found, row: { ...row, names, external_id: externalId } };
  const name = isNamed ? nameOfParts(names) : user.name;
  if (name === user.name) return saveRow(deps, connection, changed);
  await updateUser(deps, connection.actor, user.id, { name }, undefined, [toSaveRow(deps, connection, changed)]);
  return saved(changed);
};

// Users whom an owner has disabled stay disabled: only the identity provider's own deactivation is undone.
const reactivate = async (deps: ScimDependencies, connection: ScimConnection, found: ScimUser): Promise<ScimUser> => {
  if (found.row.active) return found;
  await changeUser(deps, connection.actor, found.user.id, { status: 'active' });
  return { ...found, row: { ...found.row, active: true } };
};

/**
 * Changes a user. A deactivation comes first, and no other attribute of the request can keep it from being done: it
 * ends all sessions and, if the connection says so, revokes the API keys.
 * @throws 400, 404, 409 for the last owner, 412; 503 if there was no time to revoke all keys
 */
export const changeScimUser = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  id: string,
  fields: ScimUserFields,
): Promise<ScimUser> => {
  const found = await visibleScimUser(deps, connection, id);
  const { userName, active } = fields;
  if (active !== false && userName !== undefined && userName.toLowerCase() !== found.user.email) throw new UserNameNotChangeable();
  if (active === false) await changeNames(deps, connection, await deactivate(deps, connection, found), fields);
  else await changeNames(deps, connection, active ? await reactivate(deps, connection, found) : found, fields);
  return visibleScimUser(deps, connection, id);
};

/**
 * Deletes a user and, if the connection says so, revokes their API keys. A row that is left by a crash is never shown.
 * @throws 404, 409 for the last owner; 503 if there was no time to revoke all keys
 */
export const deleteScimUser = async (deps: ScimDependencies, connection: ScimConnection, id: string): Promise<void> => {
  const { user } = await visibleScimUser(deps, connection, id);
  const checks = await planLossOfOwner(deps, user);
  await deleteUser(deps, connection.actor, id, { revokes: connection.provider.deactivation_revokes_keys }, undefined, checks);
  await transact(deps.database, [deps.scim.toDeleteUser(connection.provider.id, id)]);
};
