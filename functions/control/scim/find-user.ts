import { ResourceNotFound } from '../../../shared/http/errors.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import type { ScimUserRow } from './scim-store.ts';

/** A user whom a connection manages or, without a version in the store, can begin to manage. */
export interface ScimUser {
  user: StoredUser & { organization: string };
  row: ScimUserRow;
  isManaged: boolean;
}

/** The domains whose addresses the connection can create. */
export const verifiedDomains = ({ provider }: ScimConnection): string[] =>
  provider.domains.filter(({ verified_at }) => verified_at !== null).map(({ domain }) => domain);

/** True if an address, in lower case, is of a verified domain of the connection: exactly, and not of one below it. */
export const isOfVerifiedDomain = (connection: ScimConnection, email: string): boolean =>
  verifiedDomains(connection).includes(email.slice(email.lastIndexOf('@') + 1));

export const newRow = (id: string): ScimUserRow => ({
  id,
  external_id: null,
  names: { display: null, formatted: null, given: null, family: null },
  groups: [],
  active: true,
  role_is_from_group: false,
  version: 1,
});

// A user of the same organization, who was invited before, and whom no other connection manages.
const isFree = async ({ scim, identityProviders }: ScimDependencies, connection: ScimConnection, user: StoredUser): Promise<boolean> => {
  if (!isOfVerifiedDomain(connection, user.email)) return false;
  const providers = await identityProviders.list(connection.actor.organization);
  const others = providers.map(({ id }) => id).filter((id) => id !== connection.provider.id);
  return !(await scim.isManagedBy(others, user.id));
};

/** True for a person of the organization, and not for its service accounts. */
export const isOfOrganization = (user: StoredUser | undefined, organization: string): user is StoredUser & { organization: string } =>
  user !== undefined && user.organization === organization && user.kind === undefined;

/** Finds a user of the connection by id; undefined for everyone else. */
export const findScimUser = async (deps: ScimDependencies, connection: ScimConnection, id: string): Promise<ScimUser | undefined> => {
  const user = await deps.users.get(id);
  if (!isOfOrganization(user, connection.actor.organization)) return undefined;
  const row = await deps.scim.findUser(connection.provider.id, id);
  if (row) return { user, row, isManaged: true };
  return (await isFree(deps, connection, user)) ? { user, row: newRow(id), isManaged: false } : undefined;
};

/** Finds a user of the connection by id. @throws 404 for everyone else */
export const visibleScimUser = async (deps: ScimDependencies, connection: ScimConnection, id: string): Promise<ScimUser> => {
  const found = await findScimUser(deps, connection, id);
  if (!found) throw new ResourceNotFound('user', id);
  return found;
};
