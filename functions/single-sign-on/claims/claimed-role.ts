import type { IdentityProvider, OrganizationRole } from '../../../shared/single-sign-on/identity-provider.ts';

type Claims = Readonly<Record<string, unknown>>;
type Mapping = Pick<IdentityProvider, 'role_claim' | 'role_mapping' | 'default_role'>;

const isObject = (value: unknown): value is Claims => typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (claims: unknown, name: string): unknown => (isObject(claims) && Object.hasOwn(claims, name) ? claims[name] : undefined);

// A claim can have dots in its name, as those of Auth0 do, or be within another one, as Keycloak's
// `realm_access.roles`.
const claimOf = (claims: Claims, name: string): unknown =>
  own(claims, name) ?? name.split('.').reduce<unknown>((within, part) => own(within, part), claims);

/** Returns the texts of a claim, which is a text or a list; none of any other claim. */
export const claimValues = (claims: Claims, name: string): string[] =>
  [claimOf(claims, name)].flat().filter((value) => typeof value === 'string');

/**
 * Returns the role that the claims of an ID token give: the first entry of the mapping whose value is among the
 * claim's, else the default role. null: none, so only an invited user can sign in.
 */
export const claimedRole = ({ role_claim, role_mapping, default_role }: Mapping, claims: Claims): OrganizationRole | null => {
  const values = role_claim === null ? [] : claimValues(claims, role_claim);
  return role_mapping.find(({ value }) => values.includes(value))?.role ?? default_role;
};
