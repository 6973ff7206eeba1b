import path from 'node:path';
import { controlOperations } from '../../../infra/tools/reference/control-operations.ts';
import { PERMISSIONS, type Permission, permissionsOf, type Reach, ROLES, type Role, reachOf } from '../../../shared/hosts/permissions.ts';

export const DOCUMENT = path.join(import.meta.dirname, '../../../docs/roles.md');

const INTRODUCTION = `# Roles (generated)

Each operation of the control plane requires one permission, and a role is a set of permissions
([decision 0092](decisions/0092-roles-are-sets-of-permissions.md)). \`GET /v1/me\` lists a user's permissions. A program that offers
actions must check these permissions, not the name of the role, because a later release can add roles and permissions. A test compares this page with \`shared/hosts/permissions.ts\` and with all operations, and
\`test/security/control-matrix.test.ts\` calls every operation with a role that has its permission and with one that lacks it, and with every role in \`npm run test:full\`.
To write the page again, run \`WRITE_ROLES=1 npx jest test/security/roles\`.
`;

const SUMMARIES: Readonly<Record<Role, string>> = {
  member: 'Creates API keys within the limits that owners set, and calls models.',
  viewer: 'Sees the organization, including usage, credit and invoices, and changes nothing. Cannot read logged content.',
  billing: 'Sees usage, credit and invoices, and keeps the billing profile. Has no API keys.',
  owner: 'Manages the organization: users, keys, limits, deployments, webhooks and billing. The only role that can read logged content.',
  support: 'Answers tickets of all organizations.',
  platform_billing: 'Issues invoices, grants credit and corrects prices. Cannot change users, keys, models or prices.',
  admin: 'Manages the platform and every organization, except for logged content.',
};

const REACHES: Readonly<Record<Reach, string>> = {
  own: 'their own API keys, usage, requests and tickets; what the organization shares',
  organization: 'everything in the organization that the permissions allow',
  platform: 'every organization',
};

const RULES = `## Rules beyond permissions

- Resources of other organizations return 404, whatever your role.
- Nobody can change their own role, status or number of API keys, or delete themselves.
- \`member\`, \`viewer\`, \`billing\` and \`owner\` belong to an organization; the other roles belong to none. A user changes between these two groups only by a new invitation
  with a different email address.
- Owners invite into their own organization, and never with a role of the platform.
- \`admin\` and \`platform_billing\` need a second factor ([decision 0077](decisions/0077-admins-need-a-second-factor.md)).
- A ticket shows a request, a deployment or an invoice only to those whose role can see it.
- Only users with \`billing:issue\` see drafts of invoices.
- Only users with \`webhooks:write\` see the path and the query of a webhook's URL, which [can be a secret](webhooks.md).
- A user whose role this release doesn't know, after a rollback, has no permissions. Lists still show them.
- API keys outlive a change of their creator's role. Revoke those that a new \`viewer\` or \`billing\` user must not keep.
`;

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const restricted = controlOperations.filter(({ access }) => access !== 'public');

const operationsOf = (role: Role): number =>
  restricted.filter(({ access }) => (permissionsOf(role) as ReadonlySet<string>).has(access)).length;

const roleRows = ROLES.map((role) => [
  `\`${role}\``,
  SUMMARIES[role],
  REACHES[reachOf(role)],
  String(permissionsOf(role).size),
  String(operationsOf(role)),
]);

const permissionRows = PERMISSIONS.map((permission) => [
  `\`${permission}\``,
  ...ROLES.map((role) => (permissionsOf(role).has(permission) ? 'yes' : '')),
]);

const operationsRequiring = (permission: Permission): string =>
  restricted
    .filter(({ access }) => access === permission)
    .map(({ method, path: route }) => `\`${method} ${route}\``)
    .join('<br>');

// They allow more in operations that require another permission.
const IN_RULES: Partial<Record<Permission, string>> = {
  'keys:limit': "limits, budgets, projects and other restrictions of API keys; no limit on the number of one's own keys",
};

const operationRows = PERMISSIONS.map((permission) => [
  `\`${permission}\``,
  operationsRequiring(permission) || IN_RULES[permission] || 'none yet',
]);

/** The page with all roles, permissions and the operations that require them. */
export const toDocument = (): string =>
  [
    INTRODUCTION,
    `## Roles\n\n${table(['Role', 'For', 'Sees', 'Permissions', `Operations of ${restricted.length}`], roleRows)}\n`,
    RULES,
    `## Permissions of each role\n\n${table(['Permission', ...ROLES.map((role) => `\`${role}\``)], permissionRows)}\n`,
    `## Operations of each permission\n\n${table(['Permission', 'Operations'], operationRows)}\n`,
  ].join('\n');
