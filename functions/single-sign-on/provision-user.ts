import { type AuditDependencies, commit } from '../../shared/audit/commit.ts';
import { placeOfOrganization } from '../../shared/billing/organization-directory.ts';
import type { RecordTable } from '../../shared/database/record-table.ts';
import { newStoredUser } from '../../shared/identity/new-user.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import type { UserPool } from '../../shared/identity/user-pool.ts';
import { type StoredUser, toWire, type UserStore } from '../../shared/identity/user-store.ts';
import { withClaimedEmail } from '../../shared/identity/with-claimed-email.ts';
import { createAtPool } from '../../shared/single-sign-on/create-at-pool.ts';
import type { IdentityLinks } from '../../shared/single-sign-on/identity-links.ts';
import type { IdentityProvider, OrganizationRole } from '../../shared/single-sign-on/identity-provider.ts';
import { LoginFailed } from './login-fault.ts';

export interface ProvisionDependencies extends AuditDependencies {
  accounts: RecordTable;
  users: UserStore;
  links: IdentityLinks;
  userPool: Pick<UserPool, 'createSilentUser' | 'renewUser'>;
  /** The issuer of the users' access tokens. */
  issuer: string;
}

interface NewIdentity {
  provider: IdentityProvider;
  subject: string;
  email: string;
  role: OrganizationRole;
}

/**
 * Creates the user of an identity that nobody has, without a password and without a mail. Repeating it after a crash
 * completes it.
 * @throws LoginFailed for a suspended organization; 409 if another request was first, or for too many users
 */
export const provisionUser = (deps: ProvisionDependencies, caller: Caller, identity: NewIdentity): Promise<StoredUser> => {
  const { email, provider, role } = identity;
  const fields = { email, name: null, role, organization: provider.organization };
  return withClaimedEmail(deps.users, { email, nowMs: caller.receivedAtMs }, async (claim) => {
    const user = newStoredUser({ issuer: deps.issuer, subject: await createAtPool(deps.userPool, email) }, fields, caller.receivedAtMs);
    const isActive = deps.accounts.toCheck(
      placeOfOrganization(provider.organization),
      { status: 'active' },
      () => new LoginFailed('organization_refused', 'organization_suspended'),
    );
    const change = {
      action: 'user.provisioned',
      organization: provider.organization,
      target: { type: 'user', id: user.id },
      after: { ...toWire(user), identity_provider: provider.id },
    };
    const links = deps.links.toLink(user.id, provider.id, identity.subject);
    await commit(deps, originOf(caller, user), change, [isActive, ...links, ...deps.users.toCreate(user, claim)]);
    return user;
  });
};
