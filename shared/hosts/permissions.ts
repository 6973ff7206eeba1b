/**
 * All permissions of the control plane. Each route names the one that it needs; a few rules ask for another one to
 * allow more, such as `keys:limit`.
 */
export const PERMISSIONS = [
  'account:read',
  'account:write',
  'organization:read',
  'organization:write',
  'organizations:list',
  'organizations:manage',
  'users:read',
  'users:list',
  'users:write',
  'keys:read',
  'keys:write',
  'keys:limit',
  'projects:read',
  'projects:write',
  'models:read',
  'models:write',
  'aliases:write',
  'deployments:read',
  'deployments:write',
  'deployments:publish',
  'catalogue:write',
  'prices:read',
  'prices:list',
  'prices:write',
  'usage:read',
  'requests:read',
  'payloads:read',
  'payloads:write',
  'billing:read',
  'billing:write',
  'billing:issue',
  'credit:grant',
  'rerates:read',
  'rerates:write',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
  'tickets:read',
  'tickets:write',
  'tickets:answer',
  'service_accounts:read',
  'service_accounts:write',
  'identity_providers:read',
  'identity_providers:write',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** All roles of users. The last three work for the platform, and so belong to no organization. */
export const ROLES = ['member', 'viewer', 'billing', 'owner', 'support', 'platform_billing', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The resources that a role can see and change: the user's own, those of their organization, or those of all. */
export type Reach = 'own' | 'organization' | 'platform';

const OF_EVERYONE = ['account:read', 'account:write'] as const satisfies readonly Permission[];

const OF_MEMBERS = [
  ...OF_EVERYONE,
  'organization:read',
  'users:read',
  'keys:read',
  'keys:write',
  'projects:read',
  'models:read',
  'deployments:read',
  'prices:read',
  'usage:read',
  'requests:read',
  'tickets:read',
  'tickets:write',
] as const satisfies readonly Permission[];

const OF_OWNERS = [
  ...OF_MEMBERS,
  'organization:write',
  'users:list',
  'users:write',
  'keys:limit',
  'projects:write',
  'aliases:write',
  'deployments:write',
  'billing:read',
  'billing:write',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
  'service_accounts:read',
  'service_accounts:write',
  'identity_providers:read',
  'identity_providers:write',
] as const satisfies readonly Permission[];

// Content belongs to the organization: the platform's admins can neither read nor log it.
const OF_CONTENT = ['payloads:read', 'payloads:write'] as const satisfies readonly Permission[];

interface Rights {
  reach: Reach;
  permissions: ReadonlySet<Permission>;
}

const RIGHTS: Readonly<Record<Role, Rights>> = {
  member: { reach: 'own', permissions: new Set(OF_MEMBERS) },
  viewer: {
    reach: 'organization',
    permissions: new Set<Permission>([
      ...OF_EVERYONE,
      'organization:read',
      'users:read',
      'users:list',
      'keys:read',
      'projects:read',
      'models:read',
      'deployments:read',
      'prices:read',
      'usage:read',
      'requests:read',
      'billing:read',
      'webhooks:read',
      'audit:read',
      'tickets:read',
      'service_accounts:read',
      'identity_providers:read',
    ]),
  },
  billing: {
    reach: 'organization',
    permissions: new Set<Permission>([
      ...OF_EVERYONE,
      'organization:read',
      'users:read',
      'projects:read',
      'prices:read',
      'usage:read',
      'billing:read',
      'billing:write',
      'tickets:read',
      'tickets:write',
    ]),
  },
  owner: { reach: 'organization', permissions: new Set<Permission>([...OF_OWNERS, ...OF_CONTENT]) },
  support: { reach: 'platform', permissions: new Set<Permission>([...OF_EVERYONE, 'tickets:read', 'tickets:write', 'tickets:answer']) },
  platform_billing: {
    reach: 'platform',
    permissions: new Set<Permission>([
      ...OF_EVERYONE,
      'organization:read',
      'organizations:list',
      'prices:read',
      'prices:list',
      'usage:read',
      'billing:read',
      'billing:write',
      'billing:issue',
      'credit:grant',
      'rerates:read',
      'rerates:write',
    ]),
  },
  admin: {
    reach: 'platform',
    permissions: new Set<Permission>([
      ...OF_OWNERS,
      'organizations:list',
      'organizations:manage',
      'models:write',
      'deployments:publish',
      'catalogue:write',
      'prices:list',
      'prices:write',
      'billing:issue',
      'credit:grant',
      'rerates:read',
      'rerates:write',
      'tickets:answer',
    ]),
  },
};

// Rows can have a role of a later release, which was rolled back.
const NO_RIGHTS: Rights = { reach: 'own', permissions: new Set() };

const rightsOf = (role: Role): Rights => (ROLES.includes(role) ? RIGHTS[role] : NO_RIGHTS);

/** The permissions of a role; none for a role that this release doesn't know. */
export const permissionsOf = (role: Role): ReadonlySet<Permission> => rightsOf(role).permissions;

/** The resources that a role can see and change. */
export const reachOf = (role: Role): Reach => rightsOf(role).reach;

/** Users with these roles work for the platform, and so belong to no organization. */
export const isPlatformRole = (role: Role): boolean => reachOf(role) === 'platform';

// A program must neither give rights to programs or companies, nor have a password or a second factor.
const ONLY_OF_PEOPLE: ReadonlySet<Permission> = new Set(['account:write', 'service_accounts:write', 'identity_providers:write']);

/**
 * The permissions of a service account: those of its role, without a few that only people have.
 * @param subset the only ones that it was given; by default all
 */
export const permissionsOfServiceAccount = (role: Role, subset?: Iterable<Permission>): ReadonlySet<Permission> => {
  const given = subset && new Set(subset);
  return new Set([...permissionsOf(role)].filter((permission) => !ONLY_OF_PEOPLE.has(permission) && (given?.has(permission) ?? true)));
};
