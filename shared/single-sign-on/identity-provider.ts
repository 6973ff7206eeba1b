import * as z from 'zod';
import type { Role } from '../hosts/permissions.ts';

/** The roles that a connection can give: those of an organization. */
export const OrganizationRole = z.enum(['member', 'viewer', 'billing', 'owner'] as const satisfies readonly Role[]);
export type OrganizationRole = z.infer<typeof OrganizationRole>;

const ProviderDomain = z.object({
  domain: z.string(),
  token: z.string(),
  /** Unix time in seconds; null: not verified yet. */
  verified_at: z.int().nullable(),
});
/** A domain of a connection: it is verified once its TXT record with the token was seen. */
export type ProviderDomain = z.infer<typeof ProviderDomain>;

/** An organization's connection to its OpenID provider, at rest. */
export const IdentityProvider = z.object({
  id: z.string(),
  organization: z.string(),
  name: z.string(),
  issuer: z.string(),
  client_id: z.string(),
  /** The version of the client secret in Secrets Manager; null: a public client, which has only PKCE. */
  client_secret_version: z.string().nullable(),
  scopes: z.array(z.string()),
  domains: z.array(ProviderDomain),
  /** The claim whose values `role_mapping` lists; null: users keep their role, and new ones get `default_role`. */
  role_claim: z.string().nullable(),
  /** The first entry whose value the claim has decides. */
  role_mapping: z.array(z.object({ value: z.string(), role: OrganizationRole })),
  /** The role of those whom no entry matches; null: only invited users can sign in, with the role that they have. */
  default_role: OrganizationRole.nullable(),
  /** Empty: any. Otherwise the ID token must have one of these in `acr`. */
  required_acr: z.array(z.string()),
  session_hours: z.int(),
  /** Users of the organization cannot use passwords, except the break-glass owner. */
  enforced: z.boolean(),
  break_glass: z.string().nullable(),
  /** The provider gives addresses of the verified domains only to their holders, so `email_verified` is not needed. */
  addresses_are_managed: z.boolean(),
  deactivation_revokes_keys: z.boolean(),
  status: z.enum(['active', 'disabled']),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int().min(1),
});
export type IdentityProvider = z.infer<typeof IdentityProvider>;

/** Returns true if passwords of the organization's users are refused because of this connection. */
export const closesPasswords = ({ enforced, status }: Pick<IdentityProvider, 'enforced' | 'status'>): boolean =>
  enforced && status === 'active';
