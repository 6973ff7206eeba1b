import * as z from 'zod';
import { PERMISSIONS, type Permission, permissionsOfServiceAccount } from '../../../shared/hosts/permissions.ts';
import { UserName } from '../../../shared/identity/user.ts';
import type { StoredSecret, StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { DAY_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { UserRole } from '../access/actor.ts';
import { changeBody } from '../access/change-body.ts';
import { MAX_OPEN_KEYS } from '../api-keys/keys-of-user.ts';
import { OrganizationId } from '../organizations/organization.ts';

const Description = z.string().trim().max(500);
const Subset = z.array(z.enum(PERMISSIONS)).max(PERMISSIONS.length);
const SUBSET_TEXT = 'The only permissions of its role that it has; null: all that a service account can have.';

/** An account of a program, as callers see it. */
export const ServiceAccount = z.object({
  id: z.string(),
  object: z.literal('service_account'),
  name: z.string(),
  description: z.string().nullable(),
  organization: z.string().nullable().meta({ description: 'null for service accounts of the platform.' }),
  role: UserRole,
  permissions: z.array(z.string()).nullable().meta({ description: SUBSET_TEXT }),
  effective_permissions: z.array(z.string()).meta({
    description: 'What it can do. A service account never has `account:write`, `service_accounts:write` or `identity_providers:write`.',
  }),
  status: z.enum(['active', 'disabled']).meta({ description: 'All requests of a disabled service account are rejected.' }),
  created_at: z.int(),
  created_by: z.string().meta({ description: 'The id of the user who created it.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. Also sent as the ETag.' }),
});
export type ServiceAccount = z.infer<typeof ServiceAccount>;

export const NewServiceAccount = z.strictObject({
  name: UserName,
  description: Description.nullable().default(null),
  role: UserRole.default('member'),
  permissions: Subset.nullable().default(null).meta({ description: SUBSET_TEXT }),
  organization: OrganizationId.optional().meta({
    description: 'Its organization. Required for admins, except for the roles of the platform. Owners can leave it out.',
  }),
});
export type NewServiceAccount = z.output<typeof NewServiceAccount>;

/** Absent fields keep their values. */
export const ServiceAccountUpdate = changeBody(
  {
    name: UserName.optional(),
    description: Description.nullable().optional(),
    role: UserRole.optional(),
    permissions: Subset.nullable().optional().meta({ description: SUBSET_TEXT }),
    status: z.enum(['active', 'disabled']).optional().meta({ description: '`disabled` takes effect at its next request.' }),
    revoke_keys: z.boolean().optional().meta({
      description: 'With the status `disabled`: also revokes the API keys that it created. By default, they keep working.',
    }),
  },
  'revoke_keys',
).refine(({ status, revoke_keys }) => !revoke_keys || status === 'disabled', {
  path: ['revoke_keys'],
  message: "expected revoke_keys only together with the status 'disabled'",
});
export type ServiceAccountUpdate = z.output<typeof ServiceAccountUpdate>;

const OpenKeys = z.array(z.string()).meta({
  description: `The ids of the API keys that it created and that still work, at most ${MAX_OPEN_KEYS}. Revoke them, or repeat the request with \`revoke_keys\`.`,
});
export const ChangedServiceAccount = ServiceAccount.extend({ open_api_keys: OpenKeys.optional() });
export type ChangedServiceAccount = z.infer<typeof ChangedServiceAccount>;

export const DeletedServiceAccount = z.object({
  id: z.string(),
  object: z.literal('service_account'),
  deleted: z.literal(true),
  open_api_keys: OpenKeys,
});
export type DeletedServiceAccount = z.infer<typeof DeletedServiceAccount>;

/** The fields of a service account that callers see. */
export const toWire = (account: StoredServiceAccount): ServiceAccount => {
  const { id, name, description, organization, role, permissions, status, created_at, created_by, updated_at, version } = account;
  return {
    id,
    object: 'service_account',
    name: name ?? '',
    description,
    organization,
    role,
    permissions: permissions ? [...permissions] : null,
    effective_permissions: [...permissionsOfServiceAccount(role, permissions)],
    status,
    created_at,
    created_by,
    updated_at,
    version,
  };
};

/** The field of a stored account for a subset of permissions. */
export const subsetOf = (permissions: readonly Permission[] | null | undefined): { permissions?: readonly Permission[] } =>
  permissions ? { permissions: [...new Set(permissions)].sort() } : {};

const DEFAULT_DAYS = 90;
const MAX_DAYS = 365;
const SECONDS_OF_DAY = DAY_MS / SECOND_MS;

export const NewSecret = z.strictObject({
  expires_in_seconds: z
    .int()
    .min(60)
    .max(MAX_DAYS * SECONDS_OF_DAY)
    .default(DEFAULT_DAYS * SECONDS_OF_DAY)
    .meta({ description: `Default: ${DEFAULT_DAYS} days. At most ${MAX_DAYS} days.` }),
});
export type NewSecret = z.output<typeof NewSecret>;

/** A secret of a service account, without its text. */
export const ServiceAccountSecret = z.object({
  id: z.string(),
  object: z.literal('service_account_secret'),
  service_account: z.string(),
  hint: z.string().meta({ description: 'The start and the end of the secret.', examples: ['sas_…4f2a'] }),
  created_at: z.int(),
  created_by: z.string(),
  expires_at: z.int().meta({ description: 'Unix time in seconds.' }),
  last_used_at: z.int().nullable().meta({ description: 'When it last opened a session. Unix time in seconds; null: never.' }),
  last_ip_address: z.string().nullable().meta({ description: 'The address from which it last opened a session.' }),
});
export type ServiceAccountSecret = z.infer<typeof ServiceAccountSecret>;

export const SecretWithText = ServiceAccountSecret.extend({
  secret: z.string().meta({ description: 'The secret itself. It cannot be retrieved again, so save it now.' }),
});

export const SecretList = z.object({ object: z.literal('list'), data: z.array(ServiceAccountSecret) });

export const secretToWire = (account: string, secret: StoredSecret): ServiceAccountSecret => ({
  id: secret.id,
  object: 'service_account_secret',
  service_account: account,
  hint: secret.hint,
  created_at: secret.created_at,
  created_by: secret.created_by,
  expires_at: secret.expires_at,
  last_used_at: secret.last_use?.at ?? null,
  last_ip_address: secret.last_use?.ip_address ?? null,
});
