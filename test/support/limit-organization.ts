import { planLimiter } from '../../functions/control/organizations/organization-limiter.ts';
import type { KeyItem } from '../../shared/admission/key.ts';
import type { LimiterItem } from '../../shared/admission/limiter.ts';
import type { LimiterStore } from '../../shared/admission/limiter-store.ts';
import { OrganizationLimits } from '../../shared/admission/organization.ts';

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
