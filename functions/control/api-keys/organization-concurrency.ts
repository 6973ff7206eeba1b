import type { Origin } from '../../../shared/audit/origin.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { OrganizationLimits } from '../limits/limits.ts';
import { type OrganizationDependencies, startLimiting } from '../organizations/update-organization.ts';
import type { ApiKeyStore } from './api-key-store.ts';

const { concurrency: MAX_CONCURRENCY } = OrganizationLimits.parse({});

interface ConcurrencyDependencies extends OrganizationDependencies {
  apiKeys: ApiKeyStore;
}

/**
 * Keeps an organization within its default concurrency when one of its keys gets more. A limiter would cost each request two more writes, so the
 * organization gets it only when its keys together can exceed the default.
 * @returns whether it has a limiter now, and the writes of the transaction that gives the key its concurrency; they fail with a 503 if other keys
 * reach the default at the same time
 */
export const addConcurrency = async (
  deps: ConcurrencyDependencies,
  origin: Origin,
  organization: string,
  concurrency: number,
): Promise<{ isLimited: boolean; writes: Write[] }> => {
  const { apiKeys, limiters } = deps;
  if (await limiters.get(organization)) return { isLimited: true, writes: [] };
  if ((await apiKeys.concurrencyOf(organization)) + concurrency > MAX_CONCURRENCY) {
    await startLimiting(deps, origin, organization);
    return { isLimited: true, writes: [] };
  }
  const refused = () => new DatabaseUnavailable(new Error(`The keys of ${organization} have reached its default concurrency meanwhile.`));
  return { isLimited: false, writes: [apiKeys.toAddConcurrency(organization, concurrency, { max: MAX_CONCURRENCY, refused })] };
};
