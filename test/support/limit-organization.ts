import { toSetLimiter } from '../../functions/control/organizations/organization-limiter.ts';
import type { Limits } from '../../shared/admission/limits.ts';
import type { TestLimiters } from './limiters.ts';

const NO_LIMITS: Limits = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrency: 1_000,
  budgets: {},
  isPrepaid: false,
};

/** Limits an organization that has keys but no control-plane record. */
export const limitOrganization = async (store: TestLimiters, organization: string, limits: Partial<Limits>): Promise<void> => {
  const settings = { status: 'active', limits: { ...NO_LIMITS, ...limits } } as const;
  await store.write(await toSetLimiter(store, organization, settings, 'limits'));
  for await (const id of store.listByOrganization(organization)) if (id !== organization) await store.markOrganizationLimited(id);
};
