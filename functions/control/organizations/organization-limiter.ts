import { type LimiterItem, limitConfiguration, newLimiterItem } from '../../../shared/admission/limiter-item.ts';
import type { LimiterStore } from '../../../shared/admission/limiter-store.ts';
import type { Limits } from '../../../shared/admission/limits.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { LimiterConfigurationStore } from '../limits/limiter-configuration-store.ts';

/**
 * The write that sets an organization's limits, all of them at once, and whether it may send requests. What was counted stays: a first budget counts
 * from now, not from the month's beginning.
 * @param changes `status`: the limits stay, unless there is no limiter yet, which then gets these
 */
export const toSetLimiter = async (
  limiters: LimiterConfigurationStore,
  organization: string,
  { status, limits }: { status: 'active' | 'suspended'; limits: Limits },
  changes: 'limits' | 'status',
): Promise<Write> => {
  const { set, remove } = limitConfiguration(limits);
  const configuration = { set: { ...set, status }, remove };
  if (!(await limiters.get(organization))) return limiters.toCreate(newLimiterItem(organization, organization, configuration));
  return limiters.toConfigure<LimiterItem>(organization, changes === 'limits' ? configuration : { set: { status }, remove: [] });
};

const MAX_PARALLEL = 16;

/**
 * Marks the keys of an organization that has a limiter now, which each notices at its next request; the mark is never removed. A key that is created
 * at the same time checks for itself. What a crash leaves out, the sweep marks, or the same request again.
 * @param keys the limiters of all keys that are not revoked
 * @throws 503 where one could not be marked
 */
export const markKeys = async (limiters: LimiterStore, organization: string, keys: readonly string[]): Promise<void> => {
  const failures = await inParallel(keys, MAX_PARALLEL, limiters.markOrganizationLimited);
  const outage = failures.find((failure) => failure instanceof ApiError);
  if (outage) throw outage;
  throwFailures(failures);
  logInfo('keys_told', { organization, limiters: keys.length });
};
