import * as z from 'zod';
import type { Origin } from '../audit/audit.ts';
import { type Books, commit } from '../audit/commit.ts';
import { checkVersion } from '../http/precondition.ts';
import type { LimiterDesk } from '../limiters/limiter-desk.ts';
import { LimitFields, limiterLimitsOf, type Organization, OrganizationName } from './organization-account.ts';
import { tellKeys, toSetLimiter } from './organization-limiter.ts';
import type { OrganizationStore } from './organization-store.ts';

export const OrganizationUpdate = z.strictObject({ name: OrganizationName });
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

export interface OrganizationDependencies extends Books {
  organizations: OrganizationStore;
  limiters: LimiterDesk;
}

interface Change {
  action: string;
  reason?: string;
  fields: Partial<Organization>;
  /** Whether its limiter must follow. */
  isOfLimiter: boolean;
}

const change = async (
  deps: OrganizationDependencies,
  origin: Origin,
  before: Organization,
  { action, reason, fields, isOfLimiter }: Change,
): Promise<Organization> => {
  const { organizations, limiters } = deps;
  const { id } = before;
  const after: Organization = { ...before, ...fields, updated_at: Math.floor(origin.nowMs / 1_000) };
  const limits = limiterLimitsOf(after.limits ?? LimitFields.parse({}));
  const writes = [
    organizations.toReplace(after),
    ...(isOfLimiter ? [await toSetLimiter(limiters, id, { status: after.status, limits })] : []),
  ];
  await commit(
    deps,
    origin,
    { action, organization: id, target: { type: 'organization', id }, reason: reason ?? null, before, after },
    writes,
  );
  if (isOfLimiter) await tellKeys(limiters, id);
  return { ...after, version: after.version + 1 };
};

type Expected = readonly number[] | undefined;

/** Renames an organization. @throws 404, 412 */
export const updateOrganization = async (
  deps: OrganizationDependencies,
  origin: Origin,
  id: string,
  fields: OrganizationUpdate,
  expected?: Expected,
): Promise<Organization> => {
  const before = checkVersion(await deps.organizations.get(id), expected);
  return change(deps, origin, before, { action: 'organization.updated', fields, isOfLimiter: false });
};

/** Sets the limits that all its keys share, in place of any that it had; each key notices at its next request. @throws 404, 412 */
export const limitOrganization = async (
  deps: OrganizationDependencies,
  origin: Origin,
  id: string,
  limits: LimitFields,
  expected?: Expected,
): Promise<Organization> => {
  const before = checkVersion(await deps.organizations.get(id), expected);
  return change(deps, origin, before, { action: 'organization.limited', fields: { limits }, isOfLimiter: true });
};

/** Why an organization may send no more requests, or may again. */
export const Reason = z.strictObject({ reason: z.string().trim().min(1).max(500) });

/**
 * Suspends an organization, or lets it go on: each of its keys notices at its next request. Where a death came in between, doing it again tells
 * the keys that were not told.
 * @throws 404, 412
 */
export const setSuspended = async (
  deps: OrganizationDependencies,
  origin: Origin,
  id: string,
  { isSuspended, reason }: { isSuspended: boolean; reason: string },
  expected?: Expected,
): Promise<Organization> => {
  const before = checkVersion(await deps.organizations.get(id), expected);
  const action = isSuspended ? 'organization.suspended' : 'organization.resumed';
  return change(deps, origin, before, { action, reason, fields: { status: isSuspended ? 'suspended' : 'active' }, isOfLimiter: true });
};
