import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import type { ScimPage } from './list-users.ts';
import { InvalidScimFilter } from './protocol/errors.ts';
import { parseScimFilter, type ScimCondition } from './protocol/filter.ts';
import type { ScimGroupRow, ScimUserRow } from './scim-store.ts';

const SUPPORTED = 'displayName eq "Engineers", or externalId or id in its place, and members eq "…" beside it';

interface Candidate {
  group: ScimGroupRow;
  members: ReadonlySet<string>;
}

const hasMember = ({ members }: Candidate, value: ScimCondition['value']): boolean => members.has(String(value));

const MATCHES: Readonly<Record<string, (candidate: Candidate, value: ScimCondition['value']) => boolean>> = {
  id: ({ group }, value) => group.id === value,
  externalid: ({ group }, value) => group.external_id === value,
  displayname: ({ group }, value) => group.display_name.toLowerCase() === String(value).toLowerCase(),
  members: hasMember,
  'members.value': hasMember,
};

/** The members of each group, by its id. */
export const membersByGroup = (rows: readonly ScimUserRow[]): Map<string, ScimUserRow[]> => {
  const members = new Map<string, ScimUserRow[]>();
  for (const row of rows) for (const id of row.groups) members.set(id, [...(members.get(id) ?? []), row]);
  return members;
};

/** Lists groups by id, with their members unless the request leaves those out. @throws 400 */
export const listScimGroups = async (
  { scim }: ScimDependencies,
  { provider }: ScimConnection,
  filter: string | undefined,
  { startIndex, count, hasMembers }: ScimPage & { hasMembers: boolean },
): Promise<{ groups: { group: ScimGroupRow; members: ScimUserRow[] | undefined }[]; total: number }> => {
  const conditions = filter === undefined ? [] : parseScimFilter(filter, SUPPORTED);
  if (conditions.some(({ attribute }) => !Object.hasOwn(MATCHES, attribute))) throw new InvalidScimFilter(SUPPORTED);
  const needsMembers = hasMembers || conditions.some(({ attribute }) => attribute.startsWith('members'));
  const members = needsMembers ? membersByGroup(await scim.listUsers(provider.id)) : new Map<string, ScimUserRow[]>();
  const matching = (await scim.listGroups(provider.id)).filter((group) => {
    const candidate = { group, members: new Set((members.get(group.id) ?? []).map(({ id }) => id)) };
    return conditions.every(({ attribute, value }) => MATCHES[attribute]?.(candidate, value));
  });
  const page = matching.slice(startIndex - 1, startIndex - 1 + count);
  return {
    groups: page.map((group) => ({ group, members: hasMembers ? (members.get(group.id) ?? []) : undefined })),
    total: matching.length,
  };
};
