import * as z from 'zod';
import { type Page, type PageRequest, pageQueryOf } from '../../../shared/http/page.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { containsText, textFilter } from '../lists/text-filter.ts';
import { Organization } from './organization.ts';
import type { OrganizationStore } from './organization-store.ts';

export const OrganizationsQuery = z.strictObject({
  ...pageQueryOf('organization'),
  q: textFilter('name or id'),
  status: Organization.shape.status.optional().meta({ description: 'Only organizations with this status.' }),
});
type OrganizationsQuery = z.output<typeof OrganizationsQuery>;

/**
 * Lists the organizations that match all filters, newest first. A page can be short or empty although there are more.
 * @throws 400
 */
export const listOrganizations = async (
  { organizations }: { organizations: Pick<OrganizationStore, 'list'> },
  { limit, after, ...filters }: OrganizationsQuery,
): Promise<Page<Organization>> => {
  const { q, status } = filters;
  const read = async (request: PageRequest) => {
    const { data, next } = await organizations.list(request);
    return { wanted: data.filter((each) => each.status === (status ?? each.status) && containsText(q, [each.name, each.id])), next };
  };
  const search = { read, cursorOf: ({ id }: Organization) => id, isFiltered: Object.keys(filters).length > 0 };
  const { entries, next } = await filteredPage({ limit, after }, search);
  return { object: 'list', data: entries, has_more: next !== null, next };
};
