import type { PlatformReads } from './summary-reads.ts';
import type { OrganizationsSection } from './summary-resource.ts';

/** Counts the suspended ones among the newest organizations. */
export const organizationsSection = async ({ newest }: PlatformReads): Promise<OrganizationsSection> => {
  const { organizations, hasMore } = await newest();
  return { suspended: organizations.filter(({ status }) => status === 'suspended').length, is_partial: hasMore };
};
