import * as z from 'zod';
import { shardId } from '../../../shared/admission/shards.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import type { Origin } from '../access/origin.ts';
import { type AuditDependencies, commit } from '../audit/commit.ts';
import type { LimiterDesk } from '../limiters/limiter-desk.ts';
import { LimitFields, limiterLimitsOf, type Organization, OrganizationName } from './organization-account.ts';
import { planLimiter, planStatus, tellKeys, toSetLimiter } from './organization-limiter.ts';
import type { OrganizationStore } from './organization-store.ts';

export const OrganizationUpdate = z.strictObject({ name: OrganizationName });
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

export interface OrganizationDependencies extends AuditDependencies {
  organizations: OrganizationStore;
  limiters: LimiterDesk;
  /** Every API key of an organization, revoked ones included. */
  apiKeys: { listAll: (organization: string) => AsyncIterable<{ id: string; shards: number; status: 'active' | 'revoked' }> };
}

/** The limiters of all keys of an organization that are not revoked, with their shards. */
const limitersOf = async ({ apiKeys }: OrganizationDependencies, organization: string): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id, shards, status } of apiKeys.listAll(organization))
    if (status === 'active') for (let shard = 0; shard < shards; shard++) ids.push(shardId(id, shard));
  return ids;
};

interface Change {
  action: string;
  reason?: string;
  fields: Partial<Organization>;
  /** How its limiter is to follow, if at all. */
  plan?: typeof planLimiter;
}

const change = async (
  deps: OrganizationDependencies,
  origin: Origin,
  before: Organization,
  { action, reason, fields, plan }: Change,
): Promise<Organization> => {
  const { organizations, limiters } = deps;
  const { id } = before;
  const after: Organization = { ...before, ...fields, updated_at: Math.floor(origin.nowMs / 1_000) };
  const limits = limiterLimitsOf(after.limits ?? LimitFields.parse({}));
  const state = { status: after.status, limits };
  const writes = [organizations.toReplace(after), ...(plan ? [await toSetLimiter(limiters, id, state, plan)] : [])];
  await commit(
    deps,
    origin,
    { action, organization: id, target: { type: 'organization', id }, reason: reason ?? null, before, after },
    writes,
  );
  if (plan) await tellKeys(limiters, id, await limitersOf(deps, id));
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
  return change(deps, origin, before, { action: 'organization.updated', fields });
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
  return change(deps, origin, before, { action: 'organization.limited', fields: { limits }, plan: planLimiter });
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
  if (!isSuspended && before.status === 'active') return before;
  const action = isSuspended ? 'organization.suspended' : 'organization.resumed';
  const status = isSuspended ? 'suspended' : 'active';
  // To be suspended it needs a limiter, whose bound of requests at the same time stays.
  const limits = before.limits ?? LimitFields.parse({});
  return change(deps, origin, before, { action, reason, fields: { status, limits }, plan: planStatus });
};
