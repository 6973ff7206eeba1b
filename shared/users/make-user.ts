import type { Origin } from '../audit/audit.ts';
import { type Books, commit } from '../audit/commit.ts';
import type { UserPool } from '../identity/user-pool.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { type Role, type User, userIdOf } from './user.ts';
import { emailTaken, toWire, type UserStore } from './user-store.ts';

export interface UserDependencies extends Books {
  userPool: UserPool;
  /** Of the tokens that users come with. */
  issuer: string;
  users: UserStore;
  organizations: OrganizationStore;
}

/** Who is to be made. */
export interface UserToMake {
  email: string;
  name: string | null;
  role: Role;
  organization: string | null;
  temporary_password?: string | undefined;
}

/**
 * Makes a user: first at the identity provider, then here, where their rights are. One who was left half made by a death is made whole by doing it
 * again.
 * @throws 404 and 403 for the organization, 409 where the address is taken, 400 for a weak password
 */
export const makeUser = async (deps: UserDependencies, origin: Origin, { temporary_password, ...fields }: UserToMake): Promise<User> => {
  const { email, organization } = fields;
  if (await deps.users.idOfEmail(email)) throw emailTaken();
  const invitation = { email, ...(temporary_password !== undefined && { temporaryPassword: temporary_password }) };
  const { subject, isNew } = await deps.userPool.createUser(invitation);
  // Left by a death while it was made or deleted: whatever password it had opens nothing any more.
  if (!isNew) await deps.userPool.renewUser({ ...invitation, subject });
  const id = userIdOf(deps.issuer, subject);
  const seconds = Math.floor(origin.nowMs / 1_000);
  const user = {
    id,
    object: 'user' as const,
    ...fields,
    status: 'active' as const,
    last_login_at: null,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
    subject,
  };
  const writes = [...(organization ? [deps.organizations.toCheckActive(organization)] : []), ...deps.users.toCreate(user)];
  await commit(deps, origin, { action: 'user.invited', organization, target: { type: 'user', id }, after: { ...fields } }, writes);
  return toWire(user);
};
