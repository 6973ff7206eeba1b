import * as z from 'zod';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { MAX_FRESH_LOGIN_MINUTES } from '../access/login-requirements.ts';
import type { AppliedLimits } from '../limits/limits.ts';
import { type Organization, OrganizationName } from './organization.ts';
import type { OrganizationStore } from './organization-store.ts';

export const NewOrganization = z.strictObject({ name: OrganizationName });
export type NewOrganization = z.output<typeof NewOrganization>;

/**
 * Creates an organization without users and keys. The last parameter sets an id, and limits that already exist instead
 * of the default ones.
 */
export const createOrganization = async (
  deps: AuditDependencies & { organizations: OrganizationStore },
  origin: Origin,
  { name }: NewOrganization,
  { id = newTimedId('organization', origin.nowMs), limits }: { id?: string; limits?: AppliedLimits | undefined } = {},
): Promise<Organization> => {
  const seconds = unixSeconds(origin.nowMs);
  const organization: Organization = {
    id,
    object: 'organization',
    name,
    status: 'active',
    limits: limits ?? deps.organizations.defaultLimits(),
    has_default_concurrency: limits === undefined,
    no_content: false,
    no_content_version: 0,
    no_content_pending: false,
    require_second_factor: false,
    fresh_login_minutes: MAX_FRESH_LOGIN_MINUTES,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
  };
  const change = { action: 'organization.created', organization: id, target: { type: 'organization', id }, after: { name } };
  await commit(deps, origin, change, deps.organizations.toCreate(organization));
  return organization;
};
