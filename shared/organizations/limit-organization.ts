import type { KeyItem } from '../keys/key.ts';
import type { LimiterItem } from '../limiters/limiter.ts';
import type { LimiterStore } from '../limiters/limiter-store.ts';
import { OrganizationLimits } from './organization.ts';

const itemOf = (organization: string, limits: OrganizationLimits): LimiterItem => ({
  id: organization,
  org: organization,
  status: 'active',
  cfg: 1,
  fl: {},
  ...configurationOf(limits),
});

const configurationOf = (limits: OrganizationLimits): Partial<LimiterItem> => ({
  lim_c: limits.concurrency,
  ...(limits.requests_per_minute !== undefined && { lim_r: limits.requests_per_minute }),
  ...(limits.tokens_per_minute !== undefined && { lim_t: limits.tokens_per_minute }),
  ...(limits.month_budget_nanos !== undefined && { bud_m: limits.month_budget_nanos }),
  ...(limits.prepaid && { prepaid: true as const }),
});

/** What was limited before and is no longer. */
const LIMITS = ['lim_r', 'lim_t', 'lim_c', 'bud_m', 'prepaid'] as const;

/**
 * Sets the limits of an organization, all of them at once, and tells its keys that there are some; each notices at its next request. What was
 * counted stays: a first budget counts from now, not from the month's beginning.
 * @returns how many limiters of keys were told
 */
export const limitOrganization = async (
  store: LimiterStore,
  organization: string,
  fields: OrganizationLimits,
): Promise<{ limiters: number }> => {
  const limits = OrganizationLimits.parse(fields);
  const existing = await store.get(organization);
  if (existing) {
    const configuration = configurationOf(limits);
    await store.configure<LimiterItem>(
      organization,
      configuration,
      LIMITS.filter((name) => configuration[name] === undefined),
    );
  } else await store.create(itemOf(organization, limits));
  let limiters = 0;
  for await (const id of store.listByOrganization(organization)) {
    if (id === organization) continue;
    await store.configure<KeyItem>(id, { lim_o: true });
    limiters++;
  }
  return { limiters };
};
