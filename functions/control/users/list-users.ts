import * as z from 'zod';
import { type Page, type PageRequest, pageQueryOf } from '../../../shared/http/page.ts';
import { User } from '../../../shared/identity/user.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { containsText, textFilter } from '../lists/text-filter.ts';
import { OrganizationId } from '../organizations/organization.ts';

const PLATFORM_USERS = 'platform';

export const UsersQuery = z.strictObject({
  ...pageQueryOf('user'),
  organization: OrganizationId.optional().meta({
    description: 'Defaults to your own organization. Required for admins, who can send `platform` to list the users of the platform.',
  }),
  q: textFilter('name, email address or id'),
  status: User.shape.status.optional().meta({ description: 'Only users with this status.' }),
  role: User.shape.role.optional().meta({ description: 'Only users with this role.' }),
});
type UsersQuery = z.output<typeof UsersQuery>;

/**
 * Lists the users of an organization, or of the platform, that match all filters, sorted by id. A page can be short or
 * empty although there are more.
 * @throws 400, 404
 */
export const listUsers = async (
  { users }: { users: Pick<UserStore, 'list'> },
  actor: Actor,
  { organization: named, limit, after, ...filters }: UsersQuery,
): Promise<Page<User>> => {
  const organization = isOfPlatform(actor) && named === PLATFORM_USERS ? null : organizationFor(actor, named);
  const { q, status, role } = filters;
  const matches = (user: User): boolean =>
    user.status === (status ?? user.status) && user.role === (role ?? user.role) && containsText(q, [user.name ?? '', user.email, user.id]);
  const read = async (request: PageRequest) => {
    const { data, next } = await users.list(organization, request);
    return { wanted: data.filter(matches), next };
  };
  const search = { read, cursorOf: ({ id }: User) => id, isFiltered: Object.keys(filters).length > 0 };
  const { entries, next } = await filteredPage({ limit, after }, search);
  return { object: 'list', data: entries, has_more: next !== null, next };
};
