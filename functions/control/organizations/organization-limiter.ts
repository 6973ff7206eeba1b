import { type LimiterItem, limitConfiguration, newLimiterItem } from '../../../shared/admission/limiter-item.ts';
import type { LimiterStore } from '../../../shared/admission/limiter-store.ts';
import type { Limits } from '../../../shared/admission/limits.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import type { LimiterConfigurationStore } from '../limits/limiter-configuration-store.ts';

/**
 * The write that replaces all limits of an organization and its status. Counters stay. A first budget counts from now, not from the start of the
 * month.
 * @param changes `status`: existing limits stay; a new limiter gets the given ones
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
 * Marks the keys of an organization that has a limiter, from their next request on. The mark is never removed. The creation of a concurrent key marks
 * that key itself. If a crash leaves keys unmarked, the sweep or a repetition of the request marks them.
 * @param keys the limiters of all active keys
 * @throws 503 if one could not be marked
 */
export const markKeys = async (limiters: LimiterStore, organization: string, keys: readonly string[]): Promise<void> => {
  const failures = await inParallel(keys, MAX_PARALLEL, limiters.markOrganizationLimited);
  const outage = failures.find((failure) => failure instanceof ApiError);
  if (outage) throw outage;
  throwFailures(failures);
  logInfo('keys_marked', { organization, limiters: keys.length });
};
