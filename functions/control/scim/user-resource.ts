import type { ScimConnection } from './connection.ts';
import type { ScimUser } from './find-user.ts';
import { SCIM_SCHEMAS } from './protocol/names.ts';
import type { ScimUserFields } from './protocol/user-fields.ts';
import type { ScimGroupRow, ScimUserRow } from './scim-store.ts';

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** The resource of a user as identity providers see it. @param groups the groups of the connection */
export const toScimUser = ({ user, row }: ScimUser, groups: readonly ScimGroupRow[], { baseUrl }: ScimConnection) => ({
  schemas: [SCIM_SCHEMAS.user],
  id: user.id,
  ...(row.external_id !== null && { externalId: row.external_id }),
  userName: user.email,
  displayName: user.name,
  name: { formatted: user.name, givenName: row.names.given, familyName: row.names.family },
  emails: [{ value: user.email, type: 'work', primary: true }],
  active: user.status === 'active',
  groups: groups.filter(({ id }) => row.groups.includes(id)).map(({ id, display_name }) => ({ value: id, display: display_name })),
  meta: {
    resourceType: 'User',
    created: timeOf(user.created_at),
    lastModified: timeOf(user.updated_at),
    location: `${baseUrl}/Users/${user.id}`,
  },
});

const NAMES = { display: 'displayName', formatted: 'formatted', given: 'givenName', family: 'familyName' } as const;

/** The parts of a name after a request, which changes only those that it has. */
export const namesAfter = (before: ScimUserRow['names'], fields: ScimUserFields): ScimUserRow['names'] => {
  const part = (name: keyof typeof NAMES): string | null => {
    const value = fields[NAMES[name]];
    return value === undefined ? before[name] : value;
  };
  return { display: part('display'), formatted: part('formatted'), given: part('given'), family: part('family') };
};

// The user's name is as long as it can be here, too.
const MAX_NAME = 100;

/** The name that others see; null: none. */
export const nameOfParts = ({ display, formatted, given, family }: ScimUserRow['names']): string | null => {
  const joined = [given, family].filter((part) => part !== null).join(' ');
  const name = display ?? formatted ?? (joined || null);
  return name === null ? null : [...name].slice(0, MAX_NAME).join('').trim();
};

/** The resource of a group. @param members undefined: they are left out, as a request can ask for */
export const toScimGroup = (
  { id, external_id, display_name, created_at, updated_at }: ScimGroupRow,
  members: readonly ScimUserRow[] | undefined,
  { baseUrl }: ScimConnection,
) => ({
  schemas: [SCIM_SCHEMAS.group],
  id,
  ...(external_id !== null && { externalId: external_id }),
  displayName: display_name,
  ...(members && { members: members.map((member) => ({ value: member.id, $ref: `${baseUrl}/Users/${member.id}` })) }),
  meta: { resourceType: 'Group', created: timeOf(created_at), lastModified: timeOf(updated_at), location: `${baseUrl}/Groups/${id}` },
});
