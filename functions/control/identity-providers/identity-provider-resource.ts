import { domainToASCII } from 'node:url';
import * as z from 'zod';
import { SSO_PATHS } from '../../../shared/identity/auth-paths.ts';
import { MAX_URL_CHARACTERS } from '../../../shared/network/url-fault.ts';
import { IdentityProvider, OrganizationRole, type ProviderDomain } from '../../../shared/single-sign-on/identity-provider.ts';
import { changeBody } from '../access/change-body.ts';
import { OrganizationId } from '../organizations/organization.ts';

const MAX_DOMAINS = 20;
const MAX_DOMAIN_CHARACTERS = 253;
const MAX_MAPPINGS = 100;
const MAX_TEXT = 200;
const MAX_LIST = 20;

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

const Domain = z
  .string()
  .max(MAX_DOMAIN_CHARACTERS)
  // The conversion would cut off what follows a domain in a URL.
  .regex(/^[^\s/:?#@\\%]+$/, 'expected a domain such as example.com')
  .transform((domain) => domainToASCII(domain).toLowerCase())
  .refine((domain) => domain.length <= MAX_DOMAIN_CHARACTERS && DOMAIN.test(domain), 'expected a domain such as example.com')
  .meta({ type: 'string', examples: ['example.com'] });

const isEachOnce = (values: readonly string[]): boolean => new Set(values).size === values.length;

const Name = z.string().trim().min(1).max(100);
const Issuer = z.string().min(1).max(MAX_URL_CHARACTERS);
const ClientId = z.string().trim().min(1).max(500);
const ClientSecret = z.string().min(1).max(2_000);
const Domains = z.array(Domain).max(MAX_DOMAINS).refine(isEachOnce, 'expected each domain once');
// https://www.rfc-editor.org/rfc/rfc6749#section-3.3
const Scope = z.string().regex(/^[!#-[\]-~]{1,200}$/, 'expected a scope without spaces');
const Scopes = z
  .array(Scope)
  .max(MAX_LIST)
  .refine(isEachOnce, 'expected each scope once')
  .refine((scopes) => scopes.includes('openid'), "expected 'openid' among the scopes");
const RoleClaim = z.string().trim().min(1).max(MAX_TEXT).nullable();
const RoleMapping = z.array(z.strictObject({ value: z.string().min(1).max(MAX_TEXT), role: OrganizationRole })).max(MAX_MAPPINGS);
const RequiredAcr = z.array(z.string().min(1).max(MAX_TEXT)).max(MAX_LIST).refine(isEachOnce, 'expected each value once');
const SessionHours = z.int().min(1).max(12);

const about = {
  issuer: "The issuer exactly as the provider's ID tokens and its `/.well-known/openid-configuration` have it. It can't be changed later.",
  domains:
    "The domains of the users' email addresses. Each must be verified before its users can sign in, and only then do they lead to this identity provider.",
  role_claim: "The claim of the ID token with the user's groups or roles. A dot leads into an object: `realm_access.roles`.",
  role_mapping: 'Roles by the values of the claim. The first entry that matches decides, so list the highest role first.',
  default_role: 'The role of users whom no entry matches. null: they can sign in only if they were invited, and keep their role.',
  required_acr: 'The ID token must have one of these values in its claim `acr`. Empty: any.',
  session_hours: 'The hours after which a session ends, and the user signs in with the provider again.',
  addresses_are_managed:
    'Set it to true if only your organization gives out addresses of these domains at the provider, and its tokens lack `email_verified`, as those of Microsoft Entra ID do.',
  deactivation_revokes_keys: 'Whether a user who is deactivated by SCIM loses their API keys, too.',
  enforced: 'Whether users of the organization can sign in only with this provider. Their passwords are refused.',
  break_glass:
    'The id of an owner with a second factor who can still use their password while the identity provider is enforced. Required for `enforced`.',
  status: '`disabled`: nobody can sign in with this provider, and it enforces nothing.',
};

const Flag = z.boolean();

/** A connection on the wire, without its client secret. */
export const IdentityProviderResource = z.object({
  id: z.string(),
  object: z.literal('identity_provider'),
  organization: z.string(),
  name: z.string(),
  issuer: z.string().meta({ description: about.issuer }),
  client_id: z.string(),
  has_client_secret: z.boolean().meta({ description: 'false: a public client, which authenticates with PKCE alone.' }),
  redirect_uri: z.string().meta({ description: 'Register this URL with the provider.' }),
  scopes: z.array(z.string()),
  domains: z.array(
    z.object({
      domain: z.string(),
      status: z.enum(['pending', 'verified']),
      record: z
        .object({ type: z.literal('TXT'), name: z.string(), value: z.string() })
        .meta({ description: 'The DNS record that proves that the domain is yours.' }),
      verified_at: z.int().nullable().meta({ description: 'Unix time in seconds.' }),
    }),
  ),
  role_claim: IdentityProvider.shape.role_claim.meta({ description: about.role_claim }),
  role_mapping: IdentityProvider.shape.role_mapping.meta({ description: about.role_mapping }),
  default_role: OrganizationRole.nullable().meta({ description: about.default_role }),
  required_acr: z.array(z.string()).meta({ description: about.required_acr }),
  session_hours: z.int().meta({ description: about.session_hours }),
  enforced: Flag.meta({ description: about.enforced }),
  break_glass: z.string().nullable().meta({ description: about.break_glass }),
  addresses_are_managed: Flag.meta({ description: about.addresses_are_managed }),
  deactivation_revokes_keys: Flag.meta({ description: about.deactivation_revokes_keys }),
  status: IdentityProvider.shape.status.meta({ description: about.status }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type IdentityProviderResource = z.infer<typeof IdentityProviderResource>;

export const NewIdentityProvider = z.strictObject({
  name: Name,
  issuer: Issuer.meta({ description: about.issuer }),
  client_id: ClientId,
  client_secret: ClientSecret.optional().meta({
    description: 'Stored in Secrets Manager and never returned. Leave it out for a public client.',
  }),
  scopes: Scopes.default(['openid', 'email', 'profile']),
  domains: Domains.default([]).meta({ description: about.domains }),
  role_claim: RoleClaim.default(null).meta({ description: about.role_claim }),
  role_mapping: RoleMapping.default([]).meta({ description: about.role_mapping }),
  default_role: OrganizationRole.nullable().default(null).meta({ description: about.default_role }),
  required_acr: RequiredAcr.default([]).meta({ description: about.required_acr }),
  session_hours: SessionHours.default(12).meta({ description: about.session_hours }),
  addresses_are_managed: Flag.default(false).meta({ description: about.addresses_are_managed }),
  deactivation_revokes_keys: Flag.default(false).meta({ description: about.deactivation_revokes_keys }),
  organization: OrganizationId.optional().meta({
    description: 'The organization of the users. Admins name it here or in the query; otherwise your own organization.',
  }),
});
export type NewIdentityProvider = z.output<typeof NewIdentityProvider>;

/** Absent fields keep their values. */
export const IdentityProviderUpdate = changeBody({
  name: Name.optional(),
  client_id: ClientId.optional(),
  client_secret: ClientSecret.nullable().optional().meta({ description: 'null makes it a public client.' }),
  scopes: Scopes.optional(),
  domains: Domains.optional().meta({ description: `${about.domains} Those that stay keep their state.` }),
  role_claim: RoleClaim.optional(),
  role_mapping: RoleMapping.optional(),
  default_role: OrganizationRole.nullable().optional(),
  required_acr: RequiredAcr.optional(),
  session_hours: SessionHours.optional(),
  enforced: Flag.optional().meta({ description: about.enforced }),
  break_glass: z.string().min(1).max(64).nullable().optional().meta({ description: about.break_glass }),
  addresses_are_managed: Flag.optional(),
  deactivation_revokes_keys: Flag.optional(),
  status: IdentityProvider.shape.status.optional().meta({ description: about.status }),
});
export type IdentityProviderUpdate = z.output<typeof IdentityProviderUpdate>;

export const DeletedIdentityProvider = z.object({ id: z.string(), object: z.literal('identity_provider'), deleted: z.literal(true) });

/** The TXT record that proves that a domain belongs to the organization. */
export const recordOf = ({ domain, token }: Pick<ProviderDomain, 'domain' | 'token'>) => ({
  type: 'TXT' as const,
  name: `_sluice.${domain}`,
  value: `sluice-domain-verification=${token}`,
});

/** @param controlUrl of the control plane, without a slash at the end */
export const toIdentityProviderResource = (provider: IdentityProvider, controlUrl: string): IdentityProviderResource => {
  const { client_secret_version: secret, domains, ...rest } = provider;
  return {
    ...rest,
    object: 'identity_provider',
    has_client_secret: secret !== null,
    redirect_uri: controlUrl + SSO_PATHS.callback,
    domains: domains.map((entry) => ({
      domain: entry.domain,
      status: entry.verified_at === null ? 'pending' : 'verified',
      record: recordOf(entry),
      verified_at: entry.verified_at,
    })),
  };
};
