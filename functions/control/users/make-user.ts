import { OrganizationSuspended } from '../../../shared/admission/organization.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { Origin } from '../audit/audit.ts';
import { type Books, commit } from '../audit/commit.ts';
import type { UserPool } from '../identity/user-pool.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { type Role, type User, userIdOf } from './user.ts';
import { type StoredUser, toWire, type UserStore } from './user-store.ts';

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

/** A user who has never logged in. */
const newUser = (issuer: string, subject: string, fields: Omit<UserToMake, 'temporary_password'>, nowMs: number): StoredUser => {
  const seconds = Math.floor(nowMs / 1_000);
  return {
    id: userIdOf(issuer, subject),
    object: 'user',
    ...fields,
    status: 'active',
    last_login_at: null,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
    subject,
    // The identity provider may know them from before: what that time's tokens opened, they open no more.
    tokens_valid_from: seconds,
  };
};

const checkActive = async ({ organizations }: UserDependencies, id: string): Promise<void> => {
  const { status } = await organizations.get(id);
  if (status === 'suspended') throw new OrganizationSuspended();
};

const invite = async ({ userPool }: UserDependencies, invitation: { email: string; temporaryPassword?: string }): Promise<string> => {
  const { subject, isNew } = await userPool.createUser(invitation);
  // Left by a death while it was made or deleted: whatever password it had opens nothing any more.
  if (!isNew) await userPool.renewUser({ ...invitation, subject });
  return subject;
};

/**
 * Makes a user: first at the identity provider, then here, where their rights are. One who was left half made by a death is made whole by doing it
 * again.
 * @throws 404 and 403 for the organization, 409 where the address is taken, 400 for a weak password
 */
export const makeUser = async (deps: UserDependencies, origin: Origin, { temporary_password, ...fields }: UserToMake): Promise<User> => {
  const { email, organization } = fields;
  if (organization) await checkActive(deps, organization);
  // Whoever has the address to themselves is the only one who may touch the user of that address at the identity provider.
  const claim = newTimedId('event', origin.nowMs);
  await deps.users.claimEmail(email, claim, origin.nowMs);
  try {
    const subject = await invite(deps, { email, ...(temporary_password !== undefined && { temporaryPassword: temporary_password }) });
    const user = newUser(deps.issuer, subject, fields, origin.nowMs);
    const writes = [...(organization ? [deps.organizations.toCheckActive(organization)] : []), ...deps.users.toCreate(user, claim)];
    const target = { type: 'user', id: user.id };
    await commit(deps, origin, { action: 'user.invited', organization, target, after: { ...fields } }, writes);
    return toWire(user);
  } catch (error) {
    // Nothing is lost by it: a transaction that comes late needs the claim.
    await deps.users.releaseEmail(email, claim);
    throw error;
  }
};
