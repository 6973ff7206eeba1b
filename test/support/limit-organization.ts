import { toSetLimiter } from '../../functions/control/organizations/organization-limiter.ts';
import type { Limits } from '../../shared/admission/limits.ts';
import { ownerIdOf } from '../../shared/admission/shards.ts';
import type { TestLimiters } from './limiters.ts';

const NO_LIMITS: Limits = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrency: 1_000,
  budgets: {},
  isPrepaid: false,
};

/** Limits an organization that has keys but no control-plane record. */
export const limitOrganization = async (
  store: TestLimiters,
  organization: string,
  limits: Partial<Limits>,
  nowMs = Date.now(),
): Promise<void> => {
  const settings = { status: 'active', limits: { ...NO_LIMITS, ...limits } } as const;
  const { writes, isSpread } = await toSetLimiter(store, organization, settings, 'limits', nowMs);
  await store.writeAll(writes);
  if (isSpread) await store.spread(organization, nowMs);
  for await (const id of store.listByOrganization(organization))
    if (ownerIdOf(id) !== organization) await store.markOrganizationLimited(id);
};
