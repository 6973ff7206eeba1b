import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { newStoredUser } from '../../../shared/identity/new-user.ts';
import type { User } from '../../../shared/identity/user.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { type StoredUser, toWire, type UserStore } from '../../../shared/identity/user-store.ts';
import { withClaimedEmail } from '../../../shared/identity/with-claimed-email.ts';
import { createAtPool } from '../../../shared/single-sign-on/create-at-pool.ts';
import type { OrganizationRole } from '../../../shared/single-sign-on/identity-provider.ts';

export interface ScimProvisionDependencies extends AuditDependencies {
  userPool: Pick<UserPool, 'createSilentUser' | 'renewUser' | 'setEnabled'>;
  /** The issuer of the users' access tokens. */
  issuer: string;
  users: Pick<UserStore, 'claimEmail' | 'releaseEmail' | 'toCreate'>;
  organizations: { toCheckActive: (id: string) => Write };
}

interface ProvisionedFields {
  /** In lower case. */
  email: string;
  name: string | null;
  role: OrganizationRole;
  organization: string;
  status: User['status'];
}

/**
 * Creates a user for whom a company's identity provider vouches: without a password that anyone knows, and without a
 * mail. Repeating the call after a crash completes it.
 * @param others more writes of the same transaction, for the new user's id
 * @throws 409 if the address is in use, or if the organization has too many users; 403 if it is suspended
 */
export const provisionUser = (
  deps: ScimProvisionDependencies,
  origin: Origin,
  fields: ProvisionedFields,
  others: (id: string) => readonly Write[],
): Promise<StoredUser> => {
  const { email, organization } = fields;
  return withClaimedEmail(deps.users, { email, nowMs: origin.nowMs }, async (claim) => {
    const subject = await createAtPool(deps.userPool, email);
    const user = newStoredUser({ issuer: deps.issuer, subject }, fields, origin.nowMs);
    const writes = [deps.organizations.toCheckActive(organization), ...deps.users.toCreate(user, claim), ...others(user.id)];
    const target = { type: 'user', id: user.id };
    await commit(deps, origin, { action: 'user.provisioned', organization, target, after: toWire(user) }, writes);
    // Our own row already rejects a disabled user.
    if (user.status === 'disabled') await deps.userPool.setEnabled(subject, false);
    return user;
  });
};
