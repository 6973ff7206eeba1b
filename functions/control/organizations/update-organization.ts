import * as z from 'zod';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor, ActorChecks } from '../access/actor.ts';
import { changeBody } from '../access/change-body.ts';
import { AppliedLimits, type OrganizationLimits, toLimits } from '../limits/limits.ts';
import { FreshLoginMinutes, type Organization, OrganizationName } from './organization.ts';
import { markKeys, saveWithLimiter, setContentOfKeys } from './organization-limiter.ts';
import type { OrganizationStore } from './organization-store.ts';

/** Absent fields keep their values. */
export const OrganizationUpdate = changeBody({
  name: OrganizationName.optional(),
  no_content: z.boolean().optional(),
  require_second_factor: z.boolean().optional(),
  fresh_login_minutes: FreshLoginMinutes.optional(),
});
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

export interface OrganizationDependencies extends AuditDependencies {
  organizations: OrganizationStore;
  limiters: LimiterConfigurationStore;
  /** Lists every API key of an organization, including revoked ones. */
  apiKeys: { listAll: (organization: string) => AsyncIterable<{ id: string; shards: number; status: 'active' | 'revoked' }> };
}

export interface UpdateOrganizationDependencies extends OrganizationDependencies {
  users: ActorChecks;
}

/** Lists the ids of all limiters of an organization's active keys. */
export const limitersOf = async ({ apiKeys }: Pick<OrganizationDependencies, 'apiKeys'>, organization: string): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id, shards, status } of apiKeys.listAll(organization)) if (status === 'active') ids.push(...shardIds(id, shards));
  return ids;
};

interface Change {
  action: string;
  reason?: string;
  fields: Partial<Organization>;
  /** The part of its limiter that changes, if any. */
  limiter?: 'limits' | 'status';
  /** Conditions that the change has as well. */
  checks?: readonly Write[];
}

const change = async (
  deps: OrganizationDependencies,
  origin: Origin,
  before: Organization,
  { action, reason, fields, limiter, checks = [] }: Change,
): Promise<Organization> => {
  const { organizations, limiters } = deps;
  const { id } = before;
  const after: Organization = { ...before, ...fields, updated_at: unixSeconds(origin.nowMs) };
  const settings = { status: after.status, limits: toLimits(after.limits ?? organizations.defaultLimits()) };
  const audited = { action, organization: id, target: { type: 'organization', id }, reason: reason ?? null, before, after };
  const save = (writes: readonly Write[]) => commit(deps, origin, audited, [...checks, organizations.toReplace(after, before), ...writes]);
  if (limiter) {
    await saveWithLimiter(limiters, id, settings, limiter, origin.nowMs, save);
    await markKeys(limiters, id, await limitersOf(deps, id));
  } else await save([]);
  return { ...after, version: after.version + 1 };
};

type Expected = readonly number[] | undefined;

/**
 * Renames an organization, sets what its users' logins require, or allows or forbids to store content of its keys, from
 * each key's next request on.
 * Repeating the request includes keys that a crash left out.
 * @throws 403, 404, 412; 503 if the setting has not reached all keys
 */
export const updateOrganization = async (
  deps: UpdateOrganizationDependencies,
  actor: Actor,
  id: string,
  { name, no_content, require_second_factor, fresh_login_minutes }: OrganizationUpdate,
  expected?: Expected,
): Promise<Organization> => {
  const before = checkVersion(await deps.organizations.get(id), expected);
  const fields = {
    ...(name !== undefined && { name }),
    ...(require_second_factor !== undefined && { require_second_factor }),
    ...(fresh_login_minutes !== undefined && { fresh_login_minutes }),
    ...(no_content !== undefined && { no_content, no_content_version: before.version + 1, no_content_pending: true }),
  };
  const updated = await change(deps, actor.origin, before, {
    action: 'organization.updated',
    fields,
    checks: deps.users.toCheckActor(actor),
  });
  if (no_content === undefined) return updated;
  // A key that is created from now on has the setting, because its creation checks that version.
  await setContentOfKeys(deps.limiters, id, { mayStore: !no_content, version: updated.version }, await limitersOf(deps, id));
  await deps.organizations.completeContent(updated);
  return { ...updated, no_content_pending: false };
};

/** Replaces the limits that all keys of an organization share, from each key's next request on. @throws 404, 412 */
export const limitOrganization = async (
  deps: OrganizationDependencies,
  origin: Origin,
  id: string,
  limits: OrganizationLimits,
  expected?: Expected,
): Promise<Organization> => {
  const before = checkVersion(await deps.organizations.get(id), expected);
  const { concurrency = deps.organizations.defaultConcurrency } = limits;
  const fields = { limits: AppliedLimits.parse({ ...limits, concurrency }), has_default_concurrency: limits.concurrency === undefined };
  return change(deps, origin, before, { action: 'organization.limited', fields, limiter: 'limits' });
};

const currentLimits = ({ organizations }: Pick<OrganizationDependencies, 'organizations'>, before: Organization): AppliedLimits => {
  const limits = before.limits ?? organizations.defaultLimits();
  return before.has_default_concurrency ? { ...limits, concurrency: organizations.defaultConcurrency } : limits;
};

/**
 * Creates the limiter of an organization that did not need one for its default limits until now. Does nothing if it has
 * one.
 * @throws 404
 */
export const startLimiting = async (deps: OrganizationDependencies, origin: Origin, id: string): Promise<void> => {
  const before = await deps.organizations.get(id);
  const limits = currentLimits(deps, before);
  const reason = 'Its API keys together can exceed its default concurrency.';
  try {
    await change(deps, origin, before, { action: 'organization.limited', reason, fields: { limits }, limiter: 'limits' });
  } catch (error) {
    // A concurrent request has created it.
    if (!(error instanceof PreconditionFailed && (await deps.limiters.get(id)))) throw error;
  }
};

/** The reason for suspending or resuming an organization. */
export const StatusReason = z.strictObject({ reason: z.string().trim().min(1).max(500) });

/**
 * Suspends or resumes an organization, from each key's next request on. Repeating the request includes keys that a
 * crash left out.
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
  // Suspending creates a limiter, which keeps the default limits after a resume.
  const limits = before.limits && (await deps.limiters.get(id)) ? before.limits : currentLimits(deps, before);
  return change(deps, origin, before, { action, reason, fields: { status, limits }, limiter: 'status' });
};

/**
 * Gives an organization the current default concurrency, unless an admin has set another: after an upgrade or a change
 * of the deployer's default.
 * @returns true if it has changed
 */
export const applyDefaultConcurrency = async (
  deps: OrganizationDependencies & { apiKeys: { concurrencyOf: (organization: string) => Promise<number> } },
  origin: Origin,
  before: Organization,
): Promise<boolean> => {
  if (!before.has_default_concurrency) return false;
  const limits = currentLimits(deps, before);
  const isLimited = (await deps.limiters.get(before.id)) !== undefined;
  const needsLimiter = !isLimited && (await deps.apiKeys.concurrencyOf(before.id)) > limits.concurrency;
  if (before.limits?.concurrency === limits.concurrency && !needsLimiter) return false;
  const fields = { limits, has_default_concurrency: true };
  const reason = "The platform's default concurrency has changed.";
  const limiter = isLimited || needsLimiter ? ({ limiter: 'limits' } as const) : {};
  await change(deps, origin, before, { action: 'organization.limited', reason, fields, ...limiter });
  return true;
};
