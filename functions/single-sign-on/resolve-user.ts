import type { IdentityClaims } from '../../shared/federation/claim-fault.ts';
import { isPlatformRole } from '../../shared/hosts/permissions.ts';
import type { StoredUser, UserStore } from '../../shared/identity/user-store.ts';
import type { IdentityLinks } from '../../shared/single-sign-on/identity-links.ts';
import { type IdentityProvider, OrganizationRole } from '../../shared/single-sign-on/identity-provider.ts';
import { requireAcr, subjectOf, trustedEmailOf } from './claims/identity-of-claims.ts';
import { roleAtLogin } from './claims/role-at-login.ts';
import { LoginFailed } from './login-fault.ts';

export interface ResolveDependencies {
  users: Pick<UserStore, 'get' | 'idOfEmail'>;
  links: Pick<IdentityLinks, 'userOf' | 'isLinked'>;
}

/** A user who signs in, and the changes of the login, which `signInAs` makes. */
export type Resolved = { subject: string; role: OrganizationRole } & (
  | { kind: 'signs_in'; user: StoredUser }
  /** The first login of a user who exists. */
  | { kind: 'links'; user: StoredUser /** The identity was that of a user who no longer exists. */; deleted: string | undefined }
  | { kind: 'provisions'; email: string; deleted: string | undefined }
);

const isOfOrganization = ({ organization, role }: StoredUser, provider: IdentityProvider): boolean =>
  organization === provider.organization && !isPlatformRole(role);

const requireActive = ({ status }: StoredUser): void => {
  if (status !== 'active') throw new LoginFailed('user_disabled');
};

// A role that the mapping cannot give, such as one of a later release, is not kept.
const currentRole = ({ role }: StoredUser): OrganizationRole | undefined => OrganizationRole.safeParse(role).data;

const resolveNew = async (
  { users, links }: ResolveDependencies,
  provider: IdentityProvider,
  claims: IdentityClaims,
  { subject, deleted }: { subject: string; deleted: string | undefined },
): Promise<Resolved> => {
  const email = trustedEmailOf(provider, claims);
  const id = await users.idOfEmail(email);
  const user = id === undefined ? undefined : await users.get(id);
  if (!user) return { kind: 'provisions', subject, email, deleted, role: roleAtLogin(provider, claims, undefined) };
  // The address alone must not lead into another organization, to the platform, or to another identity.
  if (!isOfOrganization(user, provider) || user.kind !== undefined || (await links.isLinked(user.id, provider.id)))
    throw new LoginFailed('address_in_use');
  requireActive(user);
  return { kind: 'links', subject, user, deleted, role: roleAtLogin(provider, claims, currentRole(user)) };
};

/**
 * Finds the user of a verified ID token: by the identity, which is the connection and the subject. Only the first login
 * goes by the address. @throws LoginFailed
 */
export const resolveUser = async (deps: ResolveDependencies, provider: IdentityProvider, claims: IdentityClaims): Promise<Resolved> => {
  requireAcr(provider, claims);
  const subject = subjectOf(provider.issuer, claims);
  const id = await deps.links.userOf(provider.id, subject);
  const user = id === undefined ? undefined : await deps.users.get(id);
  if (!user) return resolveNew(deps, provider, claims, { subject, deleted: id });
  if (!isOfOrganization(user, provider)) throw new LoginFailed('address_in_use');
  requireActive(user);
  return { kind: 'signs_in', subject, user, role: roleAtLogin(provider, claims, currentRole(user)) };
};
