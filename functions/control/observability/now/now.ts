import type { LimiterReader } from '../../../../shared/admission/stores/limiter-reader.ts';
import { newestMinute } from '../../../../shared/observability/newest-minute.ts';
import type { OrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import type { Actor } from '../../access/actor.ts';
import { type ScopeDependencies, scopeOf } from '../../query/scope.ts';
import { type Now, nowOf } from './now-resource.ts';

export interface NowDependencies extends ScopeDependencies {
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
  limiters: Pick<LimiterReader, 'getMany'>;
}

const REFRESH_SECONDS = 10;
// One query each.
const MAX_ORGANIZATIONS = 100;
const REFRESH_SECONDS_OF_ALL = 30;

async function* newestOrganizations({ organizations }: NowDependencies): AsyncGenerator<string> {
  // One more shows that there are others.
  const { data, next } = await organizations.list({ limit: MAX_ORGANIZATIONS });
  for (const { id } of data) yield id;
  if (next !== null) yield next;
}

/** Returns the newest minute with usage that the actor can see. @throws 404 */
export const now = async (deps: NowDependencies, actor: Actor, named: string | undefined): Promise<Now> => {
  const { organization, ownKeys } = await scopeOf(deps, actor, named);
  const stores = { organizations: { ids: () => newestOrganizations(deps) }, totals: deps.organizationTotals, limiters: deps.limiters };
  const query = { organization: organization ?? undefined, keys: ownKeys, maxOrganizations: MAX_ORGANIZATIONS };
  const minute = await newestMinute(stores, query, actor.origin.nowMs);
  return nowOf(minute, organization === null ? REFRESH_SECONDS_OF_ALL : REFRESH_SECONDS);
};
