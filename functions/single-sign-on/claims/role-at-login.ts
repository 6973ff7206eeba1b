import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import type { IdentityProvider, OrganizationRole } from '../../../shared/single-sign-on/identity-provider.ts';
import { LoginFailed } from '../login-fault.ts';
import { claimedRole } from './claimed-role.ts';

type Mapping = Pick<IdentityProvider, 'role_claim' | 'role_mapping' | 'default_role'>;

// Entra leaves the groups of a user out of a token if there are too many: OpenID Connect Core 1.0, section 5.6.2.
const isLeftOut = (role_claim: string | null, { _claim_names: names }: IdentityClaims): boolean =>
  role_claim !== null && typeof names === 'object' && names !== null && Object.hasOwn(names, role_claim);

/**
 * Returns the role with which a user signs in.
 * @param current the role of a user who exists: they keep it if the connection maps no claim, because SCIM or an owner
 * can have given it
 * @throws LoginFailed if the claims give no role
 */
export const roleAtLogin = (mapping: Mapping, claims: IdentityClaims, current: OrganizationRole | undefined): OrganizationRole => {
  const mapsClaim = mapping.role_claim !== null && mapping.role_mapping.length > 0;
  if (mapsClaim && isLeftOut(mapping.role_claim, claims)) throw new LoginFailed('groups_left_out');
  const role = mapsClaim ? claimedRole(mapping, claims) : (current ?? mapping.default_role);
  if (role === null) throw new LoginFailed('no_role');
  return role;
};
