import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import { newStoredUser } from '../../../shared/identity/new-user.ts';
import type { User } from '../../../shared/identity/user.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { type SecondFactor, toWire, type UserStore } from '../../../shared/identity/user-store.ts';
import { withClaimedEmail } from '../../../shared/identity/with-claimed-email.ts';
import { randomBase62 } from '../../../shared/ids/base62.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { type OrganizationStatuses, requireActive, type UserRole } from '../access/actor.ts';
import { isServiceAddress } from '../service-accounts/service-address.ts';

export interface UserDependencies extends AuditDependencies {
  userPool: UserPool;
  /** The issuer of the users' access tokens. */
  issuer: string;
  users: UserStore;
  identityProviders: Pick<IdentityProviderStore, 'passwordRule'>;
  organizations: OrganizationStatuses & { toCheckActive: (id: string) => Write };
}

interface UserFields {
  email: string;
  name: string | null;
  role: UserRole;
  organization: string | null;
  temporary_password?: string | undefined;
  /** Only operators set it. */
  second_factor?: SecondFactor;
}

const checkAddress = (email: string): void => {
  if (!isServiceAddress(email)) return;
  throw new InvalidRequest({
    param: 'email',
    message: 'The domain of `email` is reserved for service accounts. Use the address of a person.',
  });
};

// While passwords are refused, one that is emailed would only mislead.
const passwordOfSingleSignOn = async (
  { identityProviders }: UserDependencies,
  organization: string | null,
): Promise<string | undefined> => {
  const isClosed = organization !== null && (await identityProviders.passwordRule(organization)).isClosed;
  return isClosed ? unknownPassword() : undefined;
};

// The ending has the kinds of characters that a user pool can require.
const unknownPassword = (): string => `${randomBase62(PASSWORD_CHARACTERS)}-aA7`;
const PASSWORD_CHARACTERS = 32;

const invite = async ({ userPool }: UserDependencies, invitation: { email: string; temporaryPassword?: string }): Promise<string> => {
  const { subject, isNew } = await userPool.createUser(invitation);
  // An earlier creation or deletion crashed and left this user behind: reset it, so that its old password stops
  // working.
  if (!isNew) await userPool.renewUser({ ...invitation, subject });
  return subject;
};

/**
 * Creates a user: first at the identity provider, then here, where the rights are stored. Repeating the call after a
 * crash completes it.
 * @param checks further conditions of the creation
 * @param beforeInvitation called when the address is claimed, before anything is emailed to it; its error ends the
 * creation
 * @throws 404 or 403 for the organization, 409 if the address is in use, 400 for a weak password or a service
 * account's address
 */
export const createUser = async (
  deps: UserDependencies,
  origin: Origin,
  { temporary_password, ...fields }: UserFields,
  checks: readonly Write[] = [],
  beforeInvitation: () => Promise<void> = async () => undefined,
): Promise<User> => {
  const { email, organization } = fields;
  checkAddress(email);
  if (organization) await requireActive(deps.organizations, organization);
  // Only the request that has claimed the address may change its user at the identity provider.
  return withClaimedEmail(deps.users, { email, nowMs: origin.nowMs }, async (claim) => {
    await beforeInvitation();
    const temporaryPassword = temporary_password ?? (await passwordOfSingleSignOn(deps, organization));
    const subject = await invite(deps, { email, ...(temporaryPassword !== undefined && { temporaryPassword }) });
    const user = newStoredUser({ issuer: deps.issuer, subject }, fields, origin.nowMs);
    const isActive = organization ? [deps.organizations.toCheckActive(organization)] : [];
    const writes = [...checks, ...isActive, ...deps.users.toCreate(user, claim)];
    const target = { type: 'user', id: user.id };
    await commit(deps, origin, { action: 'user.invited', organization, target, after: { ...fields } }, writes);
    return toWire(user);
  });
};
