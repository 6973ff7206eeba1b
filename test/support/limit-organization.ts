import type { KeyItem } from '../../shared/keys/key.ts';
import type { LimiterItem } from '../../shared/limiters/limiter.ts';
import type { LimiterStore } from '../../shared/limiters/limiter-store.ts';
import { OrganizationLimits } from '../../shared/organizations/organization.ts';
import { planLimiter } from '../../shared/organizations/organization-limiter.ts';

/** Limits an organization that only its keys know of. */
export const limitOrganization = async (
  store: LimiterStore,
  organization: string,
  limits: Parameters<typeof OrganizationLimits.parse>[0],
): Promise<void> => {
  const state = { status: 'active', limits: OrganizationLimits.parse(limits) } as const;
  const plan = planLimiter(await store.get(organization), organization, state);
  if ('create' in plan) await store.create(plan.create);
  else await store.configure<LimiterItem>(organization, plan.changes, plan.removed);
  for await (const id of store.listByOrganization(organization))
    if (id !== organization) await store.configure<KeyItem>(id, { lim_o: true });
};
