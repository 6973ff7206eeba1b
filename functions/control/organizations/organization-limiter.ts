import type { LimiterItem } from '../../../shared/admission/limiter.ts';
import type { OrganizationLimits } from '../../../shared/admission/organization.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { LimiterDesk } from '../limiters/limiter-desk.ts';

const configurationOf = (limits: OrganizationLimits): Partial<LimiterItem> => ({
  lim_c: limits.concurrency,
  ...(limits.requests_per_minute !== undefined && { lim_r: limits.requests_per_minute }),
  ...(limits.tokens_per_minute !== undefined && { lim_t: limits.tokens_per_minute }),
  ...(limits.month_budget_nanos !== undefined && { bud_m: limits.month_budget_nanos }),
  ...(limits.prepaid && { prepaid: true as const }),
});

/** What was limited before and may be no longer. */
const LIMITS = ['lim_r', 'lim_t', 'lim_c', 'bud_m', 'prepaid'] as const;

/** What an organization's limiter is to say. */
export interface OrganizationState {
  status: 'active' | 'suspended';
  limits: OrganizationLimits;
}

/** An organization's limiter, as it is to be made or changed. */
export type LimiterPlan = { create: LimiterItem } | { changes: Partial<LimiterItem>; removed: readonly string[] };

/**
 * Sets an organization's limits, all of them at once, and whether it may send requests. What was counted stays: a first budget counts from now,
 * not from the month's beginning.
 */
export const planLimiter = (
  existing: LimiterItem | undefined,
  organization: string,
  { status, limits }: OrganizationState,
): LimiterPlan => {
  const configuration = { ...configurationOf(limits), status };
  if (!existing) return { create: { id: organization, org: organization, cfg: 1, fl: {}, ...configuration } };
  return { changes: configuration, removed: LIMITS.filter((name) => configuration[name] === undefined) };
};

/** The same as one write of a transaction. */
export const toSetLimiter = async (
  limiters: LimiterDesk,
  organization: string,
  state: OrganizationState,
  planOf = planLimiter,
): Promise<Write> => {
  const plan = planOf(await limiters.get(organization), organization, state);
  return 'create' in plan ? limiters.toCreate(plan.create) : limiters.toConfigure<LimiterItem>(organization, plan.changes, plan.removed);
};

/** Only whether it may send requests changes; one that has no limiter gets one with limits that nobody reaches. */
export const planStatus = (existing: LimiterItem | undefined, organization: string, state: OrganizationState): LimiterPlan =>
  existing ? { changes: { status: state.status }, removed: [] } : planLimiter(undefined, organization, state);

const MAX_PARALLEL = 16;

/**
 * Tells the keys of an organization that it has a limiter, which each notices at its next request. They never forget it. A key that is made at the
 * same time looks for itself; what a death leaves untold the sweep tells, or the same request again.
 * @param keys the limiters of all that open something
 * @throws 503 where one could not be told
 */
export const tellKeys = async (limiters: LimiterDesk, organization: string, keys: readonly string[]): Promise<void> => {
  const failures = await inParallel(keys, MAX_PARALLEL, (id) => limiters.tell(id));
  const outage = failures.find((failure) => failure instanceof ApiError);
  if (outage) throw outage;
  throwFailures(failures);
  logInfo('keys_told', { organization, limiters: keys.length });
};
