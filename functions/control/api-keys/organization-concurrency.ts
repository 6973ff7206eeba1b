import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { type OrganizationDependencies, startLimiting } from '../organizations/update-organization.ts';
import type { ApiKeyStore } from './api-key-store.ts';

interface ConcurrencyDependencies extends OrganizationDependencies {
  apiKeys: ApiKeyStore;
}

/**
 * Keeps an organization within its default concurrency when one of its keys gets more. A limiter costs each request two
 * more writes, so the organization gets one only when its keys together can exceed the default.
 * @param concurrency how much more the key gets
 * @returns whether it has a limiter now, and the writes of the transaction that gives the key its concurrency; they
 * fail with ChangedMeanwhile if other keys reach the default at the same time
 */
export const addConcurrency = async (
  deps: ConcurrencyDependencies,
  origin: Origin,
  organization: string,
  concurrency: number,
): Promise<{ isLimited: boolean; writes: Write[] }> => {
  const { apiKeys, limiters, organizations } = deps;
  const max = organizations.defaultConcurrency;
  if (await limiters.get(organization)) return { isLimited: true, writes: [] };
  if (concurrency <= 0) return { isLimited: false, writes: [] };
  if ((await apiKeys.concurrencyOf(organization)) + concurrency > max) {
    await startLimiting(deps, origin, organization);
    return { isLimited: true, writes: [] };
  }
  const refused = () => new ChangedMeanwhile();
  return { isLimited: false, writes: [apiKeys.toAddConcurrency(organization, concurrency, { max, refused })] };
};
